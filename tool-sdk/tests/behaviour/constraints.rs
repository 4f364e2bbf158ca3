//! The keys of `#[arg(…)]` that narrow what a type accepts, as keywords of the schema; and what is
//! said where they do not fit.

use std::collections::HashMap;

use tool_sdk::prelude::*;
use tool_sdk::testing;

use super::{called, properties};
use crate::tool_types::Units;

const MOST: u32 = 50;
const COLOURS: [&str; 2] = ["red", "green"];

#[tool]
#[expect(
    clippy::too_many_arguments,
    unused_variables,
    reason = "one of each kind"
)]
fn constrained(
    #[arg(min = 1, max = MOST)] limit: u32,
    #[arg(exclusive_min = 0, exclusive_max = 1.5)] ratio: f64,
    #[arg(min_length = 1, max_length = 20, pattern = "^[a-z]+$")] name: &str,
    #[arg(format = "date")] day: String,
    #[arg(one_of = [1, 2, 3])] level: u8,
    #[arg(one_of = COLOURS)] colour: String,
    #[arg(min_length = 1, max_length = 3, min = 0, max = 9)] digits: Vec<i32>,
    #[arg(max_length = 2)] table: HashMap<String, u8>,
    #[arg(max = 10, example = 3)] optional: Option<u8>,
    #[arg(one_of = ["north", "south"])] side: Option<String>,
    #[arg(example = "celsius", default = Units::Fahrenheit)] units: Units,
    #[arg(one_of = [true])] agreed: bool,
    #[arg(pattern = "[a-z]")] letter: char,
) {
}

#[test]
fn every_key_is_a_keyword_where_it_holds() {
    let expected = json!({
        "limit": {"type": "integer", "minimum": 1, "maximum": 50},
        "ratio": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1.5},
        "name": {"type": "string", "minLength": 1, "maxLength": 20, "pattern": "^[a-z]+$"},
        "day": {"type": "string", "format": "date"},
        "level": {"type": "integer", "minimum": 0, "maximum": 255, "enum": [1, 2, 3]},
        "colour": {"type": "string", "enum": ["red", "green"]},
        "digits": {
            "type": "array",
            "items": {"type": "integer", "minimum": 0, "maximum": 9},
            "minItems": 1,
            "maxItems": 3,
        },
        "table": {
            "type": "object",
            "additionalProperties": {"type": "integer", "minimum": 0, "maximum": 255},
            "maxProperties": 2,
        },
        "optional": {"type": ["integer", "null"], "minimum": 0, "maximum": 10, "examples": [3]},
        "side": {"type": ["string", "null"], "enum": ["north", "south", null]},
        "units": {
            "type": "string",
            "description": "Units of a temperature.",
            "enum": ["celsius", "fahrenheit"],
            "default": "fahrenheit",
            "examples": ["celsius"],
        },
        "agreed": {"type": "boolean", "enum": [true]},
        "letter": {"type": "string", "minLength": 1, "maxLength": 1, "pattern": "[a-z]"},
    });
    let shown = properties("constrained");
    for (name, expected) in expected.as_object().unwrap() {
        assert_eq!(&shown[name], expected, "{name}");
    }
    assert_eq!(testing::describe("constrained").unwrap().problems, [""; 0]);
}

#[tool_type]
struct Point {
    x: f64,
}

type Whole = i16;

const LOW: i64 = -40_000;
const NONE: [&str; 0] = [];

#[tool]
#[expect(
    clippy::too_many_arguments,
    unused_variables,
    reason = "one of each kind"
)]
fn misplaced(
    #[arg(min = 1)] point: Point,
    #[arg(pattern = "x")] whole: Whole,
    #[arg(max_length = 1)] short: Whole,
    #[arg(min = LOW)] low: Whole,
    #[arg(min = "1".len(), max = 0)] empty: i64,
    #[arg(one_of = NONE)] nothing: String,
    #[arg(one_of = ["kelvin"])] units: Units,
    #[arg(min_length = 2)] fields: Point,
    #[arg(min = f64::NAN)] no_number: f64,
    #[arg(default = "x".parse::<u8>().unwrap())] no_default: u8,
) {
}

/// What the macro can't know, the description of the tool says, for the probe of a library.
#[test]
fn keys_that_do_not_fit_are_problems_of_the_tool() {
    let problems = testing::describe("misplaced").unwrap().problems;
    let expected = [
        "argument `point`: `min`: it is about a number, which this type does not take",
        "argument `whole`: `pattern`: it is about text, which this type does not take",
        "argument `short`: `max_length`: it is about text, a list or a map, which this type does not take",
        "argument `low`: `min`: -40000 is below what the argument takes, from -32768",
        "argument `empty`: no value lies between 1 and 0",
        "argument `nothing`: `one_of`: nothing is one of no values",
        "argument `units`: `one_of`: \"kelvin\" is none of the type's own values",
        "argument `fields`: `min_length`: it is about text, a list or a map, which this type does not take",
    ];
    assert_eq!(problems[..expected.len()], expected);
    let no_values = &problems[expected.len()..];
    assert!(no_values[0].starts_with("argument `no_number`: `min`: there is no such value: "));
    assert!(no_values[1].starts_with("argument `no_default`: `default`: there is no such value: "));
}

/// R17: a number is printed as its author wrote it.
#[tool]
fn printed(#[arg(default = 10)] count: f64, #[arg(default = 0.5)] ratio: f64) -> String {
    format!("{count} {ratio}")
}

#[test]
fn r17_defaults_of_floats_are_printed_as_written() {
    let shown = properties("printed").to_string();
    assert!(shown.contains(r#""default":10}"#), "{shown}");
    assert!(shown.contains(r#""default":0.5"#), "{shown}");
    assert_eq!(called("printed", json!({})), "10 0.5");
}

#[tool(require_docs)]
#[expect(unused_variables, reason = "it is about their descriptions")]
#[doc = concat!("Says ", "something.")]
fn partly_documented(
    #[doc = concat!(" ", "")] silent: u8,
    /// Described
    told: u8,
    #[arg(preset)] key: String,
) {
}

#[test]
fn require_docs_sees_what_is_no_literal() {
    let problems = testing::describe("partly_documented").unwrap().problems;
    assert_eq!(problems, ["argument `silent` has no description"]);
}
