//! Runs the examples that tools declare, and compares what comes of them with what they expect.
//!
//! An example goes the way of every call, with hooks and events. Who wants it run, and how it is
//! shown, is not decided here.

use serde::Serialize;
use serde_json::Value;
use tool_sdk::ErrorKind;
use tool_sdk::tool::Example;

use super::{Arguments, Caller, ToolCall};
use crate::abort::AbortSignal;
use crate::ids::PluginName;
use crate::registry::ToolEntry;
use crate::tool::{Pattern, ToolCallResult};

/// What became of one example.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExampleOutcome {
    /// The tool.
    pub tool: String,
    /// The plugin that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin: Option<PluginName>,
    /// The arguments that it was called with.
    pub arguments: Value,
    /// Whether it came out as expected.
    pub ok: bool,
    /// The text or the value that is expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<Value>,
    /// The regular expression that the text should match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_pattern: Option<String>,
    /// What came instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<Value>,
    /// Why the call failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ExampleError>,
}

/// Why an example's call failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExampleError {
    /// The kind.
    pub kind: ErrorKind,
    /// What happened.
    pub message: String,
}

/// In which way a result is not what was expected.
#[derive(Debug, PartialEq)]
enum Difference {
    Found(Value),
    Failed(ExampleError),
}

impl Caller {
    /// Runs one example of a tool that is in the table.
    pub async fn run_example(
        &self,
        entry: &ToolEntry,
        example: &Example,
        abort: &AbortSignal,
    ) -> ExampleOutcome {
        let tool = entry.spec().name.clone();
        let call = ToolCall::new(tool.as_str(), Arguments::Json(example.arguments.clone()));
        let result = self.call(call, abort).await.result;
        let (found, error) = match compare(example, &result) {
            Ok(()) => (None, None),
            Err(Difference::Found(found)) => (Some(found), None),
            Err(Difference::Failed(error)) => (None, Some(error)),
        };
        ExampleOutcome {
            tool,
            plugin: entry.plugin().cloned(),
            arguments: example.arguments.clone(),
            ok: found.is_none() && error.is_none(),
            expected: example.expect.clone(),
            expected_pattern: example.expect_pattern.clone(),
            found,
            error,
        }
    }
}

/// Whether a result is what an example expects. A call that failed never is: the text of an error
/// may match by accident.
fn compare(example: &Example, result: &ToolCallResult) -> Result<(), Difference> {
    if result.is_error {
        return Err(failed(result));
    }
    if let Some(expected) = &example.expect {
        compare_value(expected, result).map_err(Difference::Found)?;
    }
    match &example.expect_pattern {
        Some(pattern) => compare_text(pattern, result.text()),
        None => Ok(()),
    }
}

/// A text is the result's text; any other value is its structured content or its text read as
/// JSON. The error is what was found.
fn compare_value(expected: &Value, result: &ToolCallResult) -> Result<(), Value> {
    let text = result.text();
    let mut found = Vec::new();
    if !expected.is_string() {
        found.extend(result.structured_content.clone());
        found.extend(serde_json::from_str::<Value>(&text));
    }
    // What is no JSON is shown as the text that it is.
    if found.is_empty() {
        found.push(text.into());
    }
    if found.contains(expected) {
        return Ok(());
    }
    Err(found.swap_remove(0))
}

fn compare_text(pattern: &str, text: String) -> Result<(), Difference> {
    match Pattern::new(pattern) {
        Ok(pattern) if pattern.is_found_in(&text) => Ok(()),
        Ok(_) => Err(Difference::Found(text.into())),
        Err(reason) => Err(Difference::Failed(ExampleError {
            kind: ErrorKind::ToolError,
            message: format!(
                "the example expects a text that matches {pattern:?}, which is no regular \
                 expression: {reason}"
            ),
        })),
    }
}

fn failed(result: &ToolCallResult) -> Difference {
    let error = result.error.as_ref();
    Difference::Failed(ExampleError {
        kind: error.map_or(ErrorKind::ToolError, |error| error.kind),
        message: error.map_or_else(|| result.text(), |error| error.message.clone()),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tool_sdk::{Content, ToolResult};

    use super::*;
    use crate::tool::CallError;

    fn example(expected: &Value) -> Example {
        let mut example = json!({"arguments": {}});
        example
            .as_object_mut()
            .unwrap()
            .extend(expected.as_object().unwrap().clone());
        serde_json::from_value(example).unwrap()
    }

    /// Checks what is found instead of the expectation; null if nothing.
    #[expect(clippy::needless_pass_by_value, reason = "callers write `json!(…)`")]
    fn check(expected: Value, result: ToolResult, found: Value) {
        let result = ToolCallResult::of_tool("id", "tool", result);
        let wanted = if found.is_null() {
            Ok(())
        } else {
            Err(Difference::Found(found))
        };
        assert_eq!(compare(&example(&expected), &result), wanted, "{expected}");
    }

    #[test]
    fn text_is_the_text_of_all_blocks() {
        let blocks = || {
            ToolResult::content([
                Content::text("a"),
                Content::image("AA==", "image/png"),
                Content::text("b"),
            ])
        };
        check(json!({"expect": "a\nb"}), blocks(), json!(null));
        check(json!({"expect": "a"}), blocks(), json!("a\nb"));
        check(json!({}), blocks(), json!(null));
        // A text is compared as text, also where it is JSON.
        check(json!({"expect": "5"}), ToolResult::text("5"), json!(null));
        check(json!({"expect": 5}), ToolResult::text("5"), json!(null));
        check(json!({"expect": "5"}), ToolResult::text(" 5"), json!(" 5"));
    }

    #[test]
    fn value_is_structured_content_or_text_that_is_json() {
        let structured = || ToolResult::text("three").structured(json!({"n": 3}));
        check(json!({"expect": {"n": 3}}), structured(), json!(null));
        check(json!({"expect": {"n": 4}}), structured(), json!({"n": 3}));
        let text = || ToolResult::text("{\"n\": 3, \"m\": [1]}");
        check(json!({"expect": {"m": [1], "n": 3}}), text(), json!(null));
        check(json!({"expect": [1]}), text(), json!({"n": 3, "m": [1]}));
        check(
            json!({"expect": true}),
            ToolResult::text("yes"),
            json!("yes"),
        );
        let other = || ToolResult::text("3").structured(json!({"n": 4}));
        check(json!({"expect": 3}), other(), json!(null));
    }

    #[test]
    fn pattern_is_looked_for_in_the_text() {
        let sunny = || ToolResult::text("Sunny, 22 °C");
        check(json!({"expectPattern": "[0-9]+ °C$"}), sunny(), json!(null));
        check(
            json!({"expectPattern": "^22"}),
            sunny(),
            json!("Sunny, 22 °C"),
        );
        let result = ToolCallResult::of_tool("id", "tool", sunny());
        let compared = compare(&example(&json!({"expectPattern": "(["})), &result);
        assert!(matches!(compared, Err(Difference::Failed(error)) if error.message.contains("([")));
    }

    #[test]
    fn failed_call_is_never_what_was_expected() {
        let error = CallError::new(ErrorKind::Timeout, "too late");
        let result = ToolCallResult::of_error("id", "tool", error);
        for expected in [
            json!({}),
            json!({"expect": "too late"}),
            json!({"expectPattern": ""}),
        ] {
            let failed = ExampleError {
                kind: ErrorKind::Timeout,
                message: "too late".to_owned(),
            };
            assert_eq!(
                compare(&example(&expected), &result),
                Err(Difference::Failed(failed))
            );
        }
    }
}
