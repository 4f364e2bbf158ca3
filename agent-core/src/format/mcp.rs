//! Tool definitions as MCP spells them.

use serde_json::{Map, Value};

use crate::tool::ToolSpec;

/// A tool of a `tools/list` answer. Optional keys are absent where there is nothing to say: many
/// clients refuse null.
pub fn tool(spec: &ToolSpec) -> Value {
    let mut tool = Map::new();
    tool.insert("name".to_owned(), spec.name.clone().into());
    tool.insert("title".to_owned(), spec.label.clone().into());
    if !spec.description.is_empty() {
        tool.insert("description".to_owned(), spec.description.clone().into());
    }
    tool.insert("inputSchema".to_owned(), spec.input_schema.clone());
    if let Some(output) = &spec.output_schema {
        tool.insert("outputSchema".to_owned(), output.clone());
    }
    if !spec.annotations.is_empty()
        && let Ok(annotations) = serde_json::to_value(spec.annotations)
    {
        tool.insert("annotations".to_owned(), annotations);
    }
    tool.into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// R21, R33: a tool without arguments shows an empty object that is closed.
    #[test]
    fn r21_tool_without_arguments_is_an_empty_closed_object() {
        let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
        let spec = ToolSpec::new("ping", "Answer pong.", schema.clone());
        let expected = json!({
            "name": "ping", "title": "ping", "description": "Answer pong.", "inputSchema": schema,
        });
        assert_eq!(tool(&spec), expected);
    }

    #[test]
    fn annotations_are_shown_by_the_names_of_mcp_where_there_are_any() {
        let mut spec = ToolSpec::new("wipe", "Wipe.", json!({"type": "object"}));
        assert_eq!(tool(&spec).get("annotations"), None);
        spec.annotations.read_only = Some(false);
        spec.annotations.destructive = Some(true);
        let expected = json!({"readOnlyHint": false, "destructiveHint": true});
        assert_eq!(tool(&spec)["annotations"], expected);
    }
}
