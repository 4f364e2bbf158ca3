//! Lossless coercion towards the declared type (R10, R2), and defaults at every depth.
//!
//! Both walk arguments and schema together. Only keywords that say what a value *is* are
//! followed; where a schema leaves a choice, a value is left as it was sent.

use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};

use super::Change;
use crate::limits;

/// Whether a keyword with a fitting value stands anywhere in the schema.
pub(super) fn mentions(schema: &Value, keyword: &str, fits: impl Fn(&Value) -> bool + Copy) -> bool {
    match schema {
        Value::Object(keywords) => keywords
            .iter()
            .any(|(key, value)| (key == keyword && fits(value)) || mentions(value, keyword, fits)),
        Value::Array(items) => items.iter().any(|item| mentions(item, keyword, fits)),
        _ => false,
    }
}

/// The schema that really describes a value: references followed, `X or null` taken as `X`.
pub(super) fn resolve<'s>(root: &'s Value, mut schema: &'s Value) -> &'s Value {
    // A chain longer than this is a circle.
    for _ in 0..16 {
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let Some(target) = reference.strip_prefix('#').and_then(|at| root.pointer(at)) else {
                return schema;
            };
            schema = target;
        } else if let Some(only) = non_null_branch(schema) {
            schema = only;
        } else {
            return schema;
        }
    }
    schema
}

fn non_null_branch(schema: &Value) -> Option<&Value> {
    let branches = schema.get("anyOf").or_else(|| schema.get("oneOf"))?.as_array()?;
    let is_null = |branch: &&Value| branch.get("type").and_then(Value::as_str) == Some("null");
    match branches.as_slice() {
        [one, null] | [null, one] if is_null(&null) && !is_null(&one) => Some(one),
        _ => None,
    }
}

/// The declared types; none when the schema does not say.
pub(super) fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(kind)) => vec![kind.as_str()],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Whether null is a value for this schema.
fn allows_null(root: &Value, schema: &Value) -> bool {
    let null = Value::Null;
    if let Some(options) = schema.get("enum").and_then(Value::as_array) {
        return options.contains(&null);
    }
    if let Some(constant) = schema.get("const") {
        return constant.is_null();
    }
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let target = reference.strip_prefix('#').and_then(|at| root.pointer(at));
        return target.is_none_or(|target| target != schema && allows_null(root, target));
    }
    let kinds = types(schema);
    if !kinds.is_empty() {
        return kinds.contains(&"null");
    }
    let branches = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array);
    branches.is_none_or(|branches| branches.iter().any(|branch| allows_null(root, branch)))
}

/// One walk over arguments that records what it changes.
pub(super) struct Walk<'a> {
    root: &'a Value,
    /// The arguments as they were sent, for numbers whose digits matter.
    text: Option<&'a str>,
    changes: &'a mut Vec<Change>,
    pointer: String,
}

impl<'a> Walk<'a> {
    pub(super) fn new(root: &'a Value, text: Option<&'a str>, changes: &'a mut Vec<Change>) -> Self {
        Self { root, text, changes, pointer: String::new() }
    }

    /// Brings the arguments to their declared types where nothing is lost by it.
    pub(super) fn coerce(mut self, arguments: &mut Value) {
        let root = self.root;
        self.value(root, arguments, 0);
    }

    fn value(&mut self, schema: &Value, value: &mut Value, depth: usize) {
        if depth > limits::ARGUMENT_DEPTH {
            return;
        }
        let schema = if value.is_null() { schema } else { resolve(self.root, schema) };
        if let Some(changed) = self.converted(schema, value) {
            let from = std::mem::replace(value, changed.clone());
            let pointer = self.pointer.clone();
            self.changes.push(Change { pointer, from, to: Some(changed) });
        }
        match value {
            Value::Object(object) => self.object(schema, object, depth),
            Value::Array(items) => self.array(schema, items, depth),
            _ => {}
        }
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.value(part, value, depth + 1);
        }
    }

    fn object(&mut self, schema: &Value, object: &mut Map<String, Value>, depth: usize) {
        let properties = schema.get("properties").and_then(Value::as_object);
        let rest = schema.get("additionalProperties").filter(|rest| rest.is_object());
        self.drop_absent(schema, properties, object);
        for (name, value) in object.iter_mut() {
            let property = properties.and_then(|properties| properties.get(name)).or(rest);
            if let Some(property) = property {
                self.below(name, |walk| walk.value(property, value, depth + 1));
            }
        }
    }

    /// R2: null for an optional argument means absent, where null is no value of it.
    fn drop_absent(
        &mut self,
        schema: &Value,
        properties: Option<&Map<String, Value>>,
        object: &mut Map<String, Value>,
    ) {
        let required = schema.get("required").and_then(Value::as_array);
        let absent: Vec<String> = object
            .iter()
            .filter(|(name, value)| {
                let property = properties.and_then(|properties| properties.get(*name));
                let demanded = required.is_some_and(|names| names.iter().any(|one| one == *name));
                value.is_null()
                    && !demanded
                    && property.is_some_and(|property| !allows_null(self.root, property))
            })
            .map(|(name, _)| name.clone())
            .collect();
        for name in absent {
            object.shift_remove(&name);
            let pointer = format!("{}/{}", self.pointer, escape(&name));
            self.changes.push(Change { pointer, from: Value::Null, to: None });
        }
    }

    fn array(&mut self, schema: &Value, items: &mut [Value], depth: usize) {
        let tuple = schema.get("prefixItems").and_then(Value::as_array);
        let rest = schema.get("items");
        for (index, item) in items.iter_mut().enumerate() {
            if let Some(of) = tuple.and_then(|tuple| tuple.get(index)).or(rest) {
                self.below(&index.to_string(), |walk| walk.value(of, item, depth + 1));
            }
        }
    }

    fn below(&mut self, name: &str, visit: impl FnOnce(&mut Self)) {
        let length = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(&escape(name));
        visit(self);
        self.pointer.truncate(length);
    }

    /// The same value in a declared type, if it has another type and nothing is lost.
    fn converted(&self, schema: &Value, value: &Value) -> Option<Value> {
        let types = types(schema);
        let wants = |kind: &str| types.contains(&kind);
        match value {
            _ if types.is_empty() => None,
            Value::String(text) if !wants("string") => from_text(text, &wants),
            Value::Number(number) if wants("integer") && !wants("number") && number.is_f64() => {
                integral(number).map(Value::Number)
            }
            Value::Number(number) if types == ["string"] => Some(Value::String(self.digits(number))),
            _ => None,
        }
    }

    /// The digits of a number as they were sent.
    fn digits(&self, number: &Number) -> String {
        let sent = self.text.and_then(|text| raw_at(text, &self.pointer));
        sent.unwrap_or_else(|| number.to_string())
    }
}

fn from_text(text: &str, wants: &impl Fn(&str) -> bool) -> Option<Value> {
    let text = text.trim();
    if wants("boolean") && (text == "true" || text == "false") {
        return Some(Value::Bool(text == "true"));
    }
    match serde_json::from_str(text).ok()? {
        Value::Number(number) if wants("number") => Some(Value::Number(number)),
        Value::Number(number) if wants("integer") && !number.is_f64() => Some(Value::Number(number)),
        Value::Number(number) if wants("integer") => integral(&number).map(Value::Number),
        container @ Value::Array(_) if wants("array") => Some(container),
        container @ Value::Object(_) if wants("object") => Some(container),
        _ => None,
    }
}

/// The integer that a float is, where it is one and an integer type can hold it.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "the bounds are compared before, and a float without a fraction converts exactly"
)]
fn integral(number: &Number) -> Option<Number> {
    let float = number.as_f64()?;
    if float.fract() != 0.0 {
        None
    } else if float >= i64::MIN as f64 && float < i64::MAX as f64 {
        Some((float as i64).into())
    } else if float >= 0.0 && float < u64::MAX as f64 {
        Some((float as u64).into())
    } else {
        None
    }
}

/// The text of the value at a pointer, as it was sent.
fn raw_at(text: &str, pointer: &str) -> Option<String> {
    let mut at: Box<RawValue> = serde_json::from_str(text).ok()?;
    for step in pointer.split('/').skip(1) {
        let key = step.replace("~1", "/").replace("~0", "~");
        let text = at.get().to_owned();
        at = if text.trim_start().starts_with('[') {
            let items: Vec<Box<RawValue>> = serde_json::from_str(&text).ok()?;
            items.into_iter().nth(key.parse().ok()?)?
        } else {
            let mut object: std::collections::HashMap<String, Box<RawValue>> =
                serde_json::from_str(&text).ok()?;
            object.remove(&key)?
        };
    }
    Some(at.get().to_owned())
}

/// A name as a step of a JSON pointer.
pub(super) fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Puts the schema's defaults where values are absent, at every depth.
pub(super) fn fill_defaults(root: &Value, arguments: &mut Value) {
    fill(root, root, arguments, 0);
}

fn fill(root: &Value, schema: &Value, value: &mut Value, depth: usize) {
    if depth > limits::ARGUMENT_DEPTH {
        return;
    }
    let schema = resolve(root, schema);
    match value {
        Value::Object(object) => {
            let properties = schema.get("properties").and_then(Value::as_object);
            for (name, property) in properties.into_iter().flatten() {
                if let Some(present) = object.get_mut(name) {
                    fill(root, property, present, depth + 1);
                } else if let Some(default) = property.get("default") {
                    object.insert(name.clone(), default.clone());
                }
            }
        }
        Value::Array(items) => {
            let tuple = schema.get("prefixItems").and_then(Value::as_array);
            for (index, item) in items.iter_mut().enumerate() {
                let of = tuple.and_then(|tuple| tuple.get(index)).or_else(|| schema.get("items"));
                if let Some(of) = of {
                    fill(root, of, item, depth + 1);
                }
            }
        }
        _ => {}
    }
    for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        fill(root, part, value, depth + 1);
    }
}
