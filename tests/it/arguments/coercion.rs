//! Values that are not what is declared, but mean it: R2 and R10, and integers to the last digit.

use agent_core::call::Arguments;
use serde_json::json;
use tool_sdk::ErrorKind;

use super::{Tool, block};

#[tokio::test]
async fn r2_null_for_an_optional_argument_means_absent_at_every_depth() {
    let place = json!({"type": "object", "properties": {
        "name": {"type": "string"}, "floor": {"type": "integer", "default": 0}}});
    let tool = Tool::of(json!({
        "timezone": {"type": "string"},
        "units": {"type": "string", "enum": ["m", "ft"], "default": "m"},
        "maybe": {"type": ["string", "null"], "default": "x"},
        "choice": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "place": place,
        "places": {"type": "array", "items": place},
    }))
    .await;
    tool.check(r#"{"timezone": null}"#, json!({"units": "m", "maybe": "x"}))
        .await;
    tool.check(r#"{"units": null}"#, json!({"units": "m", "maybe": "x"}))
        .await;
    let kept = json!({"maybe": null, "choice": null, "units": "m"});
    tool.check(r#"{"maybe": null, "choice": null}"#, kept).await;
    let sent =
        r#"{"place": {"name": null, "floor": null}, "places": [{"name": null}, {"floor": 3}]}"#;
    let whole = json!({"place": {"floor": 0}, "places": [{"floor": 0}, {"floor": 3}], "units": "m", "maybe": "x"});
    tool.check(sent, whole).await;

    // What is required is not absent, and null in a list is a value in the list.
    let weather = Tool::weather().await;
    let text = "Validation failed for tool \"getWeather\":\n  \
                - /city: wrong type (expected string, got null)\n\n\
                Received arguments:\n{\"city\": null}";
    weather
        .check_refused(r#"{"city": null}"#, ErrorKind::InvalidArguments, text)
        .await;
    let text = block(
        &["/places/0: wrong type (expected object, got null)"],
        r#"{"places": [null]}"#,
    );
    tool.check_refused(r#"{"places": [null]}"#, ErrorKind::InvalidArguments, &text)
        .await;
}

#[tokio::test]
async fn r10_values_are_coerced_towards_the_declared_type_and_nowhere_else() {
    let tool = Tool::of(json!({
        "offset": {"type": "integer"}, "ratio": {"type": "number"}, "flag": {"type": "boolean"},
        "text": {"type": "string"}, "items": {"type": "array"}, "nested": {"type": "object", "properties": {
            "n": {"type": "integer"}}},
    }))
    .await;
    tool.check(
        r#"{"offset":"500","ratio":"2.5"}"#,
        json!({"offset": 500, "ratio": 2.5}),
    )
    .await;
    tool.check(
        r#"{"offset": 5.0, "flag": "true"}"#,
        json!({"offset": 5, "flag": true}),
    )
    .await;
    tool.check(r#"{"text": 1.10}"#, json!({"text": "1.10"}))
        .await;
    let digits = "1234567890123456789012345";
    tool.check(&format!(r#"{{"text": {digits}}}"#), json!({"text": digits}))
        .await;
    tool.check(
        r#"{"items":"[{\"t\":\"a\"}]"}"#,
        json!({"items": [{"t": "a"}]}),
    )
    .await;
    tool.check(
        r#"{"text":"[{\"t\":\"a\"}]"}"#,
        json!({"text": r#"[{"t":"a"}]"#}),
    )
    .await;
    tool.check(r#"{"nested":"{\"n\":\"7\"}"}"#, json!({"nested": {"n": 7}}))
        .await;

    let check = async |sent: &str, line: &str| {
        let received = agent_core::json_text::spaced(&serde_json::from_str(sent).unwrap());
        tool.check_refused(
            sent,
            ErrorKind::InvalidArguments,
            &block(&[line], &received),
        )
        .await;
    };
    check(
        r#"{"offset":"3.14"}"#,
        "/offset: wrong type (expected integer, got string \"3.14\")",
    )
    .await;
    check(
        r#"{"offset":"abc"}"#,
        "/offset: wrong type (expected integer, got string \"abc\")",
    )
    .await;
    check(
        r#"{"offset":5.5}"#,
        "/offset: wrong type (expected integer, got number 5.5)",
    )
    .await;
    check(
        r#"{"ratio":"NaN"}"#,
        "/ratio: wrong type (expected number, got string \"NaN\")",
    )
    .await;
    check(
        r#"{"flag":1}"#,
        "/flag: wrong type (expected boolean, got number 1)",
    )
    .await;
    check(
        r#"{"text":true}"#,
        "/text: wrong type (expected string, got boolean true)",
    )
    .await;
    check(
        r#"{"items":"a"}"#,
        "/items: wrong type (expected array, got string \"a\")",
    )
    .await;
}

#[tokio::test]
async fn integers_reach_the_tool_exactly_or_not_at_all() {
    let tool = Tool::of(json!({
        "row_id": {"type": "integer", "minimum": i64::MIN, "maximum": i64::MAX},
        "any": {"type": "integer"},
    }))
    .await;
    for digits in [
        "2512292042121000001",
        "9223372036854775807",
        "-9223372036854775808",
        "0",
    ] {
        let sent = format!(r#"{{"row_id":{digits}}}"#);
        let result = tool.send(Arguments::Text(sent.clone())).await;
        assert!(!result.is_error, "{}", result.text());
        assert_eq!(tool.got.take(), [sent]);
    }
    tool.check(r#"{"row_id": -0}"#, json!({"row_id": 0})).await;
    tool.host.events.take();
    let max = "at most 9223372036854775807";
    let line = format!("/row_id: too large (expected {max}, got number 9223372036854775808)");
    let text = block(&[&line], r#"{"row_id": 9223372036854775808}"#);
    tool.check_refused(
        r#"{"row_id":9223372036854775808}"#,
        ErrorKind::InvalidArguments,
        &text,
    )
    .await;
    let line = "/any: out of range (expected an integer from -9223372036854775808 to \
                18446744073709551615, got number 123456789012345678901234567890)";
    let text = block(&[line], r#"{"any": 1.2345678901234568e+29}"#);
    let sent = r#"{"any":123456789012345678901234567890}"#;
    tool.check_refused(sent, ErrorKind::InvalidArguments, &text)
        .await;
}
