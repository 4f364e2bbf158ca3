//! What a tool's author declared and what can be judged without running the tool: defaults and
//! examples that its own schema refuses, patterns that are none.
//!
//! A schema that is not usable at all is no mistake of this kind: it costs its own tool only, when
//! the tool is published.

use std::collections::HashSet;

use serde_json::{Map, Value};
use tool_sdk::tool::{Example, ToolDescription};

use super::shape::{all_of, allows_null, escape, resolve};
use super::{ArgumentSchema, Pattern, Problem, preset};
use crate::json_text::{shortened, spaced};

/// How much of a value is quoted, in characters.
const VALUE_LENGTH: usize = 200;

/// Whether a tool may be taken; the error says what is wrong with it, and where it is declared.
///
/// # Errors
/// Every mistake at once.
pub(crate) fn check(tool: &ToolDescription) -> Result<(), String> {
    let mistakes = mistakes(tool);
    if mistakes.is_empty() {
        return Ok(());
    }
    Err(format!("{}: {}", place(tool), mistakes.join("; ")))
}

/// What to say of two tools of one package that have the same name, with that name.
pub(crate) fn twins(one: &ToolDescription, other: &ToolDescription) -> Option<(String, String)> {
    if one.name != other.name {
        return None;
    }
    let reason = format!(
        "{} and {} declare it both; rename one of them",
        place(one),
        place(other)
    );
    Some((one.name.clone(), reason))
}

/// Everything that is wrong with a declaration, one sentence each.
fn mistakes(tool: &ToolDescription) -> Vec<String> {
    let mut found = tool.problems.clone();
    found.extend(tool.examples.iter().filter_map(wrong_pattern));
    if let Ok(schema) = ArgumentSchema::compile(&tool.input_schema) {
        found.extend(
            stated(schema.json())
                .iter()
                .filter_map(|one| one.mistake(&schema)),
        );
    }
    let shown = preset::hide(&tool.input_schema, &tool.presets);
    if !tool.examples.is_empty()
        && let Ok(schema) = ArgumentSchema::compile(&shown)
    {
        let schema = schema.hiding(tool.presets.clone());
        let wrong = |example| wrong_example(&schema, example);
        found.extend(tool.examples.iter().filter_map(wrong));
    }
    found
}

/// Where a tool is declared, if it says so.
fn place(tool: &ToolDescription) -> String {
    if tool.file.is_empty() {
        "an unknown place".to_owned()
    } else {
        format!("{}:{}", tool.file, tool.line)
    }
}

fn wrong_pattern(example: &Example) -> Option<String> {
    let pattern = example.expect_pattern.as_ref()?;
    Pattern::new(pattern).err().map(|reason| {
        format!("an example expects a text that matches {pattern:?}, which is no regular expression: {reason}")
    })
}

/// A model calls the tool without presets, so an example does too.
fn wrong_example(schema: &ArgumentSchema, example: &Example) -> Option<String> {
    let problems = schema.problems(&example.arguments).listed;
    let lines: Vec<String> = problems.iter().map(Problem::line).collect();
    (!lines.is_empty()).then(|| {
        let arguments = shortened(&spaced(&example.arguments), VALUE_LENGTH);
        format!(
            "the example {arguments} does not fit the tool's arguments: {}",
            lines.join("; ")
        )
    })
}

/// A value that stands in a schema and that this schema should accept.
struct Stated<'s> {
    /// `default` or `example`.
    what: &'static str,
    /// From the arguments to the value.
    path: Vec<Step<'s>>,
    value: &'s Value,
}

/// One step from a value to a part of it.
#[derive(Clone, Copy)]
enum Step<'s> {
    Name(&'s str),
    Item,
}

impl Stated<'_> {
    /// What the schema has against the value.
    fn mistake(&self, schema: &ArgumentSchema) -> Option<String> {
        let at = self.pointer();
        // Whatever else the arguments lack has other pointers.
        let problems = schema.problems(&self.arguments()).listed;
        let own: Vec<String> = problems
            .iter()
            .filter_map(|problem| told(problem, problem.pointer.strip_prefix(&at)?))
            .collect();
        (!own.is_empty()).then(|| {
            let (what, value) = (self.what, shortened(&spaced(self.value), VALUE_LENGTH));
            let (name, own) = (self.name(), own.join("; "));
            format!("the {what} {value} of argument `{name}` does not fit: {own}")
        })
    }

    /// Arguments that hold nothing but this value.
    fn arguments(&self) -> Value {
        let steps = self.path.iter().rev();
        steps.fold(self.value.clone(), |value, step| match step {
            Step::Name(name) => Map::from_iter([((*name).to_owned(), value)]).into(),
            Step::Item => vec![value].into(),
        })
    }

    fn pointer(&self) -> String {
        let steps = self.path.iter().map(|step| match step {
            Step::Name(name) => format!("/{}", escape(name)),
            Step::Item => "/0".to_owned(),
        });
        steps.collect()
    }

    fn name(&self) -> String {
        let mut name = String::new();
        for step in &self.path {
            match step {
                Step::Name(step) if name.is_empty() => name.push_str(step),
                Step::Name(step) => name.extend([".", step]),
                Step::Item => name.push_str("[]"),
            }
        }
        name
    }
}

/// A problem of the value itself, or of what lies in it at `rest`.
fn told(problem: &Problem, rest: &str) -> Option<String> {
    match rest {
        "" => Some(problem.without_value()),
        _ if rest.starts_with('/') => Some(format!("{rest}: {}", problem.without_value())),
        _ => None,
    }
}

/// Every default and every example that stands in a schema, but for those behind a choice: which
/// branch a value takes is not known.
fn stated(root: &Value) -> Vec<Stated<'_>> {
    let mut walk = Walk {
        root,
        path: Vec::new(),
        looked_at: HashSet::new(),
        found: Vec::new(),
    };
    walk.schema(root);
    walk.found
}

struct Walk<'s> {
    root: &'s Value,
    path: Vec<Step<'s>>,
    /// By address: a schema that refers to itself is looked at once.
    looked_at: HashSet<*const Value>,
    found: Vec<Stated<'s>>,
}

impl<'s> Walk<'s> {
    fn schema(&mut self, schema: &'s Value) {
        if !self.looked_at.insert(std::ptr::from_ref(schema)) {
            return;
        }
        self.note(schema);
        let target = resolve(self.root, schema);
        if !std::ptr::eq(target, schema) {
            return self.schema(target);
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            self.step(Step::Name(name), property);
        }
        if let Some(items) = schema.get("items").filter(|items| items.is_object())
            && schema.get("prefixItems").is_none()
        {
            self.step(Step::Item, items);
        }
        for part in all_of(schema) {
            self.schema(part);
        }
    }

    fn step(&mut self, step: Step<'s>, schema: &'s Value) {
        self.path.push(step);
        self.schema(schema);
        self.path.pop();
    }

    fn note(&mut self, schema: &'s Value) {
        if self.path.is_empty() {
            return;
        }
        // Many schemas say `"default": null` where they mean that there is none.
        let default = schema
            .get("default")
            .filter(|default| !default.is_null() || allows_null(self.root, schema));
        let examples = schema.get("examples").and_then(Value::as_array);
        let defaults = default.into_iter().map(|value| ("default", value));
        let examples = examples
            .into_iter()
            .flatten()
            .map(|value| ("example", value));
        for (what, value) in defaults.chain(examples) {
            self.found.push(Stated {
                what,
                path: self.path.clone(),
                value,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn described(tool: &Value) -> ToolDescription {
        let mut full = json!({
            "package": "p", "name": "t", "label": "T", "description": "d",
            "inputSchema": {"type": "object", "properties": {}, "additionalProperties": false},
        });
        let given = tool.as_object().into_iter().flatten();
        given.for_each(|(key, value)| full[key] = value.clone());
        serde_json::from_value(full).unwrap()
    }

    /// Checks the mistakes of a tool with these properties.
    #[expect(clippy::needless_pass_by_value, reason = "callers write `json!(…)`")]
    fn check_properties(properties: Value, expected: &[&str]) {
        let tool = described(&json!({"inputSchema": {
            "type": "object",
            "properties": properties,
            "required": properties.as_object().unwrap().keys().collect::<Vec<_>>(),
            "additionalProperties": false,
            "$defs": {
                "unit": {"type": "string", "enum": ["m", "km"]},
                "tree": {"type": "object", "properties": {
                    "depth": {"type": "integer", "default": "deep"},
                    "child": {"$ref": "#/$defs/tree"},
                }},
            },
        }}));
        assert_eq!(mistakes(&tool), expected, "{properties}");
    }

    #[test]
    fn r29_default_that_breaks_its_own_schema_is_told_with_value_and_schema() {
        let check = |property: Value, expected: &[&str]| {
            check_properties(
                json!({"a": property, "other": {"type": "string"}}),
                expected,
            );
        };
        check(json!({"type": "integer", "default": 3}), &[]);
        check(
            json!({"type": "integer", "maximum": 10, "default": 20}),
            &["the default 20 of argument `a` does not fit: too large (expected at most 10)"],
        );
        check(
            json!({"type": "string", "enum": ["x", "y"], "default": "z"}),
            &[
                "the default \"z\" of argument `a` does not fit: not one of the allowed values \
               (expected one of \"x\", \"y\")",
            ],
        );
        check(
            json!({"type": "integer", "default": "3"}),
            &["the default \"3\" of argument `a` does not fit: wrong type (expected integer)"],
        );
        check(json!({"$ref": "#/$defs/unit", "default": "km"}), &[]);
        check(
            json!({"$ref": "#/$defs/unit", "default": "mile"}),
            &[
                "the default \"mile\" of argument `a` does not fit: not one of the allowed values \
               (expected one of \"m\", \"km\")",
            ],
        );
        check(json!({"type": "string", "default": null}), &[]);
        check(json!({"type": ["string", "null"], "default": null}), &[]);
        check(
            json!({"type": "string", "examples": ["ok", 5]}),
            &["the example 5 of argument `a` does not fit: wrong type (expected string)"],
        );
    }

    #[test]
    fn r29_defaults_are_judged_at_every_depth() {
        let inner = json!({"type": "object", "required": ["x"], "properties": {
            "x": {"type": "integer"},
            "y/z": {"type": "integer", "minimum": 1, "default": 0},
        }});
        check_properties(
            json!({"list": {"type": "array", "items": inner}}),
            &[
                "the default 0 of argument `list[].y/z` does not fit: too small (expected at least 1)",
            ],
        );
        check_properties(
            json!({"a": {"default": {"y/z": 0}, "anyOf": [{"type": "null"}, inner]}}),
            &[
                "the default {\"y/z\": 0} of argument `a` does not fit: /x: missing required argument \
                 (expected integer); /y~1z: too small (expected at least 1)",
                "the default 0 of argument `a.y/z` does not fit: too small (expected at least 1)",
            ],
        );
        check_properties(
            json!({"tree": {"$ref": "#/$defs/tree"}}),
            &[
                "the default \"deep\" of argument `tree.depth` does not fit: wrong type (expected integer)",
            ],
        );
    }

    #[test]
    fn schema_that_is_not_usable_is_no_mistake_of_this_kind() {
        check_properties(json!({"a": {"pattern": "([", "default": 3}}), &[]);
    }

    #[test]
    fn examples_are_calls_that_a_model_may_make() {
        let check = |example: Value, expected: &[&str]| {
            let tool = described(&json!({
                "inputSchema": {
                    "type": "object",
                    "properties": {"city": {"type": "string"}, "api_key": {"type": "string"}},
                    "required": ["city", "api_key"],
                    "additionalProperties": false,
                },
                "presets": ["api_key"],
                "examples": [example],
            }));
            assert_eq!(mistakes(&tool), expected);
        };
        check(json!({"arguments": {"city": "Oslo"}}), &[]);
        check(
            json!({"arguments": {"town": 1}}),
            &[
                "the example {\"town\": 1} does not fit the tool's arguments: /city: missing required \
               argument (expected string); /town: unknown argument (allowed: city)",
            ],
        );
        check(
            json!({"arguments": {"city": "Oslo", "api_key": "k"}}),
            &[
                "the example {\"city\": \"Oslo\", \"api_key\": \"k\"} does not fit the tool's arguments: \
               /api_key: unknown argument (allowed: city)",
            ],
        );
        check(
            json!({"arguments": {"city": "Oslo"}, "expectPattern": "(["}),
            &[
                "an example expects a text that matches \"([\", which is no regular expression: \
               \"([\" is not a \"regex\"",
            ],
        );
    }

    #[test]
    fn what_the_sdk_found_is_passed_on() {
        let tool = described(&json!({"problems": ["a", "b"], "file": "src/lib.rs", "line": 7}));
        assert_eq!(check(&tool), Err("src/lib.rs:7: a; b".to_owned()));
        assert_eq!(check(&described(&json!({}))), Ok(()));
    }

    #[test]
    fn r26_twins_are_told_with_both_places() {
        let tool = |name: &str, line: u32| {
            described(&json!({"name": name, "file": "src/lib.rs", "line": line}))
        };
        let reason = "src/lib.rs:3 and src/lib.rs:9 declare it both; rename one of them";
        assert_eq!(
            twins(&tool("a", 3), &tool("a", 9)),
            Some(("a".to_owned(), reason.to_owned()))
        );
        assert_eq!(twins(&tool("a", 3), &tool("b", 9)), None);
    }
}
