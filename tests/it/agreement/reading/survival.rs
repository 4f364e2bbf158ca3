//! Whether a tool got what it was given.

use serde_json::{Number, Value};

use crate::agreement::schema::{Keywords, parts};

/// What may be another value than it was, by the tool's schema.
#[derive(Debug)]
pub(super) struct Survival {
    /// Numbers are rounded to the nearest `f32`.
    single: bool,
    /// Items of sets have no order.
    sets: bool,
    /// Names that have a default, and the default.
    defaults: Vec<(String, Value)>,
}

impl Survival {
    pub(super) fn of(schema: &Value) -> Self {
        let text = schema.to_string();
        Self {
            single: text.contains("3.402823"),
            sets: text.contains("uniqueItems"),
            defaults: parts(schema)
                .into_iter()
                .flat_map(|(_, part)| defaults(part))
                .collect(),
        }
    }

    /// Checks that nothing was lost and nothing was added but what absent fields read as.
    pub(super) fn check(&self, given: &Value, got: &Value) -> Result<(), String> {
        match (given, got) {
            (Value::Number(given), Value::Number(got)) if self.is_same(given, got) => Ok(()),
            (Value::Array(given), Value::Array(got)) if given.len() == got.len() => {
                self.items(given, got)
            }
            (Value::Object(given), Value::Object(got)) => {
                for (name, value) in given {
                    let got = got.get(name).unwrap_or(&Value::Null);
                    self.check(value, got)
                        .map_err(|lost| format!("{name}: {lost}"))?;
                }
                let added = got
                    .iter()
                    .find(|(name, got)| !given.contains_key(*name) && !self.is_default(name, got));
                added.map_or(Ok(()), |(name, value)| {
                    Err(format!("{name}: {value} from nowhere"))
                })
            }
            _ if given == got => Ok(()),
            _ => Err(format!("{given} became {got}")),
        }
    }

    /// Whether an absent field reads as this value.
    fn is_default(&self, name: &str, value: &Value) -> bool {
        let known = |(of, default): &(String, Value)| of == name && default == value;
        value.is_null() || self.defaults.iter().any(known)
    }

    fn items(&self, given: &[Value], got: &[Value]) -> Result<(), String> {
        let in_order = given
            .iter()
            .zip(got)
            .try_for_each(|(given, got)| self.check(given, got));
        let is_there = |given: &Value| got.iter().any(|got| self.check(given, got).is_ok());
        if self.sets && given.iter().all(is_there) {
            Ok(())
        } else {
            in_order
        }
    }

    /// Integers are compared by their digits.
    fn is_same(&self, given: &Number, got: &Number) -> bool {
        if !given.is_f64() && !got.is_f64() {
            return given == got;
        }
        let (Some(given), Some(got)) = (given.as_f64(), got.as_f64()) else {
            return false;
        };
        // The two zeros are one number.
        let (given, got) = (given + 0.0, got + 0.0);
        given.total_cmp(&got).is_eq() || self.single && rounded(given).total_cmp(&got).is_eq()
    }
}

fn defaults(part: &Keywords) -> Vec<(String, Value)> {
    let named = part.get("properties").and_then(Value::as_object);
    let of = |(name, property): (&String, &Value)| {
        Some((name.clone(), property.get("default")?.clone()))
    };
    named.into_iter().flatten().filter_map(of).collect()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "rounding is what it is for"
)]
fn rounded(number: f64) -> f64 {
    f64::from(number as f32)
}
