//! Arguments for a schema: right ones, at the edges of what it says, and nearly right ones.

mod mutation;
mod numbers;
mod texts;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Union;
use serde_json::{Map, Value, json};

use super::schema::{self, target};

pub(super) use self::mutation::sent;

/// Stands in a schema from which a keyword was taken: values should go beyond what it said.
pub(super) const WITHOUT: &str = "x-without";

/// How often a schema may refer to others before it should come to an end.
const MOST_REFERENCES: u32 = 2;

/// Names of what the schema does not name.
const NAMES: [&str; 6] = ["a", "b/c~d e", "", "ß🥳", "kind", "extra"];

/// Arguments that are valid, but for combinations of keywords that are rare.
pub(super) fn arguments(root: &Value) -> BoxedStrategy<Value> {
    Values { root }.of(root, 0)
}

/// Any JSON, among it what is often confused.
fn anything() -> BoxedStrategy<Value> {
    let known = json!([
        null, true, false, 0, 1, -1, 255, 256, -129, 0.5, 5.0, 1e300, i64::MIN, u64::MAX,
        9_007_199_254_740_993_u64, 1e30, -0.0, "", "a", "ß", "🥳", "5", "true", "null", "{}", "[1]",
        "celsius", [], [0], [null], ["a", "a"], [1, "a"], [0.5, 0, 1], ["circle", 0.5],
        {}, {"a": 1}, {"kind": "a"}, {"One": 1}, {"celsius": null}, {"Newest": null},
        {"a": {"b": [0.5]}}, [[[]]],
    ]);
    select(list(&known)).boxed()
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

/// Makes values for the parts of one schema.
#[derive(Clone, Copy)]
struct Values<'s> {
    root: &'s Value,
}

impl Values<'_> {
    fn of(self, schema: &Value, depth: u32) -> BoxedStrategy<Value> {
        let within = self.within(schema, depth);
        match schema.get(WITHOUT) {
            Some(without) => {
                prop_oneof![1 => within, 3 => self.beyond(schema, without, depth)].boxed()
            }
            None => within,
        }
    }

    fn within(self, schema: &Value, depth: u32) -> BoxedStrategy<Value> {
        if let Some(target) = target(self.root, schema) {
            return self.of(target, depth + 1);
        }
        if let Some(constant) = schema.get("const") {
            return Just(constant.clone()).boxed();
        }
        if let Some(words) = schema.get("enum") {
            return select(list(words)).boxed();
        }
        let own = !schema::types(schema).is_empty();
        let union = ["anyOf", "oneOf"]
            .iter()
            .find_map(|keyword| schema.get(keyword));
        let branches = union.map(|union| self.branches(&list(union), depth));
        match branches {
            Some(branches) if own => (self.typed(schema, depth), branches)
                .prop_map(|(one, other)| merged(one, other))
                .boxed(),
            Some(branches) => branches,
            None if own => self.typed(schema, depth),
            None => anything(),
        }
    }

    /// One of several schemas; one that comes to an end where it should.
    fn branches(self, schemas: &[Value], depth: u32) -> BoxedStrategy<Value> {
        let ends = |schema: &&Value| depth < MOST_REFERENCES || !refers(schema);
        let ending: Vec<_> = schemas
            .iter()
            .filter(ends)
            .map(|schema| self.of(schema, depth))
            .collect();
        if ending.is_empty() {
            Just(Value::Null).boxed()
        } else {
            Union::new(ending).boxed()
        }
    }

    fn typed(self, schema: &Value, depth: u32) -> BoxedStrategy<Value> {
        let types = schema::types(schema);
        if depth >= MOST_REFERENCES && refers(schema) && types.contains(&"null") {
            return Just(Value::Null).boxed();
        }
        let kinds = types.iter().map(|kind| match *kind {
            "integer" => (4, numbers::integers(schema)),
            "number" => (4, numbers::floats(schema)),
            "string" => (4, texts::texts(schema)),
            "boolean" => (4, any::<bool>().prop_map(Value::from).boxed()),
            "array" => (4, self.array(schema, depth)),
            "object" => (4, self.object(schema, depth)),
            _ => (1, Just(Value::Null).boxed()),
        });
        Union::new_weighted(kinds.collect()).boxed()
    }

    fn array(self, schema: &Value, depth: u32) -> BoxedStrategy<Value> {
        if let Some(places) = schema.get("prefixItems") {
            let places: Vec<_> = list(places)
                .iter()
                .map(|place| self.of(place, depth))
                .collect();
            return places.prop_map(Value::from).boxed();
        }
        let (least, most) = lengths(schema, "Items");
        let items = schema.get("items").unwrap_or(&Value::Null);
        if depth >= MOST_REFERENCES && refers(items) {
            return Just(json!([])).boxed();
        }
        let unique = schema.get("uniqueItems").is_some();
        vec(self.of(items, depth), least..=most)
            .prop_map(move |items| {
                if unique {
                    once_each(items)
                } else {
                    items.into()
                }
            })
            .boxed()
    }

    fn object(self, schema: &Value, depth: u32) -> BoxedStrategy<Value> {
        let required = schema.get("required").map(list).unwrap_or_default();
        let properties = schema.get("properties").and_then(Value::as_object);
        let named: Vec<_> = properties
            .into_iter()
            .flatten()
            .map(|(name, of)| {
                let is_required = required.contains(&name.as_str().into());
                let value = if is_required {
                    self.of(of, depth).prop_map(Some).boxed()
                } else if depth >= MOST_REFERENCES && refers(of) {
                    Just(None).boxed()
                } else {
                    option::weighted(0.6, self.of(of, depth)).boxed()
                };
                (Just(name.clone()), value).boxed()
            })
            .collect();
        (named, self.more(schema, depth))
            .prop_map(|(named, more)| {
                let named = named
                    .into_iter()
                    .filter_map(|(name, value)| Some((name, value?)));
                more.into_iter().chain(named).collect::<Vec<_>>()
            })
            .prop_shuffle()
            .prop_map(|fields| Value::Object(fields.into_iter().collect()))
            .boxed()
    }

    /// Fields that the schema does not name, where it allows such.
    fn more(self, schema: &Value, depth: u32) -> BoxedStrategy<Vec<(String, Value)>> {
        let (least, most) = lengths(schema, "Properties");
        match schema.get("additionalProperties") {
            Some(rest) if *rest != false && !(depth >= MOST_REFERENCES && refers(rest)) => {
                let values = vec(self.of(rest, depth), NAMES.len());
                (
                    values,
                    Just(NAMES.to_vec()).prop_shuffle(),
                    least..=most.min(NAMES.len()),
                )
                    .prop_map(|(values, names, length)| {
                        let names = names.into_iter().map(str::to_owned);
                        names.zip(values).take(length).collect()
                    })
                    .boxed()
            }
            _ => Just(Vec::new()).boxed(),
        }
    }

    /// Values that a keyword refused which was taken out of the schema.
    fn beyond(self, schema: &Value, without: &Value, depth: u32) -> BoxedStrategy<Value> {
        let keyword = without["keyword"].as_str().unwrap_or_default();
        let limit = &without["value"];
        let count = usize::try_from(limit.as_u64().unwrap_or_default()).unwrap_or_default();
        let within = self.within(schema, depth);
        match keyword {
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
                numbers::beyond(schema, keyword, limit)
            }
            "minLength" => texts::of_length(0, count.saturating_sub(1)),
            "maxLength" => texts::of_length(count + 1, count + 2),
            "maxItems" if schema.get("prefixItems").is_some() => {
                within.prop_map(mutation::longer).boxed()
            }
            "maxItems" | "maxProperties" => {
                let mut wider = schema.clone();
                let other = keyword.replace("max", "min");
                wider[other] = json!(count + 1);
                self.within(&wider, depth)
            }
            "minItems" | "minProperties" => {
                let mut narrower = schema.clone();
                narrower[keyword.replace("min", "max")] = json!(count.saturating_sub(1));
                self.within(&narrower, depth)
                    .prop_map(mutation::shorter)
                    .boxed()
            }
            "uniqueItems" => within.prop_map(mutation::longer).boxed(),
            "required" => {
                let name = limit.clone();
                within
                    .prop_map(move |value| drop_name(value, &name))
                    .boxed()
            }
            "additionalProperties" | "unevaluatedProperties" => {
                let more = (select(NAMES.to_vec()), anything());
                (within, more)
                    .prop_map(|(value, (name, more))| merged(value, json!({name: more})))
                    .boxed()
            }
            "type" => anything(),
            _ => within,
        }
    }
}

/// How many items or names there should be.
fn lengths(schema: &Value, of: &str) -> (usize, usize) {
    let limit = |side: &str| {
        let limit = schema.get(format!("{side}{of}"))?.as_u64()?;
        usize::try_from(limit).ok()
    };
    let least = limit("min").unwrap_or_default();
    (least, limit("max").unwrap_or(least + 3).max(least))
}

fn refers(schema: &Value) -> bool {
    schema.to_string().contains("\"$ref\":")
}

fn once_each(items: Vec<Value>) -> Value {
    let mut once = Vec::new();
    for item in items {
        if !once.contains(&item) {
            once.push(item);
        }
    }
    once.into()
}

fn merged(one: Value, other: Value) -> Value {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            Value::Object(one.into_iter().chain(other).collect::<Map<_, _>>())
        }
        (_, other) => other,
    }
}

fn drop_name(mut value: Value, name: &Value) -> Value {
    if let (Value::Object(fields), Value::String(name)) = (&mut value, name) {
        fields.shift_remove(name);
    }
    value
}
