//! Names on the wire.

use tool_sdk::prelude::*;

use super::echo;

/// Names of keywords, of numbers and of nothing in Rust.
#[tool]
fn agree_keyword_names(
    properties: String,
    required: u8,
    items: Vec<u8>,
    #[arg(default = 1)] default: u8,
    #[arg(rename = "type")] kind: bool,
    #[arg(rename = "enum", default = "a")] choice: String,
    #[arg(rename = "additionalProperties")] more: Option<i8>,
    #[arg(rename = "any-of.0")] dotted: Option<u64>,
    minimum: i16,
) -> Value {
    json!({
        "properties": properties, "required": required, "items": items, "default": default,
        "type": kind, "enum": choice, "additionalProperties": more, "any-of.0": dotted,
        "minimum": minimum,
    })
}

/// Names in camel case, but for one that says its own.
#[tool(rename_all = "camelCase")]
fn agree_renamed(
    city_name: String,
    #[arg(rename = "max_rows", max = 9)] most_rows: u8,
    #[arg(default = 2)] page_number: u16,
) -> Value {
    json!({"cityName": city_name, "max_rows": most_rows, "pageNumber": page_number})
}

/// Takes what no model sees.
#[tool(rename_all = "kebab-case")]
fn agree_presets(
    #[arg(preset)] api_key: String,
    #[arg(preset, rename = "REGION", one_of = ["eu", "us"])] region: Option<String>,
    #[arg(min = 1)] row_count: u8,
) -> Value {
    json!({"api-key": api_key, "REGION": region, "row-count": row_count})
}

#[tool]
fn agree_nothing() -> Value {
    echo!()
}
