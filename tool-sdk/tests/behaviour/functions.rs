//! What the function of a tool may look like.

use tool_sdk::prelude::*;
use tool_sdk::testing;

use super::{called, described, properties, schema};

/// The context may stand anywhere.
#[tool]
async fn reports_progress(first: u8, ctx: &ToolContext, second: u8, all: &Args) -> String {
    for step in [first, second] {
        ctx.progress(json!({"step": step}));
        tokio::task::yield_now().await;
    }
    format!("{} {} {}", ctx.call_id(), all.len(), all["second"])
}

#[test]
fn context_and_arguments_are_hidden_from_the_model() {
    let byte = json!({"type": "integer", "minimum": 0, "maximum": 255});
    assert_eq!(
        properties("reports_progress"),
        json!({"first": byte, "second": byte})
    );
    let run = testing::run("reports_progress", json!({"first": 1, "second": 2})).unwrap();
    assert_eq!(run.progress, [json!({"step": 1}), json!({"step": 2})]);
    assert_eq!(run.result, ToolResult::text("call_test 2 2"));
}

#[tool]
fn reports_from_a_plain_function(_: &ToolContext, _all: &Args, ctx: &ToolContext) {
    ctx.progress(1);
}

#[test]
fn plain_functions_have_a_context_too() {
    let run = testing::run("reports_from_a_plain_function", json!({})).unwrap();
    assert_eq!(run.progress, [json!(1)]);
}

#[tool]
fn changes_its_argument(mut list: Vec<u8>, r#type: &str) -> String {
    list.push(0);
    format!("{list:?} {type}")
}

#[test]
fn parameters_may_be_mutable_and_raw() {
    let arguments = json!({"list": [1], "type": "t"});
    assert_eq!(called("changes_its_argument", arguments), "[1, 0] t");
}

#[tool]
fn r#loop(r#in: u8) -> u8 {
    r#in
}

#[test]
fn raw_names_are_plain_on_the_wire() {
    assert_eq!(called("loop", json!({"in": 1})), "1");
    assert_eq!(described("loop")["label"], "Loop");
}

#[test]
fn function_stays_a_function() {
    assert_eq!(r#loop(5), 5);
    assert_eq!(changes_its_argument(vec![], "x"), "[0] x");
}

mod shadowed {
    #![expect(
        dead_code,
        non_camel_case_types,
        non_upper_case_globals,
        reason = "only names"
    )]

    use tool_sdk::tool;

    struct Option;
    struct Vec;
    struct Box;
    struct Args;
    struct ToolRecord;
    struct PlainArgument;
    struct u8;
    type Result = std::string::String;
    type String = std::option::Option<std::primitive::u8>;
    const Some: () = ();
    const None: () = ();
    const Ok: () = ();
    mod core {}
    mod std_ {}

    macro_rules! env {
        () => {
            0
        };
    }
    macro_rules! line {
        () => {
            0
        };
    }

    #[tool]
    fn shadows_everything(text: Result, number: String, name: &str) -> Result {
        let _ = (env!(), line!());
        format!("{text} {number:?} {name}")
    }
}

#[test]
fn types_count_and_not_their_names() {
    let expected = json!({
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "number": {"type": ["integer", "null"], "minimum": 0, "maximum": 255},
            "name": {"type": "string"},
        },
        "required": ["text", "name"],
        "additionalProperties": false,
    });
    assert_eq!(schema("shadows_everything"), expected);
    let arguments = json!({"text": "a", "name": "b"});
    assert_eq!(called("shadows_everything", arguments), "a None b");
}

/// Makes a tool of what it is given.
macro_rules! adder {
    ($(#[$attribute:meta])* $name:ident, $wire:literal, $($argument:ident: $ty:ty = $default:expr),*) => {
        $(#[$attribute])*
        #[tool(name = $wire, label = "Made")]
        fn $name($(#[arg(default = $default)] $argument: $ty,)* prefix: &str) -> String {
            let sum = 0 $(+ i64::from($argument))*;
            format!("{prefix}{sum}")
        }
    };
}

adder!(
    /// Adds what it is given.
    made_by_a_macro, "madeByAMacro", a: u8 = 1, b: Number = -2
);

type Number = i32;

#[test]
fn tools_may_be_made_by_macro_rules() {
    let expected = json!({
        "type": "object",
        "properties": {
            "a": {"type": "integer", "minimum": 0, "maximum": 255, "default": 1},
            "b": {"type": "integer", "minimum": i32::MIN, "maximum": i32::MAX, "default": -2},
            "prefix": {"type": "string"},
        },
        "required": ["prefix"],
        "additionalProperties": false,
    });
    assert_eq!(schema("madeByAMacro"), expected);
    assert_eq!(
        described("madeByAMacro")["description"],
        "Adds what it is given."
    );
    assert_eq!(called("madeByAMacro", json!({"prefix": "="})), "=-1");
}

mod outer {
    pub(super) mod inner {
        use tool_sdk::prelude::*;

        use crate::tool_types::Units;

        /// The same function name as in the module above.
        #[tool(name = "nested_inner")]
        pub(in crate::functions) fn nested(units: Units) -> String {
            format!("inner {units:?}")
        }
    }

    #[tool_sdk::tool(name = "nested_outer")]
    fn nested(
        units: crate::tool_types::Units,
        set: std::collections::BTreeSet<u8>,
        ctx: &tool_sdk::ToolContext,
    ) -> String {
        format!("{} {set:?} {}", inner::nested(units), ctx.call_id())
    }
}

#[test]
fn tools_may_stand_in_modules_and_functions() {
    #[tool]
    fn nested_in_a_function(local: Local) -> String {
        format!("{}", local.0)
    }

    #[tool_type]
    struct Local(u8);

    assert_eq!(
        called("nested_inner", json!({"units": "celsius"})),
        "inner Celsius"
    );
    assert_eq!(
        called("nested_outer", json!({"units": "celsius", "set": [2, 1]})),
        "inner Celsius {1, 2} call_test"
    );
    assert_eq!(called("nested_in_a_function", json!({"local": 7})), "7");
}

#[tool]
fn has_conditional_parameters(
    #[cfg(test)] a: u8,
    #[cfg(not(test))] a: String,
    #[cfg(not(test))] b: String,
) -> u8 {
    a
}

#[cfg(not(test))]
#[tool]
fn is_not_there() {}

#[test]
fn conditions_hold_for_the_tool_as_for_the_function() {
    let expected = json!({"a": {"type": "integer", "minimum": 0, "maximum": 255}});
    assert_eq!(properties("has_conditional_parameters"), expected);
    assert_eq!(called("has_conditional_parameters", json!({"a": 3})), "3");
    assert!(testing::describe("is_not_there").is_err());
}

/// Above.
#[tracing::instrument(skip_all)]
#[tool]
async fn instrumented_above(text: &str) -> Result<String> {
    Ok(text.to_owned())
}

/// Below.
#[tool]
#[tracing::instrument(skip_all)]
#[inline]
async fn instrumented_below(text: &str) -> Result<String> {
    Ok(text.to_owned())
}

#[test]
fn other_attributes_keep_working() {
    for (tool, description) in [
        ("instrumented_above", "Above."),
        ("instrumented_below", "Below."),
    ] {
        assert_eq!(described(tool)["description"], description);
        assert_eq!(called(tool, json!({"text": "a"})), "a");
    }
}
