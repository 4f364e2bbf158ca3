//! Sums of what answers and calls cost, whatever they count.

use serde_json::{Map, Number, Value};

/// Adds numbers to numbers, key by key at every depth; anything else is no cost.
pub(super) fn add(total: &mut Option<Value>, more: &Value) {
    let Some(more) = numbers(more) else {
        return;
    };
    match total {
        Some(total) => merge(total, more),
        None => *total = Some(more),
    }
}

/// What of a value is numbers.
fn numbers(value: &Value) -> Option<Value> {
    match value {
        Value::Number(_) => Some(value.clone()),
        Value::Object(object) => {
            let kept = object
                .iter()
                .filter_map(|(key, value)| Some((key.clone(), numbers(value)?)));
            let kept: Map<String, Value> = kept.collect();
            (!kept.is_empty()).then_some(Value::Object(kept))
        }
        _ => None,
    }
}

fn merge(total: &mut Value, more: Value) {
    match (total, more) {
        (Value::Number(total), Value::Number(more)) => *total = sum(total, &more),
        (Value::Object(total), Value::Object(more)) => {
            for (key, value) in more {
                if let Some(known) = total.get_mut(&key) {
                    merge(known, value);
                } else {
                    total.insert(key, value);
                }
            }
        }
        // A number and an object count different things; the first stays.
        _ => {}
    }
}

/// Whole numbers stay whole.
fn sum(one: &Number, other: &Number) -> Number {
    let whole = one.as_i64().zip(other.as_i64());
    if let Some(sum) = whole.and_then(|(one, other)| one.checked_add(other)) {
        return sum.into();
    }
    let parts = one.as_f64().zip(other.as_f64());
    let sum = parts.and_then(|(one, other)| Number::from_f64(one + other));
    sum.unwrap_or_else(|| one.clone())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_summed_key_by_key_and_the_rest_is_left_out() {
        let mut total = None;
        for more in [
            json!({"inputTokens": 5, "model": "m", "details": {"cached": 1}}),
            json!("free"),
            json!({"inputTokens": 2, "cost": 0.5, "details": {"cached": 2, "list": [1]}}),
            json!({"cost": 0.25}),
            json!(null),
        ] {
            add(&mut total, &more);
        }
        let expected = json!({"inputTokens": 7, "details": {"cached": 3}, "cost": 0.75});
        assert_eq!(total, Some(expected));

        let mut total = None;
        add(&mut total, &json!({}));
        add(&mut total, &json!(true));
        assert_eq!(total, None);
        add(&mut total, &json!(i64::MAX));
        add(&mut total, &json!(1));
        assert!(total.unwrap().as_f64().unwrap() > 9e18);
    }
}
