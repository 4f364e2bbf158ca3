//! What becomes of right arguments where a model errs: here and there a value is another, one too
//! many, one too few, or written otherwise.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

use super::super::schema::step;
use super::{NAMES, anything, arguments};

/// Arguments as a model sends them, most of them nearly right.
pub(in super::super) fn sent(root: &Value) -> BoxedStrategy<String> {
    let changes = prop_oneof![
        2 => vec(change(), 0),
        3 => vec(change(), 1..=3),
    ];
    (arguments(root), changes, prop::bool::weighted(0.2))
        .prop_map(|(mut arguments, changes, fractions)| {
            for change in changes {
                change.apply(&mut arguments);
            }
            let mut text = String::new();
            spell(&arguments, fractions, &mut text);
            text
        })
        .boxed()
}

/// A change of the value at some place.
#[derive(Clone, Debug)]
struct Change {
    place: Index,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Other(Value),
    More,
    Less,
    Name(&'static str, Value),
    Without,
    Encoded,
    Wrapped,
    Tagged,
}

fn change() -> impl Strategy<Value = Change> {
    let kind = prop_oneof![
        2 => anything().prop_map(Kind::Other),
        1 => Just(Kind::Other(Value::Null)),
        4 => Just(Kind::More),
        4 => Just(Kind::Less),
        1 => (select(NAMES.to_vec()), anything()).prop_map(|(name, value)| Kind::Name(name, value)),
        1 => Just(Kind::Without),
        3 => Just(Kind::Encoded),
        1 => Just(Kind::Wrapped),
        1 => Just(Kind::Tagged),
    ];
    (any::<Index>(), kind).prop_map(|(place, kind)| Change { place, kind })
}

impl Change {
    fn apply(self, arguments: &mut Value) {
        let mut places = Vec::new();
        inside(arguments, "", &mut places);
        if places.is_empty() {
            *arguments = longer(arguments.take());
            return;
        }
        let at = places.swap_remove(self.place.index(places.len()));
        let Some(value) = arguments.pointer_mut(&at) else {
            return;
        };
        match self.kind {
            Kind::Other(other) => *value = other,
            Kind::More => *value = longer(value.take()),
            Kind::Less => *value = shorter(value.take()),
            Kind::Name(name, more) => {
                if let Value::Object(fields) = value {
                    fields.insert(name.to_owned(), more);
                } else if let Value::Object(fields) = arguments {
                    fields.insert(name.to_owned(), more);
                }
            }
            Kind::Without => remove(arguments, &at),
            Kind::Encoded => *value = encoded(value.take()),
            Kind::Wrapped => *value = json!([value.take()]),
            Kind::Tagged => *value = json!({"One": value.take()}),
        }
    }
}

/// Every place inside a value, by its pointer.
fn inside(value: &Value, at: &str, places: &mut Vec<String>) {
    let mut below = |name: &str, value: &Value| {
        let at = format!("{at}/{name}");
        inside(value, &at, places);
        places.push(at);
    };
    match value {
        Value::Object(fields) => {
            fields
                .iter()
                .for_each(|(name, value)| below(&step(name), value));
        }
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, value)| below(&index.to_string(), value));
        }
        _ => {}
    }
}

fn remove(arguments: &mut Value, at: &str) {
    let Some((parent, last)) = at.rsplit_once('/') else {
        return;
    };
    match arguments.pointer_mut(parent) {
        Some(Value::Object(fields)) => {
            fields.retain(|name, _| step(name) != last);
        }
        Some(Value::Array(items)) => {
            items.remove(last.parse().unwrap());
        }
        _ => {}
    }
}

/// A value with one more: the next number, one more letter, the last item twice.
pub(super) fn longer(value: Value) -> Value {
    match value {
        Value::Number(number) => beside(&number, 1),
        Value::String(text) => (text + "é").into(),
        Value::Array(mut items) => {
            items.push(items.last().cloned().unwrap_or_default());
            items.into()
        }
        Value::Object(mut fields) => {
            fields.insert("extra".to_owned(), json!(1));
            fields.into()
        }
        Value::Bool(flag) => json!(!flag),
        Value::Null => json!(0),
    }
}

/// A value with one less.
pub(super) fn shorter(value: Value) -> Value {
    match value {
        Value::Number(number) => beside(&number, -1),
        Value::String(mut text) => {
            text.pop();
            text.into()
        }
        Value::Array(mut items) => {
            items.pop();
            items.into()
        }
        Value::Object(mut fields) => {
            let last = fields.keys().next_back().cloned();
            fields.retain(|name, _| Some(name) != last.as_ref());
            fields.into()
        }
        Value::Bool(flag) => json!(!flag),
        Value::Null => json!(""),
    }
}

fn beside(number: &serde_json::Number, step: i8) -> Value {
    match number.as_i128() {
        Some(integer) => super::numbers::written(integer + i128::from(step), false),
        None => json!(number.as_f64().unwrap_or_default() + f64::from(step) * 0.5),
    }
}

/// The JSON text of a value; of text that is JSON, what it says.
fn encoded(value: Value) -> Value {
    match &value {
        Value::String(text) => serde_json::from_str(text).unwrap_or(value),
        _ => value.to_string().into(),
    }
}

/// JSON text; where `fractions` says so, integers are written with a fraction of nought.
fn spell(value: &Value, fractions: bool, text: &mut String) {
    match value {
        Value::Object(fields) => {
            text.push('{');
            for (index, (name, value)) in fields.iter().enumerate() {
                text.push_str(if index > 0 { "," } else { "" });
                text.push_str(&json!(name).to_string());
                text.push(':');
                spell(value, fractions, text);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (index, value) in items.iter().enumerate() {
                text.push_str(if index > 0 { "," } else { "" });
                spell(value, fractions, text);
            }
            text.push(']');
        }
        Value::Number(number) if fractions && !number.is_f64() => {
            text.extend([number.to_string().as_str(), ".0"]);
        }
        other => text.push_str(&other.to_string()),
    }
}
