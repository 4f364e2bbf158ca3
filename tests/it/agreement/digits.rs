//! Integers keep every digit on their way to a tool, however they are written.

use agent_core::tool::ArgumentSchema;
use serde_json::{Value, json};
use tool_sdk::testing;

const TOOL: &str = "agree_optional_integers";

/// Beside these integers, floats are further apart than integers are.
const LARGE: i128 = (1 << 53) + 1;

/// Checks that a tool gets this integer, as `spelled` writes it.
fn check(host: &ArgumentSchema, width: &str, integer: i128, spelled: &str) {
    let text = format!(r#"{{"{width}": {spelled}}}"#);
    let sent: Value = serde_json::from_str(&text).unwrap();
    let checked = host.check(&sent, Some(&text));
    let arguments = checked
        .unwrap_or_else(|problems| panic!("{text}: {problems:?}"))
        .arguments;
    let run = testing::run(TOOL, arguments).unwrap();
    let got = run.result.structured_content.unwrap();
    assert_eq!(got[width].to_string(), integer.to_string(), "{text}");
}

#[test]
fn integers_of_every_width_keep_every_digit() {
    let schema = testing::describe(TOOL).unwrap().input_schema;
    let host = ArgumentSchema::compile(&schema).unwrap();
    for (width, of) in schema["properties"].as_object().unwrap() {
        let bound = |keyword: &str| of[keyword].to_string().parse::<i128>().unwrap();
        let (least, most) = (bound("minimum"), bound("maximum"));
        let known = [
            least,
            least + 1,
            most - 1,
            most,
            LARGE,
            -LARGE,
            LARGE + 2,
            0,
        ];
        for integer in known
            .into_iter()
            .filter(|known| (least..=most).contains(known))
        {
            check(&host, width, integer, &integer.to_string());
            check(&host, width, integer, &format!("\"{integer}\""));
            check(&host, width, integer, &format!("\" {integer}.0 \""));
            // Nearer to the ends of 64 bits, the float that is nearest lies beyond them, and the
            // schema refuses it.
            if integer.abs() <= LARGE + 2 {
                check(&host, width, integer, &format!("{integer}.0"));
                check(&host, width, integer, &format!("{integer}.000e0"));
            }
        }
    }
}

/// What is no integer of 64 bits is told, and never rounded.
#[test]
fn integers_that_no_width_holds_are_refused() {
    let schema = testing::describe(TOOL).unwrap().input_schema;
    let host = ArgumentSchema::compile(&schema).unwrap();
    for spelled in [
        "18446744073709551616",
        "18446744073709551616.0",
        "-9223372036854775809",
        "1e30",
        "\"18446744073709551616\"",
        "9007199254740993.5",
        "0.5",
    ] {
        for width in ["i64", "isize", "u64", "usize"] {
            let text = format!(r#"{{"{width}": {spelled}}}"#);
            let sent: Value = serde_json::from_str(&text).unwrap();
            assert!(host.check(&sent, Some(&text)).is_err(), "{text}");
            assert!(host.accept(sent).is_err(), "{text}");
        }
    }
    assert!(
        host.check(&json!({"i64": 9_223_372_036_854_775_808_u64}), None)
            .is_err()
    );
}
