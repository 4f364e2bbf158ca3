//! Numbers at and around the edges of what a schema says and of what types hold.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Number, Value, json};

/// Where integers of some type end, or where floats stop telling them apart.
const EDGES: [i128; 14] = [
    0,
    1,
    i8::MIN as i128,
    u8::MAX as i128,
    i16::MIN as i128,
    u16::MAX as i128,
    i32::MIN as i128,
    u32::MAX as i128,
    1 << 53,
    -(1 << 53),
    i64::MIN as i128,
    i64::MAX as i128,
    u64::MAX as i128,
    5,
];

/// Integers that the schema accepts, some of them written as floats.
pub(super) fn integers(schema: &Value) -> BoxedStrategy<Value> {
    let (least, most) = integer_bounds(schema);
    let step = schema
        .get("multipleOf")
        .and_then(Value::as_i64)
        .map_or(1, i128::from);
    let edges = EDGES.iter().flat_map(|edge| [edge - 1, *edge, edge + 1]);
    let all = edges.chain([least, least + 1, most - 1, most]);
    let known: Vec<i128> = all
        .map(|number| number - number % step)
        .filter(|number| (least..=most).contains(number))
        .collect();
    let any = (least..=most).prop_map(move |number| number - number % step);
    let integer = prop_oneof![
        3 => select(known),
        1 => any,
    ];
    (integer, prop::bool::weighted(0.1))
        .prop_map(|(number, float)| written(number, float))
        .boxed()
}

/// Numbers that the schema accepts.
pub(super) fn floats(schema: &Value) -> BoxedStrategy<Value> {
    let single = f64::from(f32::MAX);
    let known = json!([
        0,
        -0.0,
        0.5,
        -0.5,
        0.1,
        1,
        -1,
        1.5,
        3,
        1e30,
        1e300,
        -1e300,
        f64::MAX,
        f64::MIN,
        f64::MIN_POSITIVE,
        5e-324,
        single,
        -single,
        1e39,
        -1e39,
        u64::MAX,
        i64::MIN,
        9_007_199_254_740_993_u64,
        0.100_000_001,
        16_777_217,
        2.0,
        -1.4,
    ]);
    let bounds = ["minimum", "maximum"]
        .iter()
        .filter_map(|keyword| schema.get(keyword));
    let known = super::list(&known).into_iter().chain(bounds.cloned());
    let accepted: Vec<Value> = known
        .filter(|number| {
            number
                .as_f64()
                .is_some_and(|number| is_within(schema, number))
        })
        .collect();
    if accepted.is_empty() {
        Just(json!(0.05)).boxed()
    } else {
        select(accepted).boxed()
    }
}

/// Numbers that a bound refused.
pub(super) fn beyond(schema: &Value, keyword: &str, limit: &Value) -> BoxedStrategy<Value> {
    let float = limit.as_f64().unwrap_or_default();
    let up = matches!(keyword, "maximum" | "exclusiveMaximum");
    let sign: i8 = if up { 1 } else { -1 };
    let near = (float.abs() * 1e-3).max(1e-3) * f64::from(sign);
    let mut numbers = vec![
        limit.clone(),
        json!(float + near),
        json!(float + near * 1e4),
    ];
    if let Some(integer) = integer(limit) {
        numbers.push(written(integer + i128::from(sign), false));
    }
    let whole = super::schema::types(schema).contains(&"integer");
    let fits = |number: &Value| !whole || number.as_f64().is_some_and(|float| float.fract() == 0.0);
    select(numbers.into_iter().filter(fits).collect::<Vec<_>>()).boxed()
}

fn is_within(schema: &Value, number: f64) -> bool {
    let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
    bound("minimum").is_none_or(|least| number >= least)
        && bound("maximum").is_none_or(|most| number <= most)
        && bound("exclusiveMinimum").is_none_or(|below| number > below)
        && bound("exclusiveMaximum").is_none_or(|above| number < above)
}

fn integer_bounds(schema: &Value) -> (i128, i128) {
    let bound = |keyword: &str| integer(schema.get(keyword)?);
    let below = [
        bound("minimum"),
        bound("exclusiveMinimum").map(|below| below + 1),
    ];
    let above = [
        bound("maximum"),
        bound("exclusiveMaximum").map(|above| above - 1),
    ];
    let least = below.into_iter().flatten().max().unwrap_or(i64::MIN.into());
    let most = above.into_iter().flatten().min().unwrap_or(u64::MAX.into());
    (least, most.max(least))
}

fn integer(number: &Value) -> Option<i128> {
    number
        .as_i64()
        .map(i128::from)
        .or_else(|| number.as_u64().map(i128::from))
}

/// An integer as JSON, or as the float that is the same number where there is one.
#[expect(
    clippy::cast_precision_loss,
    reason = "compared afterwards, or beyond 64 bits"
)]
#[expect(clippy::cast_possible_truncation, reason = "compared")]
pub(super) fn written(number: i128, as_float: bool) -> Value {
    let float = number as f64;
    let exact = i64::try_from(number)
        .map(Number::from)
        .or_else(|_| u64::try_from(number).map(Number::from));
    match exact {
        Ok(exact) if !as_float || float as i128 != number => Value::Number(exact),
        _ => json!(float),
    }
}
