//! Names on the wire: renamed arguments, fields and variants, and arguments that no model sees.

use agent_core::tool::ArgumentSchema;
use serde_json::{Value, json};
use tool_sdk::testing;

/// The names of a tool's arguments.
fn names(tool: &str) -> Vec<String> {
    let schema = testing::describe(tool).unwrap().input_schema;
    schema["properties"]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect()
}

/// What the host says of arguments; what the tool gets, where it accepts them.
#[expect(clippy::needless_pass_by_value, reason = "callers write `json!(…)`")]
fn sent(tool: &str, arguments: Value) -> Result<Value, String> {
    let schema = testing::describe(tool).unwrap().input_schema;
    let host = ArgumentSchema::compile(&schema).unwrap();
    let checked = host.check(&arguments, None).map_err(|problems| {
        let all = problems.listed.iter();
        let lines = all.map(|one| format!("{}: {}", one.pointer, one.problem));
        lines.collect::<Vec<_>>().join("\n")
    })?;
    let run = testing::run(tool, checked.arguments).unwrap();
    Ok(run.result.structured_content.unwrap())
}

#[test]
fn arguments_have_the_case_of_their_tool_or_their_own_name() {
    assert_eq!(
        names("agree_renamed"),
        ["cityName", "max_rows", "pageNumber"]
    );
    let arguments = json!({"cityName": "Rome", "max_rows": 9, "pageNumber": 1});
    assert_eq!(sent("agree_renamed", arguments.clone()), Ok(arguments));
    let in_rust = json!({"city_name": "Rome", "max_rows": 1});
    let told = "/cityName: missing required argument\n/city_name: unknown argument";
    assert_eq!(sent("agree_renamed", in_rust), Err(told.to_owned()));
}

/// Names may be words of JSON Schema, which mean nothing there.
#[test]
fn arguments_are_called_like_keywords() {
    let expected = [
        "properties",
        "required",
        "items",
        "default",
        "type",
        "enum",
        "additionalProperties",
        "any-of.0",
        "minimum",
    ];
    assert_eq!(names("agree_keyword_names"), expected);
    let arguments =
        json!({"properties": "", "required": 1, "items": [1], "type": true, "minimum": -1});
    let mut expected = arguments.clone();
    expected["default"] = json!(1);
    expected["enum"] = json!("a");
    expected["additionalProperties"] = Value::Null;
    expected["any-of.0"] = Value::Null;
    assert_eq!(sent("agree_keyword_names", arguments), Ok(expected));
}

#[test]
fn fields_and_variants_have_the_case_of_their_type_or_their_own_name() {
    let at = json!({"lat": 0.5, "lon": 0.5, "height": 1});
    let place = json!({
        "cityName": "Rome", "radiusKm": 1, "at": at, "tagsOfIt": [], "else": "fahrenheit",
    });
    let arguments =
        json!({"place": place, "optional": null, "list": [], "map": {}, "pair": [at, 1]});
    assert_eq!(sent("agree_structs", arguments.clone()), Ok(arguments));

    let settings = json!({
        "how-many": 1, "a-ratio": 0.5, "words": [], "units": "celsius",
        "inner": {"flag": true, "text": ""}, "maybe": null,
    });
    let arguments = json!({"settings": settings, "optional": null, "list": []});
    assert_eq!(
        sent("agree_structs_with_defaults", arguments.clone()),
        Ok(arguments)
    );

    let words = json!({
        "units": "celsius", "order": "größe", "optional": null, "list": ["cheap", "Newest"],
        "set": [], "map": {}, "pair": ["fahrenheit", 1],
    });
    assert_eq!(sent("agree_words", words.clone()), Ok(words));

    let shape = json!({"kind": "twoWords", "one-word": 1, "maybe": null});
    let shapes = json!({"one": shape, "optional": null, "list": []});
    assert_eq!(sent("agree_internal", shapes.clone()), Ok(shapes));
}

/// A preset stands in the schema, from which the host takes it, and in a list of its own.
#[test]
fn presets_are_known_by_their_names_on_the_wire() {
    assert_eq!(names("agree_presets"), ["api-key", "REGION", "row-count"]);
    let description = testing::describe("agree_presets").unwrap();
    assert_eq!(description.presets, ["api-key", "REGION"]);
    let arguments = json!({"api-key": "secret", "REGION": "eu", "row-count": 1});
    assert_eq!(sent("agree_presets", arguments.clone()), Ok(arguments));
    let other = json!({"api-key": "secret", "REGION": "moon", "row-count": 1});
    let told = "/REGION: not one of the allowed values";
    assert_eq!(sent("agree_presets", other), Err(told.to_owned()));
}
