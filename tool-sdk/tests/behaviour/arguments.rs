//! Every kind of argument: the schema that a model sees, and the value that the tool gets.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use tool_sdk::prelude::*;

use super::{called, properties, schema};

/// Takes nothing.
#[tool]
fn takes_nothing() {}

#[test]
fn r21_tool_without_arguments_has_an_empty_object() {
    let expected = json!({"type": "object", "properties": {}, "additionalProperties": false});
    assert_eq!(schema("takes_nothing"), expected);
    assert_eq!(called("takes_nothing", json!({})), "");
}

#[tool]
#[expect(
    clippy::too_many_arguments,
    clippy::many_single_char_names,
    reason = "one of each width"
)]
fn takes_integers(
    a: i8,
    b: i16,
    c: i32,
    d: i64,
    e: isize,
    f: u8,
    g: u16,
    h: u32,
    i: u64,
    j: usize,
) -> String {
    format!("{a} {b} {c} {d} {e} {f} {g} {h} {i} {j}")
}

#[test]
fn integers_have_their_bounds_and_keep_every_digit() {
    let integer = |minimum: Value, maximum: Value| json!({"type": "integer", "minimum": minimum, "maximum": maximum});
    let expected = json!({
        "a": integer(json!(-128), json!(127)),
        "b": integer(json!(-32_768), json!(32_767)),
        "c": integer(json!(i32::MIN), json!(i32::MAX)),
        "d": integer(json!(i64::MIN), json!(i64::MAX)),
        "e": integer(json!(i64::MIN), json!(i64::MAX)),
        "f": integer(json!(0), json!(255)),
        "g": integer(json!(0), json!(65_535)),
        "h": integer(json!(0), json!(u32::MAX)),
        "i": integer(json!(0), json!(u64::MAX)),
        "j": integer(json!(0), json!(u64::MAX)),
    });
    assert_eq!(properties("takes_integers"), expected);

    let largest = json!({
        "a": -128, "b": 1, "c": 2, "d": i64::MIN, "e": 3, "f": 255, "g": 4, "h": 5, "i": u64::MAX, "j": 6,
    });
    assert_eq!(
        called("takes_integers", largest),
        "-128 1 2 -9223372036854775808 3 255 4 5 18446744073709551615 6"
    );
}

#[test]
fn properties_and_required_keep_the_order_of_the_signature() {
    let order = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    let schema = schema("takes_integers");
    let properties: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(properties, order);
    assert_eq!(schema["required"], json!(order));
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let arguments = json!({"a": 128});
    assert_eq!(
        called("takes_integers", arguments),
        "error: /a: expected an integer from -128 to 127, got 128"
    );
    assert_eq!(
        called("takes_integers", json!({})),
        "error: /a: missing required argument"
    );
}

#[tool]
fn takes_scalars(
    text: String,
    lent: &str,
    flag: bool,
    letter: char,
    ratio: f64,
    short: f32,
) -> String {
    format!("{text} {lent} {flag} {letter} {ratio} {short}")
}

#[test]
fn scalars_are_what_json_has() {
    let expected = json!({
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "lent": {"type": "string"},
            "flag": {"type": "boolean"},
            "letter": {"type": "string", "minLength": 1, "maxLength": 1},
            "ratio": {"type": "number"},
            "short": {"type": "number", "minimum": f32::MIN, "maximum": f32::MAX},
        },
        "required": ["text", "lent", "flag", "letter", "ratio", "short"],
        "additionalProperties": false,
    });
    assert_eq!(schema("takes_scalars"), expected);
    let arguments = json!({
        "text": "a", "lent": "b", "flag": true, "letter": "ß", "ratio": 1, "short": 0.5,
    });
    assert_eq!(called("takes_scalars", arguments), "a b true ß 1 0.5");
}

#[tool]
fn takes_options(
    text: Option<String>,
    number: Option<u8>,
    list: Option<Vec<String>>,
    any: Option<Value>,
) -> String {
    format!("{text:?} {number:?} {list:?} {any:?}")
}

#[test]
fn options_may_be_null_or_absent() {
    let expected = json!({
        "type": "object",
        "properties": {
            "text": {"type": ["string", "null"]},
            "number": {"type": ["integer", "null"], "minimum": 0, "maximum": 255},
            "list": {"type": ["array", "null"], "items": {"type": "string"}},
            "any": {},
        },
        "additionalProperties": false,
    });
    assert_eq!(schema("takes_options"), expected);
    for absent in [
        json!({}),
        json!({"text": null, "number": null, "list": null, "any": null}),
    ] {
        assert_eq!(called("takes_options", absent), "None None None None");
    }
    let present = json!({"text": "a", "number": 1, "list": [], "any": 2});
    assert_eq!(
        called("takes_options", present),
        "Some(\"a\") Some(1) Some([]) Some(Number(2))"
    );
}

#[tool]
fn takes_collections(
    bytes: Vec<u8>,
    nested: Vec<Vec<bool>>,
    three: [i8; 3],
    set: BTreeSet<String>,
    pair: (String, f64),
    map: BTreeMap<String, u8>,
) -> String {
    format!("{bytes:?} {nested:?} {three:?} {set:?} {pair:?} {map:?}")
}

#[test]
fn collections_say_what_is_in_them() {
    let byte = json!({"type": "integer", "minimum": 0, "maximum": 255});
    let small = json!({"type": "integer", "minimum": -128, "maximum": 127});
    let expected = json!({
        "bytes": {"type": "array", "items": byte},
        "nested": {"type": "array", "items": {"type": "array", "items": {"type": "boolean"}}},
        "three": {"type": "array", "items": small, "minItems": 3, "maxItems": 3},
        "set": {"type": "array", "uniqueItems": true, "items": {"type": "string"}},
        "pair": {
            "type": "array",
            "prefixItems": [{"type": "string"}, {"type": "number"}],
            "minItems": 2,
            "maxItems": 2,
        },
        "map": {"type": "object", "additionalProperties": byte},
    });
    assert_eq!(properties("takes_collections"), expected);
    let arguments = json!({
        "bytes": [0, 255], "nested": [[true], []], "three": [1, 2, 3], "set": ["b", "a"],
        "pair": ["a", 0.5], "map": {"a": 1},
    });
    assert_eq!(
        called("takes_collections", arguments),
        r#"[0, 255] [[true], []] [1, 2, 3] {"a", "b"} ("a", 0.5) {"a": 1}"#
    );
}

#[tool]
fn takes_hashed(map: HashMap<String, Option<u8>>, set: HashSet<u8>, boxed: Box<str>) -> String {
    format!("{map:?} {set:?} {boxed}")
}

#[test]
fn other_types_of_the_standard_library_are_read_by_serde() {
    let arguments = json!({"map": {"a": null}, "set": [1, 1], "boxed": "b"});
    assert_eq!(called("takes_hashed", arguments), r#"{"a": None} {1} b"#);
    let wrong = json!({"map": {"a": 256}, "set": [], "boxed": ""});
    let error = "error: /map: invalid value: integer `256`, expected u8";
    assert_eq!(called("takes_hashed", wrong), error);
}

#[tool]
fn takes_anything(anything: Value, object: Map<String, Value>) -> String {
    format!("{anything} {}", object.len())
}

#[test]
fn value_takes_anything() {
    let expected = json!({
        "anything": {},
        "object": {"type": "object", "additionalProperties": true},
    });
    assert_eq!(properties("takes_anything"), expected);
    for anything in [json!(null), json!([1, {"a": 1}]), json!("a")] {
        let text = format!("{anything} 0");
        assert_eq!(
            called(
                "takes_anything",
                json!({"anything": anything, "object": {}})
            ),
            text
        );
    }
}

/// Named like keywords of JSON Schema, which they are not.
#[tool]
fn takes_keywords(title: String, format: u8, r#type: bool, pattern: Vec<u8>) -> String {
    format!("{title} {format} {type} {pattern:?}")
}

#[test]
fn arguments_that_are_called_like_keywords_stay() {
    let byte = json!({"type": "integer", "minimum": 0, "maximum": 255});
    let expected = json!({
        "title": {"type": "string"},
        "format": byte,
        "type": {"type": "boolean"},
        "pattern": {"type": "array", "items": byte},
    });
    assert_eq!(properties("takes_keywords"), expected);
    let arguments = json!({"title": "a", "format": 1, "type": true, "pattern": []});
    assert_eq!(called("takes_keywords", arguments), "a 1 true []");
}
