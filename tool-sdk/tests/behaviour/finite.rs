//! Numbers that JSON does not have, wherever they stand in a result.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use proptest::prelude::*;
use tool_sdk::prelude::*;

use super::called;

/// Prices of wines.
#[tool_type]
struct Prices {
    rows: Vec<Row>,
    rates: BTreeMap<String, f32>,
    change: Change,
}

#[tool_type]
struct Row {
    price: f64,
    pair: (u8, Option<f32>),
}

#[tool_type]
enum Change {
    None,
    By(f64),
    Between(f32, f32),
    Of { share: f64 },
}

/// Numbers that go through a tool and are all right but for one.
fn prices() -> Prices {
    Prices {
        rows: vec![row(1.0), row(2.0)],
        rates: BTreeMap::new(),
        change: Change::None,
    }
}

fn row(price: f64) -> Row {
    Row {
        price,
        pair: (0, None),
    }
}

#[tool]
fn returns_prices(case: &str) -> Result<Prices> {
    let mut prices = prices();
    match case {
        "field" => prices.rows[1].price = f64::NAN,
        "tuple" => prices.rows[0].pair.1 = Some(f32::NEG_INFINITY),
        "map" => drop(prices.rates.insert("a/b~c".to_owned(), f32::INFINITY)),
        "newtype variant" => prices.change = Change::By(f64::INFINITY),
        "tuple variant" => prices.change = Change::Between(0.0, f32::NAN),
        "struct variant" => prices.change = Change::Of { share: f64::NAN },
        _ => {}
    }
    Ok(prices)
}

#[test]
fn number_that_json_lacks_is_an_error_that_says_where() {
    for (case, place) in [
        ("field", "/rows/1/price is NaN"),
        ("tuple", "/rows/0/pair/1 is -inf"),
        ("map", "/rates/a~1b~0c is inf"),
        ("newtype variant", "/change/By is inf"),
        ("tuple variant", "/change/Between/1 is NaN"),
        ("struct variant", "/change/Of/share is NaN"),
    ] {
        let expected =
            format!("error: the result is no JSON: {place}, and JSON has no such number");
        assert_eq!(called("returns_prices", json!({"case": case})), expected);
    }
    let finite = r#"{"rows":[{"price":1.0,"pair":[0,null]},{"price":2.0,"pair":[0,null]}],"rates":{},"change":"None"}"#;
    assert_eq!(called("returns_prices", json!({"case": ""})), finite);
}

#[tool]
fn returns_maybe() -> Option<f32> {
    Some(f32::NAN)
}

#[tool]
fn returns_points() -> HashMap<String, Vec<[f64; 2]>> {
    HashMap::from([("a".to_owned(), vec![[0.0, 1.0], [2.0, f64::NAN]])])
}

#[test]
fn it_is_found_in_every_kind_of_result() {
    let error = "error: the result is no JSON:";
    assert_eq!(
        called("returns_maybe", json!({})),
        format!("{error} it is NaN, and JSON has no such number")
    );
    assert_eq!(
        called("returns_points", json!({})),
        format!("{error} /a/1/1 is NaN, and JSON has no such number")
    );
}

/// One of everything that serde tells apart.
#[tool_type]
#[derive(Clone, Debug)]
enum Sample {
    Unit,
    Newtype(Box<Sample>),
    Tuple(bool, Option<Box<Sample>>),
    Struct { text: String, nested: Vec<Sample> },
    Leaf(Leaf),
    Names(BTreeMap<String, Sample>),
    Signed(BTreeMap<i8, Sample>),
    Flagged(BTreeMap<bool, Sample>),
    Lettered(BTreeMap<char, Sample>),
    Sided(BTreeMap<Side, Pair>),
    Value(Value),
}

#[tool_type]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Left,
    Right,
}

#[tool_type]
#[derive(Clone, Copy, Debug)]
struct Unit;

#[tool_type]
#[derive(Clone, Copy, Debug)]
struct Pair(Unit, u8);

/// Flattened and tagged types serialise as maps of unknown length.
#[tool_type]
#[derive(Clone, Debug)]
#[serde(tag = "kind")]
enum Leaf {
    Small { small: (i8, u16), letter: char },
    Large(Large),
}

#[tool_type]
#[derive(Clone, Debug)]
struct Large {
    large: (i64, u64),
    #[serde(flatten)]
    floats: Floats,
}

#[tool_type]
#[derive(Clone, Debug)]
struct Floats {
    short: f32,
    long: f64,
}

thread_local! {
    static SAMPLE: RefCell<Sample> = const { RefCell::new(Sample::Unit) };
}

#[tool]
fn returns_sample() -> Vec<Sample> {
    vec![SAMPLE.with_borrow(Sample::clone)]
}

fn leaf() -> impl Strategy<Value = Leaf> {
    let finite = |float: f64| if float.is_finite() { float } else { 0.0 };
    let floats = (
        any::<i16>().prop_map(|eighths| f32::from(eighths) / 8.0),
        any::<f64>(),
    )
        .prop_map(move |(short, long)| Floats {
            short: if short.is_finite() { short } else { 0.0 },
            long: finite(long),
        });
    prop_oneof![
        any::<((i8, u16), char)>().prop_map(|(small, letter)| Leaf::Small { small, letter }),
        (any::<(i64, u64)>(), floats)
            .prop_map(|(large, floats)| Leaf::Large(Large { large, floats })),
    ]
}

fn sample() -> impl Strategy<Value = Sample> {
    let plain = prop_oneof![
        Just(Sample::Unit),
        leaf().prop_map(Sample::Leaf),
        any::<(bool, i64, String)>()
            .prop_map(|(a, b, c)| Sample::Value(json!([a, {"b": b, "c": c}]))),
        Just(Sample::Sided(BTreeMap::from([
            (Side::Left, Pair(Unit, 1)),
            (Side::Right, Pair(Unit, 2))
        ]))),
    ];
    plain.prop_recursive(4, 32, 4, |inner| {
        let few = prop::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            inner
                .clone()
                .prop_map(|sample| Sample::Newtype(sample.into())),
            (any::<bool>(), prop::option::of(inner.clone()))
                .prop_map(|(flag, sample)| Sample::Tuple(flag, sample.map(Box::new))),
            (any::<String>(), few).prop_map(|(text, nested)| Sample::Struct { text, nested }),
            prop::collection::btree_map(any::<String>(), inner.clone(), 0..4)
                .prop_map(Sample::Names),
            prop::collection::btree_map(any::<i8>(), inner.clone(), 0..4).prop_map(Sample::Signed),
            prop::collection::btree_map(any::<bool>(), inner.clone(), 0..2)
                .prop_map(Sample::Flagged),
            prop::collection::btree_map(any::<char>(), inner, 0..4).prop_map(Sample::Lettered),
        ]
    })
}

proptest! {
    #[test]
    fn everything_else_is_what_serde_json_makes_of_it(sample in sample()) {
        let expected = json!([&sample]).to_string();
        SAMPLE.set(sample);
        prop_assert_eq!(called("returns_sample", json!({})), expected);
    }
}
