//! What `schemars` makes, rewritten once so that it says exactly what is accepted, and says it in
//! keywords that every client knows.
//!
//! Rewriting goes by schema position: an argument that is called `title` or `format` is no
//! keyword and stays.

use serde_json::{Map, Value};

/// Rewrites one schema and every schema inside it.
pub(super) fn rewrite(schema: &mut Value) {
    let Value::Object(keywords) = schema else {
        return;
    };
    keywords.shift_remove("title");
    keywords.shift_remove("$schema");
    number_format_to_bounds(keywords);
    constants_to_enum(keywords);
    if keywords.contains_key("properties")
        && !keywords.contains_key("additionalProperties")
        && !keywords.contains_key("unevaluatedProperties")
    {
        keywords.insert("additionalProperties".to_owned(), false.into());
    }
    for (keyword, value) in keywords.iter_mut() {
        match keyword.as_str() {
            "properties" | "patternProperties" | "$defs" | "dependentSchemas" => {
                value
                    .as_object_mut()
                    .into_iter()
                    .flat_map(Map::values_mut)
                    .for_each(rewrite);
            }
            "allOf" | "anyOf" | "oneOf" | "prefixItems" => {
                value.as_array_mut().into_iter().flatten().for_each(rewrite);
            }
            "items"
            | "additionalProperties"
            | "unevaluatedProperties"
            | "not"
            | "contains"
            | "propertyNames"
            | "if"
            | "then"
            | "else" => rewrite(value),
            _ => {}
        }
    }
}

/// `"format": "uint8"` is no format that clients know: its bounds say the same.
fn number_format_to_bounds(keywords: &mut Map<String, Value>) {
    let Some(format) = keywords.get("format").and_then(Value::as_str) else {
        return;
    };
    let bounds: Option<(Value, Value)> = match format {
        "int8" => Some((i8::MIN.into(), i8::MAX.into())),
        "int16" => Some((i16::MIN.into(), i16::MAX.into())),
        "int32" => Some((i32::MIN.into(), i32::MAX.into())),
        "int64" | "int" => Some((i64::MIN.into(), i64::MAX.into())),
        "uint8" => Some((0.into(), u8::MAX.into())),
        "uint16" => Some((0.into(), u16::MAX.into())),
        "uint32" => Some((0.into(), u32::MAX.into())),
        "uint64" | "uint" => Some((0.into(), u64::MAX.into())),
        "float" | "double" => None,
        _ => return,
    };
    keywords.shift_remove("format");
    if let Some((minimum, maximum)) = bounds {
        keywords.entry("minimum").or_insert(minimum);
        keywords.entry("maximum").or_insert(maximum);
    }
}

/// An enum of unit variants with doc comments comes as `oneOf` of constants, which many clients
/// do not read. It becomes an `enum`, and the variants' descriptions go into the description.
fn constants_to_enum(keywords: &mut Map<String, Value>) {
    let Some(variants) = keywords.get("oneOf").and_then(Value::as_array) else {
        return;
    };
    let mut values = Vec::new();
    let mut lines = Vec::new();
    for variant in variants {
        let documented = variant.get("description").and_then(Value::as_str);
        if let Some(constant) = variant.get("const").filter(|value| value.is_string()) {
            lines.extend(documented.map(|text| format!("- `{}`: {text}", plain(constant))));
            values.push(constant.clone());
        } else if let Some(list) = variant.get("enum").and_then(Value::as_array)
            && documented.is_none()
        {
            values.extend(list.iter().cloned());
        } else {
            return;
        }
    }
    keywords.shift_remove("oneOf");
    keywords.insert("type".to_owned(), "string".into());
    keywords.insert("enum".to_owned(), values.into());
    if !lines.is_empty() {
        let head = keywords
            .get("description")
            .and_then(Value::as_str)
            .map(str::to_owned);
        let text: Vec<String> = head.into_iter().chain(lines).collect();
        keywords.insert("description".to_owned(), text.join("\n").into());
    }
}

fn plain(constant: &Value) -> &str {
    constant.as_str().unwrap_or_default()
}
