//! Every default and every example is valid where it stands.

use serde_json::Value;
use tool_sdk::testing;

use super::schema::{Keywords, parts, validator};

pub(super) fn check(tool: &str) {
    let root = testing::describe(tool).unwrap().input_schema;
    let mut wrong = Vec::new();
    for (pointer, part) in parts(&root) {
        let validator = validator(&alone(part, &root)).unwrap();
        let listed = part.get("examples").and_then(Value::as_array);
        for value in part
            .get("default")
            .into_iter()
            .chain(listed.into_iter().flatten())
        {
            let errors: Vec<String> = validator
                .iter_errors(value)
                .map(|error| error.to_string())
                .collect();
            if !errors.is_empty() {
                wrong.push(format!("{value} at `{pointer}`: {errors:?}"));
            }
        }
    }
    assert_eq!(wrong, [""; 0], "{tool}");
}

/// A part of a schema as one of its own, with what it refers to.
fn alone(part: &Keywords, root: &Value) -> Value {
    let mut alone = part.clone();
    if let Some(definitions) = root.get("$defs") {
        alone.insert("$defs".to_owned(), definitions.clone());
    }
    alone.into()
}
