//! The keys of `#[tool(…)]` and `#[arg(…)]`: what hosts see of them.

use tool_sdk::prelude::*;

use super::{called, described, properties, schema};
use crate::tool_types::Units;

/// Fetch current weather.
#[tool(
    name = "with-every_Key",
    label = "Weather, every key",
    description = "Says what the weather is.",
    parallel = false,
    inline,
    timeout = "90s",
    prepare = keep,
    validate = pass,
    validate_only
)]
fn with_every_key() {}

fn keep(args: Args) -> Result<Args> {
    Ok(args)
}

fn pass(_: &Args) -> Option<String> {
    None
}

#[test]
fn every_key_reaches_the_host() {
    let expected = json!({
        "package": "tool-sdk",
        "name": "with-every_Key",
        "label": "Weather, every key",
        "description": "Says what the weather is.",
        "inputSchema": {"type": "object", "properties": {}, "additionalProperties": false},
        "parallel": false,
        "timeoutMs": 90_000,
        "async": false,
        "inline": true,
        "hasPrepare": true,
        "hasValidate": true,
        "validateOnly": true,
        "unwinds": true,
    });
    assert_eq!(described("with-every_Key"), expected);
}

/// Works without any key.
#[tool]
#[expect(non_snake_case, reason = "labels know such names")]
async fn get_HTTPStatus_2() {}

#[test]
fn every_key_has_a_default() {
    let expected = json!({
        "package": "tool-sdk",
        "name": "get_HTTPStatus_2",
        "label": "Get HTTP Status 2",
        "description": "Works without any key.",
        "inputSchema": {"type": "object", "properties": {}, "additionalProperties": false},
        "async": true,
        "inline": false,
        "hasPrepare": false,
        "hasValidate": false,
        "validateOnly": false,
        "unwinds": true,
    });
    assert_eq!(described("get_HTTPStatus_2"), expected);
}

#[tool(timeout = "500ms")]
fn with_timeout_in_ms() {}

#[tool(timeout = "2m")]
fn with_timeout_in_m() {}

#[test]
fn timeouts_are_milliseconds() {
    assert_eq!(described("with_timeout_in_ms")["timeoutMs"], 500);
    assert_eq!(described("with_timeout_in_m")["timeoutMs"], 120_000);
}

#[test]
fn place_of_the_declaration_is_the_functions_name() {
    let tool = tool_sdk::testing::describe("with_timeout_in_m").unwrap();
    assert!(
        tool.file.ends_with("tests/behaviour/attributes.rs"),
        "{}",
        tool.file
    );
    let source = include_str!("attributes.rs").lines();
    let line = source
        .take_while(|line| !line.starts_with("fn with_timeout_in_m()"))
        .count()
        + 1;
    assert_eq!(tool.line, u32::try_from(line).unwrap());
}

const LIMIT: u64 = 3_000_000_000;

#[tool]
#[expect(clippy::too_many_arguments, reason = "one of each kind")]
fn with_defaults(
    needed: String,
    #[arg(default = "celsius")] units: Units,
    #[arg(default = Units::Fahrenheit)] other_units: Units,
    #[arg(default = -5)] number: i8,
    #[arg(default = 5_000_000_000)] optional: Option<u64>,
    #[arg(default = LIMIT)] limit: u64,
    #[arg(default = 0.5)] ratio: f64,
    #[arg(default = "nobody")] name: &str,
    #[arg(default = ["a", "b"])] list: Vec<String>,
    #[arg(default = json!({"deep": [1]}))] value: Value,
    #[arg(default = String::from("owned"))] owned: String,
) -> String {
    format!(
        "{needed} {units:?} {other_units:?} {number} {optional:?} {limit} {ratio} {name} {list:?} \
         {value} {owned}"
    )
}

#[test]
fn y2_defaults_are_shown_and_filled_in() {
    let integer = |minimum: i64, maximum: u64, default: Value| json!({"type": "integer", "minimum": minimum, "maximum": maximum, "default": default});
    let units = |default: &str| {
        json!({
            "type": "string",
            "description": "Units of a temperature.",
            "enum": ["celsius", "fahrenheit"],
            "default": default,
        })
    };
    let expected = json!({
        "type": "object",
        "properties": {
            "needed": {"type": "string"},
            "units": units("celsius"),
            "other_units": units("fahrenheit"),
            "number": integer(-128, 127, json!(-5)),
            "optional": {
                "type": ["integer", "null"],
                "minimum": 0,
                "maximum": u64::MAX,
                "default": 5_000_000_000_u64,
            },
            "limit": integer(0, u64::MAX, json!(LIMIT)),
            "ratio": {"type": "number", "default": 0.5},
            "name": {"type": "string", "default": "nobody"},
            "list": {"type": "array", "items": {"type": "string"}, "default": ["a", "b"]},
            "value": {"default": {"deep": [1]}},
            "owned": {"type": "string", "default": "owned"},
        },
        "required": ["needed"],
        "additionalProperties": false,
    });
    assert_eq!(schema("with_defaults"), expected);
    assert_eq!(
        called("with_defaults", json!({"needed": "x"})),
        "x Celsius Fahrenheit -5 Some(5000000000) 3000000000 0.5 nobody [\"a\", \"b\"] \
         {\"deep\":[1]} owned"
    );
    let null = json!({"needed": "x", "optional": null, "name": "y"});
    assert!(called("with_defaults", null).contains("-5 None 3000000000 0.5 y"));
}

#[tool]
fn with_renamed(
    #[arg(rename = "q")] query: &str,
    /// Not this
    #[arg(description = "How many")]
    #[arg(rename = "page.size", default = 1)]
    size: u8,
    #[arg(rename = "_meta")] _meta: Option<u8>,
) -> String {
    format!("{query} {size}")
}

#[test]
fn renamed_arguments_have_their_new_name_on_the_wire() {
    let byte = json!({"type": ["integer", "null"], "minimum": 0, "maximum": 255});
    let expected = json!({
        "q": {"type": "string"},
        "page.size": {
            "type": "integer",
            "description": "How many",
            "minimum": 0,
            "maximum": 255,
            "default": 1,
        },
        "_meta": byte,
    });
    assert_eq!(properties("with_renamed"), expected);
    assert_eq!(
        called("with_renamed", json!({"q": "a", "page.size": 2})),
        "a 2"
    );
    let old_name = json!({"query": "a"});
    assert_eq!(
        called("with_renamed", old_name),
        "error: /q: missing required argument"
    );
}
