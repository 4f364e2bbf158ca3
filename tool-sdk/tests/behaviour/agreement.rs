//! What a schema accepts, the tool can read: for every kind of type, values that are nearly right
//! are tried on both. Validation is the host's: formats are asserted, patterns take linear time.
//!
//! Some types are not here, since `schemars` makes the same schema of them as of others that accept
//! more, and what a model sends wrong is refused by the tool instead: names of a map that are `bool`,
//! `char`, integers of less than 64 bits, or variants with comments; `SocketAddr`; `CString`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::num::{NonZeroI8, NonZeroI64, NonZeroU8, NonZeroUsize};
use std::ops::{Bound, Range, RangeInclusive};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use jsonschema::{Draft, PatternOptions, Validator};
use tool_sdk::prelude::*;
use tool_sdk::testing::Plugin;

use super::{described, schema};

/// The validator that a host makes of a tool's input schema.
pub(super) fn validator(tool: &str) -> Validator {
    jsonschema::options()
        .offline()
        .should_validate_formats(true)
        .with_draft(Draft::Draft202012)
        .with_pattern_options(PatternOptions::regex())
        .build(&schema(tool))
        .unwrap()
}

/// Checks a list of values that a tool accepts, and whatever is nearly the same. Both lists are
/// JSON.
#[track_caller]
fn check(tool: &str, accepted: &Value, refused: &Value) {
    let validator = validator(tool);
    let is_valid = |value: &Value| validator.is_valid(&json!({"value": value}));
    // These tools take no state, so none is opened for them.
    let plugin = Plugin::open("", json!({})).unwrap();
    for value in accepted.as_array().unwrap() {
        assert!(is_valid(value), "{tool} refuses {value}: {}", schema(tool));
        for near in nearly(value) {
            if is_valid(&near) {
                let run = plugin.run(tool, json!({"value": near}));
                assert!(run.is_ok(), "{tool} can't read {near}: {run:?}");
            }
        }
    }
    for value in refused.as_array().unwrap() {
        assert!(!is_valid(value), "{tool} accepts {value}: {}", schema(tool));
    }
}

/// The value itself, and with each of its parts replaced, removed, doubled or added to.
fn nearly(value: &Value) -> Vec<Value> {
    let mut all = vec![value.clone()];
    all.extend(parts());
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                all.extend(nearly(item).into_iter().map(|near| {
                    let mut items = items.clone();
                    items[index] = near;
                    Value::Array(items)
                }));
            }
            all.push(items.iter().skip(1).cloned().collect());
            all.push(items.iter().chain(items).cloned().collect());
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                let with = |name: &str, field: Value| {
                    let mut fields = fields.clone();
                    fields.insert(name.to_owned(), field);
                    Value::Object(fields)
                };
                all.extend(nearly(field).into_iter().map(|near| with(name, near)));
                all.extend(NAMES.map(|name| with(name, field.clone())));
                let mut without = fields.clone();
                without.remove(name);
                all.push(without.into());
            }
        }
        _ => {}
    }
    all
}

const NAMES: [&str; 14] = [
    "",
    "a",
    "ab",
    "0",
    "1",
    "-1",
    "-0",
    "01",
    "1.5",
    "true",
    "secs",
    "kind",
    "B",
    "18446744073709551616",
];

fn parts() -> Vec<Value> {
    let parts = json!([
        null, true, false, 0, 1, -1, 2, 127, 128, -128, -129, 255, 256, 65_536, 999_999_999,
        1_000_000_000, u32::MAX, 4_294_967_296_u64, i64::MAX, i64::MIN, u64::MAX, 0.5, -0.5, 1.5e300,
        3.5e38, -3.5e38, "", "a", "ab", "ß", "e\u{301}", "\u{0}", "0", "1", "-1", "256", "true", "A",
        "Newest", "Unbounded", "1.2.3.4", "01.2.3.4", "1.2.3", "::1", "::ffff:1.2.3.4", "fe80::1%lo",
        [], [0], [null], ["a"], [1, 2], [1, 2, 3], {}, {"a": 1}, {"0": 0}, {"A": null}, {"B": [1, 2]},
        {"Ok": 1}, {"kind": "a"}, {"secs": 1, "nanos": 1},
    ]);
    let Value::Array(parts) = parts else {
        unreachable!("a list is written above")
    };
    parts
}

taking! {
    reads_char: char,
    reads_array: [u8; 2],
    reads_tuple: (u8, Option<String>),
    reads_pairs: Vec<(String, i16)>,
    reads_unit: Vec<Nothing>,
    reads_options: Vec<Option<u8>>,
    reads_option_map: HashMap<String, Option<char>>,
    reads_sets: (BTreeSet<u8>, HashSet<char>),
    reads_wrapped: (Box<u8>, Rc<str>, Arc<Mutex<i8>>, Cow<'static, str>),
    reads_nonzero: (NonZeroU8, NonZeroI8, NonZeroI64, NonZeroUsize),
    reads_floats: (f32, f64, Vec<f32>),
    reads_duration: Duration,
    reads_system_time: Option<SystemTime>,
    reads_addresses: (IpAddr, Ipv4Addr, Ipv6Addr, Option<IpAddr>),
    reads_path: PathBuf,
    reads_ranges: (Range<u8>, RangeInclusive<i8>, Bound<u8>),
    reads_result: Result<u8, String>,
    reads_unsigned_names: BTreeMap<u64, u8>,
    reads_signed_names: BTreeMap<i64, u8>,
    reads_enum_names: BTreeMap<Side, u8>,
    reads_external: External,
    reads_internal: Internal,
    reads_adjacent: Adjacent,
    reads_untagged: Vec<Untagged>,
    reads_struct: Struct,
    reads_flattened_struct: FlattenedStruct,
    reads_flattened_map: FlattenedMap,
    reads_flattened_enum: FlattenedEnum,
    reads_flattened_enums: FlattenedEnums,
    reads_flattened_option: FlattenedOption,
    reads_nested_tags: NestedTags,
}

#[test]
fn standard_types() {
    check("reads_char", &json!(["a", "ß"]), &json!(["", "ab", 1]));
    check("reads_array", &json!([[1, 2]]), &json!([[1], [1, 2, 3]]));
    check(
        "reads_tuple",
        &json!([[1, null], [1, "a"]]),
        &json!([[1], [1, null, null], [256, null]]),
    );
    check("reads_pairs", &json!([[["a", -1]], []]), &json!([[["a"]]]));
    check("reads_unit", &json!([[null]]), &json!([[0], [{}], [[]]]));
    check("reads_options", &json!([[1, null]]), &json!([["a"]]));
    check(
        "reads_option_map",
        &json!([{"a": null}, {}]),
        &json!([{"a": ""}]),
    );
    check("reads_sets", &json!([[[1], ["a"]]]), &json!([[[1, 1], []]]));
    check(
        "reads_wrapped",
        &json!([[1, "a", -1, "b"]]),
        &json!([[1, "a", -129, "b"]]),
    );
    check(
        "reads_nonzero",
        &json!([[1, -1, 1, 1]]),
        &json!([[0, 1, 1, 1], [1, 0, 1, 1]]),
    );
    check("reads_path", &json!(["/a", ""]), &json!([1]));
    check(
        "reads_result",
        &json!([{"Ok": 1}, {"Err": "a"}]),
        &json!([{}, {"Ok": 1, "Err": ""}]),
    );
}

#[test]
fn floats_do_not_become_infinite() {
    check(
        "reads_floats",
        &json!([[0.5, 1e300, [f32::MAX, f32::MIN, 1]]]),
        &json!([[1e39, 0, []], [-1e39, 0, []], [0, 0, [1e39]]]),
    );
}

#[test]
fn times_do_not_overflow() {
    check(
        "reads_duration",
        &json!([{"secs": u64::MAX, "nanos": 999_999_999}]),
        &json!([{"secs": 1, "nanos": 1_000_000_000}, {"secs": 1}]),
    );
    let last = json!({"secs_since_epoch": 253_402_300_799_u64, "nanos_since_epoch": 999_999_999});
    check(
        "reads_system_time",
        &json!([null, last]),
        &json!([{"secs_since_epoch": u64::MAX, "nanos_since_epoch": 0}]),
    );
}

#[test]
fn addresses_of_the_network() {
    check(
        "reads_addresses",
        &json!([
            ["::1", "1.2.3.4", "::1", null],
            ["1.2.3.4", "1.2.3.4", "::1", "::1"]
        ]),
        &json!([
            ["a", "1.2.3.4", "::1", null],
            ["1.2.3.4", "::1", "::1", null]
        ]),
    );
}

#[test]
fn ranges() {
    let range = json!({"start": 1, "end": 2});
    check(
        "reads_ranges",
        &json!([[range, range, "Unbounded"], [range, range, {"Included": 1}]]),
        &json!([[range, range, {}], [{"start": 1}, range, "Unbounded"]]),
    );
}

#[test]
fn names_that_are_integers() {
    check(
        "reads_unsigned_names",
        &json!([{}, {"0": 1, "17999999999999999999": 2}]),
        &json!([{"-1": 1}, {"01": 1}, {"a": 1}, {"18446744073709551616": 1}, {"1": 256}]),
    );
    check(
        "reads_signed_names",
        &json!([{"0": 1, "-8999999999999999999": 2, "8999999999999999999": 2}]),
        &json!([{"-0": 1}, {"01": 1}, {"9223372036854775808": 1}]),
    );
    check(
        "reads_enum_names",
        &json!([{"Left": 1}, {}]),
        &json!([{"left": 1}]),
    );
}

#[tool_type]
struct Nothing;

#[tool_type]
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Left,
    Right,
}

/// One of each kind.
#[tool_type]
enum External {
    A,
    /// With a comment.
    B(u8, char),
    C {
        side: Side,
    },
    D(Box<External>),
}

#[tool_type]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Internal {
    A,
    B { value: i8, maybe: Option<u8> },
    C(Struct),
    D(HashMap<String, Option<u8>>),
}

#[tool_type]
#[serde(tag = "kind", content = "of")]
enum Adjacent {
    A,
    B(u8),
    C(u8, u8),
    D { side: Side },
}

#[tool_type]
#[serde(untagged)]
enum Untagged {
    Number(i8),
    Nothing,
    Text(char),
    Struct(Struct),
    Fields { side: Side },
}

#[tool_type]
struct Struct {
    #[serde(alias = "number")]
    value: u8,
    #[serde(skip)]
    _skipped: Option<Arc<u8>>,
    #[serde(default, rename = "else")]
    other: Vec<char>,
    #[schemars(range(min = -5, max = 1000))]
    bounded: Option<u8>,
}

#[tool_type]
struct FlattenedStruct {
    a: u8,
    #[serde(flatten)]
    rest: Struct,
}

#[tool_type]
struct FlattenedMap {
    a: u8,
    #[serde(flatten)]
    rest: HashMap<String, i8>,
}

#[tool_type]
struct FlattenedEnum {
    a: u8,
    #[serde(flatten)]
    kind: Internal,
}

#[tool_type]
struct FlattenedEnums {
    #[serde(flatten)]
    kind: Adjacent,
    #[serde(flatten)]
    side: External,
}

#[tool_type]
struct FlattenedOption {
    a: u8,
    #[serde(flatten)]
    kind: Option<Adjacent>,
}

#[tool_type]
#[serde(tag = "outer")]
enum NestedTags {
    One(Adjacent),
    Two(FlattenedEnum),
}

#[test]
fn enums_in_every_representation() {
    check(
        "reads_external",
        &json!(["A", {"B": [1, "a"]}, {"C": {"side": "Left"}}, {"D": {"D": "A"}}]),
        &json!([{"A": null}, {"B": [1]}, {"C": {"side": "Left", "x": 1}}, {}]),
    );
    check(
        "reads_internal",
        &json!([
            {"kind": "a"}, {"kind": "b", "value": 1}, {"kind": "c", "value": 1}, {"kind": "d", "x": 1},
        ]),
        &json!([{"kind": "a", "x": 1}, {"kind": "c", "value": 1, "x": 1}, {}]),
    );
    check(
        "reads_adjacent",
        &json!([
            {"kind": "A"}, {"kind": "B", "of": 1}, {"kind": "C", "of": [1, 2]},
            {"kind": "D", "of": {"side": "Left"}},
        ]),
        &json!([{"kind": "B"}, {"kind": "B", "of": 1, "x": 1}]),
    );
    check(
        "reads_untagged",
        &json!([[1, null, "a", {"value": 1}, {"side": "Left"}]]),
        &json!([[128], ["ab"], [{}]]),
    );
}

#[test]
fn structs_and_what_is_flattened_into_them() {
    check(
        "reads_struct",
        &json!([{"value": 1}, {"value": 1, "else": ["a"], "bounded": 255}]),
        &json!([{"value": 1, "bounded": -1}, {"value": 1, "bounded": 256}, {"number": 1}]),
    );
    check(
        "reads_flattened_struct",
        &json!([{"a": 1, "value": 1}]),
        &json!([{"a": 1}]),
    );
    check(
        "reads_flattened_map",
        &json!([{"a": 200, "b": -1}]),
        &json!([{"a": 1, "b": 128}]),
    );
    check(
        "reads_flattened_enum",
        &json!([{"a": 1, "kind": "a"}, {"a": 1, "kind": "c", "value": 1}]),
        &json!([{"a": 1}, {"a": 1, "kind": "a", "x": 1}]),
    );
    check(
        "reads_flattened_enums",
        &json!([{"kind": "A", "B": [1, "a"]}, {"kind": "B", "of": 1, "C": {"side": "Left"}}]),
        &json!([{"kind": "A"}, {"kind": "A", "B": [1, "a"], "x": 1}]),
    );
    check(
        "reads_flattened_option",
        &json!([{"a": 1}, {"a": 1, "kind": "B", "of": 1}]),
        &json!([{"kind": "A"}]),
    );
    check(
        "reads_nested_tags",
        &json!([
            {"outer": "One", "kind": "B", "of": 1}, {"outer": "Two", "a": 1, "kind": "c", "value": 1},
        ]),
        &json!([{"outer": "One"}, {"outer": "Two", "a": 1, "kind": "a", "x": 1}]),
    );
}

/// The macro sees only what a type is called.
type Digits = u128;

#[tool_type]
struct Large {
    parts: Vec<Option<Digits>>,
    larger: Option<Box<Large>>,
}

#[tool]
fn reads_large(large: Large) -> Large {
    large
}

#[test]
fn numbers_of_128_bits_are_a_problem_wherever_they_are() {
    let text = "a number of 128 bits: JSON has none; use `i64`, `u64` or a `String`";
    let expected = json!([format!("argument `large`: {text}"), text]);
    assert_eq!(described("reads_large")["problems"], expected);
}
