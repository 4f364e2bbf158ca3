//! What a tool's return value comes to.

use std::borrow::Cow;
use std::fmt;

use tool_sdk::prelude::*;
use tool_sdk::testing;

use super::{called, described};
use crate::tool_types::Units;

fn result(tool: &str) -> ToolResult {
    testing::run(tool, json!({"text": " a "})).unwrap().result
}

/// Makes tools that take a text and return what the expression makes of it.
macro_rules! returning {
    ($($name:ident: $ty:ty = |$text:ident| $value:expr;)*) => {$(
        #[tool]
        fn $name($text: &str) -> $ty {
            let _ = $text;
            $value
        }
    )*};
}

returning! {
    returns_string: String = |text| text.to_owned();
    returns_str: &str = |text| text.trim();
    returns_cow: Cow<'_, str> = |text| Cow::Borrowed(text);
    returns_static: &'static str = |text| "static";
    returns_char: char = |text| 'c';
    returns_bool: bool = |text| true;
    returns_u64: u64 = |text| u64::MAX;
    returns_f64: f64 = |text| 0.5;
    returns_result: Result<String> = |text| Ok(text.to_owned());
    returns_lent_result: Result<&str> = |text| Ok(text.trim());
}

#[test]
fn text_and_numbers_are_text() {
    for (tool, expected) in [
        ("returns_string", " a "),
        ("returns_str", "a"),
        ("returns_cow", " a "),
        ("returns_static", "static"),
        ("returns_char", "c"),
        ("returns_bool", "true"),
        ("returns_u64", "18446744073709551615"),
        ("returns_f64", "0.5"),
        ("returns_result", " a "),
        ("returns_lent_result", "a"),
    ] {
        assert_eq!(result(tool), ToolResult::text(expected), "{tool}");
        assert_eq!(described(tool)["outputSchema"], Value::Null, "{tool}");
    }
}

#[tool]
fn returns_nothing() {}

#[tool]
fn returns_unit() -> Result<()> {
    Ok(())
}

#[test]
fn nothing_is_an_empty_result() {
    for tool in ["returns_nothing", "returns_unit"] {
        assert_eq!(result(tool), ToolResult::default(), "{tool}");
    }
}

#[tool]
fn returns_nan() -> f64 {
    f64::NAN
}

#[test]
fn nan_is_an_error_and_no_broken_json() {
    assert_eq!(
        result("returns_nan"),
        ToolResult::error("the result is not a finite number: NaN")
    );
}

/// A forecast.
#[tool_type]
#[derive(Clone)]
#[serde(rename_all = "camelCase")]
struct Forecast {
    /// Degrees Celsius
    degrees: i8,
    will_rain: bool,
}

#[tool]
fn returns_struct() -> Forecast {
    Forecast {
        degrees: 21,
        will_rain: false,
    }
}

#[tool]
async fn returns_list() -> Result<Vec<Option<u8>>> {
    Ok(vec![Some(1), None])
}

#[tool]
fn returns_value() -> Value {
    json!({"any": [1]})
}

#[test]
fn data_is_json_text_and_structured_content_with_a_schema() {
    let data = json!({"degrees": 21, "willRain": false});
    let expected = ToolResult::text(r#"{"degrees":21,"willRain":false}"#).structured(data);
    assert_eq!(result("returns_struct"), expected);
    let expected = json!({
        "type": "object",
        "description": "A forecast.",
        "properties": {
            "degrees": {
                "type": "integer",
                "description": "Degrees Celsius",
                "minimum": -128,
                "maximum": 127,
            },
            "willRain": {"type": "boolean"},
        },
        "required": ["degrees", "willRain"],
        "additionalProperties": false,
    });
    assert_eq!(described("returns_struct")["outputSchema"], expected);

    // Clients expect an object: anything else is text only.
    assert_eq!(result("returns_list"), ToolResult::text("[1,null]"));
    assert_eq!(described("returns_list").get("outputSchema"), None);

    let any = json!({"any": [1]});
    assert_eq!(
        result("returns_value"),
        ToolResult::text(any.to_string()).structured(any)
    );
}

#[tool]
fn returns_content() -> Vec<Content> {
    vec![Content::text("a"), Content::image("AA==", "image/png")]
}

#[tool]
fn returns_block() -> Content {
    Content::resource("file:///a", "b")
}

#[tool]
fn returns_tool_result() -> Result<ToolResult> {
    Ok(ToolResult::text("Done!")
        .details(json!({"rows": 3}))
        .terminate())
}

#[test]
fn content_is_passed_on_as_it_is() {
    assert_eq!(
        result("returns_content"),
        ToolResult::content(returns_content())
    );
    assert_eq!(
        result("returns_block"),
        ToolResult::content([returns_block()])
    );
    assert_eq!(
        result("returns_tool_result"),
        returns_tool_result().unwrap()
    );
    assert_eq!(described("returns_content")["outputSchema"], Value::Null);
}

#[derive(Debug)]
struct Broken;

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("broken")
    }
}

impl std::error::Error for Broken {}

#[tool]
fn fails_with_an_error() -> Result<String, Broken> {
    Err(Broken)
}

#[tool]
fn fails_with_a_string() -> Result<String, String> {
    Err("text".to_owned())
}

#[tool]
async fn fails_with_a_question_mark() -> Result<u8> {
    Ok("x".parse()?)
}

#[tool]
fn fails_with_a_hint() -> std::result::Result<(), ToolError> {
    Err(ToolError::new("no").with_hint("try yes"))
}

type Alias<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[tool]
fn fails_behind_an_alias() -> Alias<String> {
    Err("aliased".into())
}

#[test]
fn errors_of_every_type_are_the_tools_error() {
    for (tool, expected) in [
        ("fails_with_an_error", "error: broken"),
        ("fails_with_a_string", "error: text"),
        (
            "fails_with_a_question_mark",
            "error: invalid digit found in string",
        ),
        ("fails_with_a_hint", "error: no\ntry yes"),
        ("fails_behind_an_alias", "error: aliased"),
    ] {
        assert_eq!(called(tool, json!({})), expected, "{tool}");
    }
    let error = testing::run("fails_with_an_error", json!({})).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ToolError);
}

/// What is written may be called differently from what is read.
#[tool_type]
struct TwoNames {
    #[serde(rename(serialize = "written", deserialize = "read"))]
    name: u8,
    #[serde(skip_serializing)]
    #[expect(dead_code, reason = "it is read and not written")]
    secret: u8,
}

#[tool]
fn returns_two_names(it: TwoNames) -> TwoNames {
    it
}

#[test]
fn output_schema_is_that_of_what_is_written() {
    let arguments = json!({"it": {"read": 1, "secret": 2}});
    let run = testing::run("returns_two_names", arguments).unwrap();
    assert_eq!(run.result.structured_content, Some(json!({"written": 1})));
    let tool = testing::describe("returns_two_names").unwrap();
    let properties = &tool.output_schema.unwrap()["properties"];
    let names: Vec<&String> = properties.as_object().unwrap().keys().collect();
    assert_eq!(names, ["written"]);
}

#[tool]
fn returns_perhaps(there: bool) -> Option<String> {
    there.then(|| "a \"text\"".to_owned())
}

#[tool]
fn returns_a_word() -> Units {
    Units::Celsius
}

#[test]
fn text_is_shown_without_quotation_marks_wherever_it_comes_from() {
    assert_eq!(
        called("returns_perhaps", json!({"there": true})),
        "a \"text\""
    );
    assert_eq!(called("returns_perhaps", json!({"there": false})), "null");
    assert_eq!(called("returns_a_word", json!({})), "celsius");
}
