//! What the author of a tool that may serve may want to know about it.

use serde_json::Value;
use tool_sdk::tool::ToolDescription;

use super::super::contract::Finding;
use super::{error, warning};
use crate::plugin::Reason;
use crate::tool::ArgumentSchema;
use crate::tool::preset::{arguments, hide};

/// Longest description that every provider takes, in characters.
const LONGEST: usize = 1024;

/// How many references are followed before they are taken for a circle.
const REFERENCES: usize = 8;

/// Everything there is to say of one tool.
pub(super) fn on(tool: &ToolDescription) -> Vec<Finding> {
    let of_tool = |finding: Finding| Finding {
        tool: Some(tool.name.clone()),
        ..finding
    };
    let all = schema(tool).into_iter().chain(texts(tool));
    all.map(of_tool).collect()
}

/// A schema that is not usable makes its tool impossible to call.
fn schema(tool: &ToolDescription) -> Option<Finding> {
    let whole = ArgumentSchema::compile(&tool.input_schema);
    let shown = || ArgumentSchema::compile(&hide(&tool.input_schema, &tool.presets));
    let wrong = whole.and_then(|_| shown()).err()?;
    let text = format!("tool `{}` can't be called: {}", tool.name, wrong.reason);
    Some(Finding {
        pointer: Some(wrong.pointer),
        ..error(Reason::new("badSchema", text))
    })
}

fn texts(tool: &ToolDescription) -> Vec<Finding> {
    let name = &tool.name;
    let mut findings = Vec::new();
    if tool.description.trim().is_empty() {
        let text = format!("tool `{name}` has no description: write a doc comment above it");
        findings.push(warning("noDescription", text));
    }
    let length = tool.description.chars().count();
    if length > LONGEST {
        let text = format!(
            "the description of tool `{name}` has {length} characters, some providers take no \
             more than {LONGEST}"
        );
        findings.push(warning("longDescription", text));
    }
    let root = &tool.input_schema;
    let shown = arguments(root).filter(|argument| !tool.presets.iter().any(|one| one == argument));
    for argument in shown {
        let described = root
            .get("properties")
            .and_then(|properties| properties.get(argument))
            .is_none_or(|property| explains_itself(root, property, 0));
        if !described {
            let text = format!(
                "argument `{argument}` of tool `{name}` has no description: write a doc comment \
                 above it"
            );
            findings.push(Finding {
                pointer: Some(format!("/properties/{}", escaped(argument))),
                ..warning("noDescription", text)
            });
        }
    }
    findings
}

/// Whether a model can tell what belongs there: by a description, or by the words to choose from.
fn explains_itself(root: &Value, property: &Value, depth: usize) -> bool {
    let has_text = property
        .get("description")
        .and_then(Value::as_str)
        .is_some_and(|text| !text.trim().is_empty());
    if has_text || property.get("enum").is_some() || property.get("const").is_some() {
        return true;
    }
    if depth > REFERENCES {
        return false;
    }
    let reference = property.get("$ref").and_then(Value::as_str);
    let target = reference.and_then(|at| root.pointer(at.strip_prefix('#')?));
    let branches = ["anyOf", "oneOf", "allOf"].into_iter();
    let branches = branches.filter_map(|keyword| property.get(keyword)?.as_array());
    branches
        .flatten()
        .chain(target)
        .any(|part| explains_itself(root, part, depth + 1))
}

/// A name as a part of a JSON pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The code and pointer of each finding on a tool with this description and these properties.
    fn found(description: &str, properties: &Value) -> Vec<(String, Option<String>)> {
        let tool = json!({
            "package": "p", "name": "t", "label": "T", "description": description,
            "inputSchema": {
                "type": "object", "properties": properties,
                "$defs": {
                    "described": {"type": "object", "description": "d"},
                    "choice": {"type": "string", "enum": ["a", "b"]},
                    "circle": {"$ref": "#/$defs/circle"},
                },
            },
            "presets": ["key"],
        });
        let tool: ToolDescription = serde_json::from_value(tool).unwrap();
        let findings = texts(&tool).into_iter();
        findings.map(|one| (one.code, one.pointer)).collect()
    }

    fn code(code: &str, pointer: Option<&str>) -> (String, Option<String>) {
        (code.to_owned(), pointer.map(str::to_owned))
    }

    #[test]
    fn description_that_is_missing_or_too_long_is_told() {
        assert_eq!(found("Does.", &json!({})), []);
        assert_eq!(found(" \n", &json!({})), [code("noDescription", None)]);
        assert_eq!(found(&"ä".repeat(1024), &json!({})), []);
        assert_eq!(
            found(&"a".repeat(1025), &json!({})),
            [code("longDescription", None)]
        );
    }

    #[test]
    fn argument_without_a_description_is_told_unless_its_type_says_it_all() {
        let properties = json!({
            "told": {"type": "string", "description": "d"},
            "key": {"type": "string"},
            "a/b": {"type": "string"},
            "empty": {"type": "string", "description": ""},
            "choice": {"$ref": "#/$defs/choice", "default": "a"},
            "optional": {"anyOf": [{"$ref": "#/$defs/described"}, {"type": "null"}]},
            "circle": {"$ref": "#/$defs/circle"},
        });
        assert_eq!(
            found("Does.", &properties),
            [
                code("noDescription", Some("/properties/a~1b")),
                code("noDescription", Some("/properties/empty")),
                code("noDescription", Some("/properties/circle")),
            ]
        );
    }
}
