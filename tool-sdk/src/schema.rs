//! The JSON Schema of a tool: one property an argument, what its type accepts, narrowed by what
//! its author wrote.

mod keywords;
mod rewrite;

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Number, Value, json};

use self::rewrite::{rewrite, rewrite_result, with_notes};
use crate::docs::{self, FunctionDocs};
use crate::tool::{ArgumentRecord, Shape};

/// The schema of a tool's arguments. What an author wrote and does not fit is added to `problems`.
pub(crate) fn input(
    arguments: &[ArgumentRecord],
    docs: &FunctionDocs,
    problems: &mut Vec<String>,
) -> Value {
    let mut generator = generator(Direction::In);
    let mut properties = Map::new();
    let mut required = Vec::new();
    for argument in arguments {
        let shape = (argument.shape)(&mut generator);
        if !shape.optional && argument.default.is_none() {
            required.push(Value::from(argument.name));
        }
        let property = property(argument, shape.schema, docs, problems);
        properties.insert(argument.name.to_owned(), property);
    }
    let mut root = Map::new();
    root.insert("type".to_owned(), "object".into());
    root.insert("properties".to_owned(), properties.into());
    if !required.is_empty() {
        root.insert("required".to_owned(), required.into());
    }
    root.insert("additionalProperties".to_owned(), false.into());
    add_definitions(&mut root, &mut generator, |schema| {
        rewrite(schema, problems);
    });
    root.into()
}

/// The schema of the settings of a `#[plugin_state]`.
pub(crate) fn settings(
    settings: fn(&mut SchemaGenerator) -> Shape,
    problems: &mut Vec<String>,
) -> Value {
    let mut generator = generator(Direction::In);
    let mut schema = settings(&mut generator).schema.to_value();
    rewrite(&mut schema, problems);
    if schema.get("type").is_none_or(|kind| kind != "object") {
        let text = "settings are a table: take a struct with `#[tool_type]`";
        problems.push(text.to_owned());
    }
    if let Some(root) = schema.as_object_mut() {
        add_definitions(root, &mut generator, |schema| {
            rewrite(schema, problems);
        });
    }
    schema
}

/// The schema of a tool's structured result. Clients expect an object: anything else is text only.
pub(crate) fn output(output: fn(&mut SchemaGenerator) -> Option<Schema>) -> Option<Value> {
    let mut generator = generator(Direction::Out);
    let mut schema = output(&mut generator)?.to_value();
    rewrite_result(&mut schema);
    let root = schema.as_object_mut()?;
    if root.get("type").and_then(Value::as_str) != Some("object") {
        return None;
    }
    add_definitions(root, &mut generator, rewrite_result);
    Some(schema)
}

/// Whether serde reads a type or writes it, which may differ.
#[derive(Clone, Copy)]
enum Direction {
    In,
    Out,
}

/// Everything but recursive types is inlined: many clients do not follow `$ref`.
fn generator(direction: Direction) -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12();
    let settings = match direction {
        Direction::In => settings.for_deserialize(),
        Direction::Out => settings.for_serialize(),
    };
    settings
        .with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        })
        .into_generator()
}

/// Adds a keyword beside one of the same name that goes on to hold.
fn also(schema: &mut Map<String, Value>, keyword: &str, value: Value) {
    if !schema.contains_key(keyword) {
        schema.insert(keyword.to_owned(), value);
        return;
    }
    let all = schema.entry("allOf").or_insert_with(|| json!([]));
    if let Value::Array(all) = all {
        all.push(json!({keyword: value}));
    }
}

/// Whether the first number is the smaller one; whole numbers are compared exactly.
fn less(a: &Number, b: &Number) -> bool {
    match (a.as_i128(), b.as_i128()) {
        (Some(a), Some(b)) => a < b,
        _ => a.as_f64() < b.as_f64(),
    }
}

fn add_definitions(
    root: &mut Map<String, Value>,
    generator: &mut SchemaGenerator,
    rewrite: impl FnMut(&mut Value),
) {
    let mut definitions = generator.take_definitions(true);
    if definitions.is_empty() {
        return;
    }
    definitions.values_mut().for_each(rewrite);
    root.insert("$defs".to_owned(), definitions.into());
}

/// Type first, then the description, then the rest, default and examples last.
fn property(
    argument: &ArgumentRecord,
    schema: Schema,
    docs: &FunctionDocs,
    problems: &mut Vec<String>,
) -> Value {
    let mut schema = schema.to_value();
    let mut misfits = Vec::new();
    rewrite(&mut schema, &mut misfits);
    let mut keywords = match schema {
        Value::Object(keywords) => keywords,
        // `true` and `false` are schemas too.
        boolean => Map::from_iter((boolean == false).then(|| ("not".to_owned(), json!({})))),
    };
    let of_type = keywords.shift_remove("description");
    let own = Some(docs::text(argument.docs)).filter(|text| !text.is_empty());
    let listed = || {
        docs.arguments
            .iter()
            .find(|(name, _)| name == argument.name || name == argument.ident)
    };
    let description = own
        .or_else(|| listed().map(|(_, text)| text.clone()))
        .map(|text| with_notes(&text, of_type.as_ref()).into())
        .or(of_type);

    let mut property = Map::new();
    if let Some(kind) = keywords.shift_remove("type") {
        property.insert("type".to_owned(), kind);
    }
    if let Some(description) = description {
        property.insert("description".to_owned(), description);
    }
    property.append(&mut keywords);
    misfits.extend(keywords::apply(&mut property, argument.keywords));
    let named = |misfit| format!("argument `{}`: {misfit}", argument.name);
    problems.extend(misfits.into_iter().map(named));
    match argument.default.map(keywords::made) {
        Some(Ok(default)) => drop(property.insert("default".to_owned(), default)),
        Some(Err(problem)) => problems.push(named(format!("`default`: {problem}"))),
        None => {}
    }
    if let Some(examples) = property.shift_remove("examples") {
        property.insert("examples".to_owned(), examples);
    }
    property.into()
}
