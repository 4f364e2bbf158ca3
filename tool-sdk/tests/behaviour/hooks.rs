//! `prepare` and `validate`.

use tool_sdk::prelude::*;
use tool_sdk::testing;

use super::called;

/// Models say `town` now and then.
fn town_is_city(mut args: Args) -> Result<Args> {
    if args["town"] == "nowhere" {
        return Err(ToolError::new("there is no such town"));
    }
    if let Some(town) = args.remove("town") {
        args.insert("city".to_owned(), town);
    }
    Ok(args)
}

#[tool(prepare = town_is_city)]
fn with_prepare(city: &str, #[arg(default = 1)] days: u8) -> String {
    format!("{city} {days}")
}

#[test]
fn y35_prepare_changes_the_arguments_first() {
    assert_eq!(called("with_prepare", json!({"town": "Tokyo"})), "Tokyo 1");
    assert_eq!(
        called("with_prepare", json!({"city": "Tokyo", "days": 2})),
        "Tokyo 2"
    );
    assert_eq!(
        called("with_prepare", json!({"town": "nowhere"})),
        "error: there is no such town"
    );
}

/// Any error will do.
fn parsed(mut args: Args) -> std::result::Result<Args, std::num::ParseIntError> {
    let number: i64 = args["number"].as_str().unwrap_or("0").parse()?;
    args.insert("number".to_owned(), number.into());
    Ok(args)
}

#[tool(prepare = parsed)]
fn with_prepare_of_another_error(number: i64) -> i64 {
    number
}

#[test]
fn prepare_may_fail_with_any_error() {
    assert_eq!(
        called("with_prepare_of_another_error", json!({"number": "5"})),
        "5"
    );
    assert_eq!(
        called("with_prepare_of_another_error", json!({"number": "x"})),
        "error: invalid digit found in string"
    );
}

mod rules {
    use tool_sdk::prelude::*;

    pub(super) fn not_both(args: &Args) -> Option<String> {
        (!args["from"].is_null() && !args["to"].is_null())
            .then(|| "give `from` or `to`, not both".to_owned())
    }

    pub(super) fn limited<const MAX: u64>(args: &Args) -> Result<(), String> {
        match args["count"].as_u64() {
            Some(count) if count > MAX => Err(format!("at most {MAX}")),
            _ => Ok(()),
        }
    }
}

#[tool(validate = rules::not_both)]
fn with_optional_verdict(from: Option<u8>, to: Option<u8>) -> String {
    format!("{from:?} {to:?}")
}

#[tool(validate = rules::limited::<3>)]
fn with_result_verdict(#[arg(default = 2)] count: u8) -> u8 {
    count
}

#[test]
fn y16_validate_sees_the_arguments_and_refuses_with_a_text() {
    assert_eq!(
        called("with_optional_verdict", json!({"from": 1})),
        "Some(1) None"
    );
    let error = testing::run("with_optional_verdict", json!({"from": 1, "to": 2})).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArguments);
    assert_eq!(error.message(), "give `from` or `to`, not both");
}

#[test]
fn y16_validate_may_answer_with_a_result() {
    assert_eq!(called("with_result_verdict", json!({})), "2");
    assert_eq!(
        called("with_result_verdict", json!({"count": 4})),
        "error: at most 3"
    );
}

fn renamed(mut args: Args) -> Result<Args> {
    let count = args["n"].take();
    args.insert("count".to_owned(), count);
    Ok(args)
}

/// Shows its schema and enforces only its validator.
#[tool(validate = rules::not_both, validate_only)]
fn only_validated(a: Option<i64>) -> String {
    format!("{a:?}")
}

#[test]
fn r9_validator_may_stand_instead_of_the_schema() {
    assert!(testing::describe("only_validated").unwrap().validate_only);
    assert!(
        !testing::describe("with_result_verdict")
            .unwrap()
            .validate_only
    );
}

#[tool(prepare = renamed, validate = rules::limited::<3>)]
async fn with_both_hooks(count: u8) -> u8 {
    count
}

#[test]
fn validate_sees_what_prepare_made() {
    assert_eq!(called("with_both_hooks", json!({"n": 3})), "3");
    assert_eq!(
        called("with_both_hooks", json!({"n": 4})),
        "error: at most 3"
    );
}
