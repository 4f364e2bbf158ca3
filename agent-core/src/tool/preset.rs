//! Arguments whose values come from the configuration and not from a model (R13): a tool's schema
//! without them, and their values judged by it.
//!
//! What is said of a value never shows it. Where values come from is not known here.

use serde_json::{Map, Value};

use super::problem::MISSING;
use super::shape::{mentions, unescape};
use super::{ArgumentSchema, Problem, SchemaError};

/// Keywords whose schemas describe the same object as the schema that they stand in.
const IN_PLACE: [&str; 7] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"];

/// Keywords that hold something for each name.
const BY_NAME: [&str; 4] = [
    "properties",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
];

/// Keywords that hold schemas to refer to.
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// What is wrong with the value of one argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Misfit {
    /// The argument.
    pub(crate) argument: String,
    /// Whether there is no value at all.
    pub(crate) missing: bool,
    /// What is wrong, and what is expected; nothing of the value.
    pub(crate) problem: String,
}

/// Why values can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// The tool's schema is not usable at all.
    Schema(SchemaError),
    /// These values are wrong.
    Values(Vec<Misfit>),
}

/// The names of a tool's arguments.
pub(crate) fn arguments(schema: &Value) -> impl Iterator<Item = &str> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flat_map(|names| names.keys().map(String::as_str))
}

/// The schema without these arguments.
pub(crate) fn hide(schema: &Value, names: &[String]) -> Value {
    let mut rest = schema.clone();
    take_out(&mut rest, names);
    drop_definitions(&mut rest, schema);
    rest
}

fn take_out(schema: &mut Value, names: &[String]) {
    let Value::Object(keywords) = schema else {
        return;
    };
    for keyword in BY_NAME {
        let by_name = keywords.get_mut(keyword).and_then(Value::as_object_mut);
        let Some(by_name) = by_name else { continue };
        by_name.retain(|name, _| !names.contains(name));
        if keyword != "properties" {
            for value in by_name.values_mut() {
                take_out_of_list(value, names);
                take_out(value, names);
            }
        }
    }
    if let Some(required) = keywords.get_mut("required") {
        take_out_of_list(required, names);
        if required.as_array().is_some_and(Vec::is_empty) {
            keywords.shift_remove("required");
        }
    }
    for keyword in IN_PLACE {
        match keywords.get_mut(keyword) {
            Some(Value::Array(parts)) => parts.iter_mut().for_each(|part| take_out(part, names)),
            Some(part) => take_out(part, names),
            None => {}
        }
    }
}

fn take_out_of_list(list: &mut Value, names: &[String]) {
    if let Value::Array(list) = list {
        list.retain(|item| names.iter().all(|name| item != name));
    }
}

/// Drops the definitions that only hidden arguments referred to.
fn drop_definitions(rest: &mut Value, whole: &Value) {
    for keyword in DEFINITIONS {
        while let Some(name) = unused(rest, whole, keyword) {
            if let Some(definitions) = rest.get_mut(keyword).and_then(Value::as_object_mut) {
                definitions.shift_remove(&name);
                if definitions.is_empty()
                    && let Some(keywords) = rest.as_object_mut()
                {
                    keywords.shift_remove(keyword);
                }
            }
        }
    }
}

/// A definition that was referred to and is not any more.
fn unused(rest: &Value, whole: &Value, keyword: &str) -> Option<String> {
    let definitions = rest.get(keyword)?.as_object()?;
    let refers = |schema: &Value, name: &str| {
        let target = format!("#/{keyword}/{name}");
        mentions(schema, "$ref", |reference| *reference == target)
    };
    let unused = definitions.keys().find(|name| {
        let mut others = rest.clone();
        if let Some(definitions) = others.get_mut(keyword).and_then(Value::as_object_mut) {
            definitions.shift_remove(*name);
        }
        refers(whole, name) && !refers(&others, name)
    });
    unused.cloned()
}

/// Brings values to their declared types and fills defaults in, as is done for those of a model.
/// `names` are the arguments that must have one, unless they are optional.
pub(crate) fn fit(
    schema: &Value,
    names: &[String],
    values: Map<String, Value>,
) -> Result<Map<String, Value>, Unfit> {
    let compiled = ArgumentSchema::compile(&alone(schema, names)).map_err(Unfit::Schema)?;
    match compiled.check(&values.into(), None) {
        Ok(checked) => {
            let mut values = match checked.arguments {
                Value::Object(values) => values,
                _ => Map::new(),
            };
            values.retain(|name, _| names.contains(name));
            Ok(values)
        }
        Err(problems) => Err(Unfit::Values(problems.listed.iter().map(misfit).collect())),
    }
}

/// The schema of these arguments alone. The others stay, since schemas may refer to them, but
/// nothing demands them.
fn alone(schema: &Value, names: &[String]) -> Value {
    let kept = [
        "$schema",
        "type",
        "properties",
        "required",
        "$defs",
        "definitions",
    ];
    let kept = kept.into_iter();
    let kept = kept.filter_map(|keyword| Some((keyword.to_owned(), schema.get(keyword)?.clone())));
    let mut alone: Map<String, Value> = kept.collect();
    if let Some(Value::Array(required)) = alone.get_mut("required") {
        required.retain(|item| names.iter().any(|name| item == name));
    }
    alone.into()
}

/// Of a problem's pointer only the argument is kept: what follows are names inside the value.
fn misfit(problem: &Problem) -> Misfit {
    let mut steps = problem.pointer.split('/').skip(1);
    Misfit {
        argument: steps.next().map(unescape).unwrap_or_default(),
        missing: problem.problem == MISSING && steps.next().is_none(),
        problem: problem.without_value(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn r13_hidden_arguments_are_nowhere_in_the_schema() {
        let schema = json!({
            "type": "object",
            "properties": {
                "query": {"$ref": "#/$defs/word"},
                "api_key": {"$ref": "#/$defs/key"},
            },
            "required": ["api_key"],
            "dependentRequired": {"query": ["api_key"], "api_key": ["query"]},
            "anyOf": [{"required": ["api_key", "query"]}, {"properties": {"api_key": {}}}],
            "not": {"required": ["api_key"]},
            "additionalProperties": false,
            "$defs": {
                "word": {"type": "string"},
                "key": {"properties": {"next": {"$ref": "#/$defs/key"}, "part": {"$ref": "#/$defs/part"}}},
                "part": {"type": "string"},
            },
        });
        let expected = json!({
            "type": "object",
            "properties": {"query": {"$ref": "#/$defs/word"}},
            "dependentRequired": {"query": []},
            "anyOf": [{"required": ["query"]}, {"properties": {}}],
            "not": {},
            "additionalProperties": false,
            "$defs": {"word": {"type": "string"}},
        });
        assert_eq!(hide(&schema, &names(&["api_key"])), expected);
        assert_eq!(hide(&schema, &[]), schema);
    }

    #[test]
    fn r13_values_are_brought_to_their_types_and_completed() {
        let schema = json!({
            "type": "object",
            "properties": {
                "query": {"type": "string", "default": "x"},
                "port": {"type": "integer"},
                "host": {"type": "string", "default": "localhost"},
                "same": {"$ref": "#/properties/port"},
            },
            "required": ["query", "port", "same"],
        });
        let values = Map::from_iter([
            ("port".to_owned(), json!("80")),
            ("same".to_owned(), json!(81)),
        ]);
        let fitted = fit(&schema, &names(&["port", "host", "same"]), values).unwrap();
        assert_eq!(
            Value::from(fitted),
            json!({"port": 80, "same": 81, "host": "localhost"})
        );
    }

    #[test]
    fn r13_what_is_said_of_a_value_never_shows_it() {
        let check = |property: Value, value: Value, expected: &str| {
            let schema = json!({"type": "object", "properties": {"key": property}});
            let values = Map::from_iter([("key".to_owned(), value)]);
            let Err(Unfit::Values(misfits)) = fit(&schema, &names(&["key"]), values) else {
                panic!("{schema}");
            };
            let problems: Vec<&str> = misfits.iter().map(|one| one.problem.as_str()).collect();
            assert_eq!(problems, [expected], "{schema}");
            assert!(!format!("{misfits:?}").contains("hunter2"), "{misfits:?}");
        };
        let secret = || json!("hunter2");
        check(
            json!({"type": "integer"}),
            secret(),
            "wrong type (expected integer)",
        );
        check(
            json!({"type": "string", "minLength": 8}),
            secret(),
            "too short (expected at least 8 characters)",
        );
        check(
            json!({"enum": ["hunter"]}),
            secret(),
            "not one of the allowed values (expected one of \"hunter\")",
        );
        check(
            json!({"type": "string", "pattern": "^sk-"}),
            secret(),
            "wrong form (expected text that matches ^sk-)",
        );
        check(json!({"not": {"type": "string"}}), secret(), "not allowed");
        check(
            json!({"contentEncoding": "base64", "contains": {}, "maxProperties": 0, "type": "object"}),
            json!({"hunter2": 1}),
            "too many names (expected at most 0 names)",
        );
        check(
            json!({"type": "array", "contains": {"type": "integer"}}),
            json!(["hunter2"]),
            "not allowed",
        );
        check(
            json!({"type": "object", "properties": {"a": {}}, "additionalProperties": false}),
            json!({"hunter2": 1}),
            "unknown argument (expected a)",
        );
    }

    #[test]
    fn missing_value_is_told_apart() {
        let schema = json!({
            "type": "object",
            "properties": {"key": {"type": "string"}, "query": {"type": "string"}},
            "required": ["key", "query"],
        });
        let expected = Misfit {
            argument: "key".to_owned(),
            missing: true,
            problem: "missing required argument (expected string)".to_owned(),
        };
        assert_eq!(
            fit(&schema, &names(&["key"]), Map::new()),
            Err(Unfit::Values(vec![expected]))
        );
    }
}
