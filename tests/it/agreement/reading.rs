//! What the host accepts, the tool reads, and reads all of it; what the host refuses although the
//! tool would read it, it refuses for a keyword of a written list.

mod refusal;
mod survival;

use std::cell::Cell;

use agent_core::tool::ArgumentSchema;
use jsonschema::Validator;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use serde_json::{Value, json};
use tool_sdk::ErrorKind;
use tool_sdk::testing;

use super::generator;
use super::schema;
use survival::Survival;

/// A tool with its schema, as host and plugin see them.
struct Tool {
    name: &'static str,
    schema: Value,
    host: ArgumentSchema,
    validator: Validator,
    survival: Survival,
}

impl Tool {
    fn new(name: &'static str) -> Self {
        let description = testing::describe(name).unwrap();
        assert_eq!(description.problems, [""; 0]);
        let schema = description.input_schema;
        Self {
            name,
            host: ArgumentSchema::compile(&schema).unwrap(),
            validator: schema::validator(&schema).unwrap(),
            survival: Survival::of(&schema),
            schema,
        }
    }

    /// What the plugin makes of arguments: what it got, as JSON.
    fn read(&self, arguments: &Value) -> Result<Value, String> {
        match testing::run(self.name, arguments.clone()) {
            Ok(run) => Ok(run.result.structured_content.unwrap_or_else(|| json!({}))),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::InvalidArguments, "{error}");
                Err(error.to_string())
            }
        }
    }

    /// Checks arguments as they were sent; whether the host accepts them.
    fn check(&self, text: &str) -> Result<bool, String> {
        let sent: Value = serde_json::from_str(text).unwrap();
        let known = [
            self.host.check(&sent, Some(text)),
            self.host.check(&sent, None),
        ];
        for checked in known.iter().flatten() {
            let arguments = &checked.arguments;
            if !self.validator.is_valid(arguments) {
                return Err(format!("accepted as {arguments}, which is not valid"));
            }
            let got = self
                .read(arguments)
                .map_err(|error| format!("accepted as {arguments}, but not read: {error}"))?;
            self.survival
                .check(arguments, &got)
                .map_err(|lost| format!("accepted as {arguments}, read as {got}: {lost}"))?;
        }
        if let Ok(accepted) = self.host.accept(sent.clone())
            && known
                .iter()
                .any(|checked| checked.as_ref() != Ok(&accepted))
        {
            return Err(format!(
                "accepted as {accepted:?}, but checked as {known:?}"
            ));
        }
        if known.iter().all(Result::is_err) && self.read(&sent).is_ok() {
            refusal::check(&self.schema, &self.validator, &sent)
                .map_err(|why| format!("read, but refused for {why}"))?;
        }
        Ok(known.iter().any(Result::is_ok))
    }
}

/// How many arguments are tried on each tool.
fn cases() -> u32 {
    if std::env::var_os("TOOLSMITH_LONG").is_some() {
        5_000
    } else {
        256
    }
}

/// Tries arguments of all kinds on a tool, and that there are enough of both kinds.
pub(super) fn check(name: &'static str) {
    let tool = Tool::new(name);
    let config = Config {
        cases: cases(),
        failure_persistence: None,
        ..Config::default()
    };
    let (accepted, refused) = (Cell::new(0), Cell::new(0));
    let run = TestRunner::new(config).run(&generator::sent(&tool.schema), |text| {
        let count = match tool.check(&text) {
            Ok(true) => &accepted,
            Ok(false) => &refused,
            Err(wrong) => return Err(TestCaseError::fail(wrong)),
        };
        count.set(count.get() + 1);
        Ok(())
    });
    if let Err(error) = run {
        panic!("{name}: {error}\nschema: {}", tool.schema);
    }
    let (accepted, refused) = (accepted.get(), refused.get());
    assert!(
        accepted.min(refused) > cases() / 10,
        "{accepted} accepted, {refused} refused"
    );
}
