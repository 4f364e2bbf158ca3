//! `#[tool_type]`: structs and enums as arguments.

use tool_sdk::prelude::*;

use super::{called, properties, schema};

/// Units of a temperature.
#[tool_type]
#[derive(Clone, Copy, Debug)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Units {
    Celsius,
    Fahrenheit,
}

/// How to sort.
#[tool_type]
#[derive(Debug)]
enum Order {
    /// Newest first
    Newest,
    #[serde(rename = "cheap")]
    Cheapest,
}

#[tool]
fn takes_enums(units: Units, order: Order, maybe: Option<Units>) -> String {
    format!("{units:?} {order:?} {maybe:?}")
}

#[test]
fn unit_enums_are_lists_of_words() {
    let expected = json!({
        "type": "object",
        "properties": {
            "units": {
                "type": "string",
                "description": "Units of a temperature.",
                "enum": ["celsius", "fahrenheit"],
            },
            "order": {
                "type": "string",
                "description": "How to sort.\n- `Newest`: Newest first",
                "enum": ["cheap", "Newest"],
            },
            "maybe": {
                "description": "Units of a temperature.",
                "type": ["string", "null"],
                "enum": ["celsius", "fahrenheit", null],
            },
        },
        "required": ["units", "order"],
        "additionalProperties": false,
    });
    assert_eq!(schema("takes_enums"), expected);
    let arguments = json!({"units": "celsius", "order": "cheap"});
    assert_eq!(called("takes_enums", arguments), "Celsius Cheapest None");
    let wrong = json!({"units": "Celsius", "order": "cheap"});
    let error = "error: /units: unknown variant `Celsius`, expected `celsius` or `fahrenheit`";
    assert_eq!(called("takes_enums", wrong), error);
}

/// A place.
#[tool_type]
#[derive(Debug)]
#[serde(rename_all = "camelCase")]
struct Place {
    /// Name of the city
    city_name: String,
    #[serde(default)]
    #[schemars(range(min = 1))]
    radius_km: Option<u8>,
    at: Position,
}

#[tool_type]
#[derive(Debug)]
struct Position {
    lat: f64,
    lon: f64,
}

#[tool]
fn takes_struct(
    /// Where
    place: Place,
    more: Vec<Position>,
) -> String {
    format!("{place:?} {}", more.len())
}

#[test]
fn structs_are_objects_that_refuse_unknown_fields() {
    let position = json!({
        "type": "object",
        "properties": {"lat": {"type": "number"}, "lon": {"type": "number"}},
        "required": ["lat", "lon"],
        "additionalProperties": false,
    });
    let expected = json!({
        "place": {
            "type": "object",
            "description": "Where",
            "properties": {
                "cityName": {"description": "Name of the city", "type": "string"},
                "radiusKm": {
                    "type": ["integer", "null"],
                    "minimum": 1,
                    "maximum": 255,
                    "default": null,
                },
                "at": position,
            },
            "required": ["cityName", "at"],
            "additionalProperties": false,
        },
        "more": {"type": "array", "items": position},
    });
    assert_eq!(properties("takes_struct"), expected);

    let place = json!({"cityName": "Rome", "at": {"lat": 41.9, "lon": 12.5}});
    assert_eq!(
        called("takes_struct", json!({"place": place, "more": []})),
        "Place { city_name: \"Rome\", radius_km: None, at: Position { lat: 41.9, lon: 12.5 } } 0"
    );
    let unknown = json!({"place": {"cityName": "Rome", "town": 1}, "more": []});
    assert_eq!(
        called("takes_struct", unknown),
        "error: /place: unknown field `town`, expected one of `cityName`, `radiusKm`, `at`"
    );
}

/// A tree.
#[tool_type]
#[derive(Debug)]
struct Tree {
    value: u8,
    children: Vec<Tree>,
}

#[tool]
fn takes_tree(tree: Tree) -> String {
    format!("{tree:?}")
}

#[test]
fn recursive_types_are_kept_in_definitions() {
    let tree = json!({
        "description": "A tree.",
        "type": "object",
        "properties": {
            "value": {"type": "integer", "minimum": 0, "maximum": 255},
            "children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
        },
        "required": ["value", "children"],
        "additionalProperties": false,
    });
    let expected = json!({
        "type": "object",
        "properties": {"tree": tree},
        "required": ["tree"],
        "additionalProperties": false,
        "$defs": {"Tree": tree},
    });
    assert_eq!(schema("takes_tree"), expected);
    let leaf = json!({"value": 2, "children": []});
    let text = "Tree { value: 1, children: [Tree { value: 2, children: [] }] }";
    assert_eq!(
        called(
            "takes_tree",
            json!({"tree": {"value": 1, "children": [leaf]}})
        ),
        text
    );
}

#[tool_type]
#[derive(Debug)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Shape {
    Circle { radius: f64 },
    Point,
    Named(Name),
}

#[tool_type]
#[derive(Debug)]
struct Name {
    name: String,
}

#[tool]
fn takes_shape(shape: Shape) -> String {
    format!("{shape:?}")
}

#[test]
fn enums_with_data_are_alternatives() {
    for (shape, expected) in [
        (
            json!({"kind": "circle", "radius": 1}),
            "Circle { radius: 1.0 }",
        ),
        (json!({"kind": "point"}), "Point"),
        (
            json!({"kind": "named", "name": "a"}),
            r#"Named(Name { name: "a" })"#,
        ),
        (
            json!({"kind": "circle", "radius": 1, "x": 1}),
            "error: /shape: unknown field `x`, expected `radius`",
        ),
    ] {
        assert_eq!(called("takes_shape", json!({"shape": shape})), expected);
    }
}

#[tool_type]
#[derive(Debug)]
struct Open {
    a: u8,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[tool_type]
#[derive(Debug)]
#[serde(transparent)]
struct Wrapped(String);

#[tool_type]
#[derive(Debug)]
#[serde(deny_unknown_fields)]
struct Page<T> {
    items: Vec<T>,
}

#[tool_type]
#[derive(Debug)]
#[serde(from = "String")]
struct Loud {
    text: String,
}

impl From<String> for Loud {
    fn from(text: String) -> Self {
        Self {
            text: text.to_uppercase(),
        }
    }
}

#[tool]
fn takes_special(open: Open, wrapped: Wrapped, page: Page<u8>, loud: Option<Loud>) -> String {
    format!(
        "{} {} {:?} {:?} {:?}",
        open.a,
        open.rest.len(),
        wrapped.0,
        page.items,
        loud.map(|loud| loud.text)
    )
}

#[test]
fn serde_attributes_keep_working() {
    let arguments = json!({
        "open": {"a": 1, "b": 2, "c": 3}, "wrapped": "w", "page": {"items": [1]}, "loud": "l",
    });
    assert_eq!(
        called("takes_special", arguments),
        r#"1 2 "w" [1] Some("L")"#
    );
    let properties = properties("takes_special");
    assert_eq!(properties["wrapped"], json!({"type": "string"}));
    assert_eq!(properties["open"]["additionalProperties"], true);
    assert_eq!(properties["page"]["additionalProperties"], false);
}

/// How a day went.
#[tool_type]
#[derive(Debug)]
#[serde(rename_all = "lowercase")]
enum Day {
    /// Nothing went wrong
    Good,
    /// Something did
    Bad,
}

#[tool]
fn takes_documented_words(
    /// Today
    day: Day,
    other: Option<Day>,
) -> String {
    format!("{day:?} {other:?}")
}

#[test]
fn meaning_of_words_stays_beside_the_docs_of_a_parameter_and_in_an_option() {
    let meaning = "- `good`: Nothing went wrong\n- `bad`: Something did";
    let expected = json!({
        "day": {
            "type": "string",
            "description": format!("Today\n{meaning}"),
            "enum": ["good", "bad"],
        },
        "other": {
            "type": ["string", "null"],
            "description": format!("How a day went.\n{meaning}"),
            "enum": ["good", "bad", null],
        },
    });
    assert_eq!(properties("takes_documented_words"), expected);
    let arguments = json!({"day": "good", "other": null});
    assert_eq!(called("takes_documented_words", arguments), "Good None");
}
