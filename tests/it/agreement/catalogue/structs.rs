//! Structs: nested, recursive, flattened, with attributes of serde and schemars.

use std::collections::{BTreeMap, BTreeSet};

use tool_sdk::prelude::*;

use super::echo;
use super::enums::Units;

/// A place.
#[tool_type]
#[serde(rename_all = "camelCase")]
struct Place {
    /// Name of the city
    city_name: String,
    #[serde(default)]
    radius_km: Option<u8>,
    at: Position,
    #[serde(default)]
    tags_of_it: Vec<String>,
    #[serde(rename = "else", default = "unit")]
    other: Units,
}

fn unit() -> Units {
    Units::Celsius
}

#[tool_type]
struct Position {
    lat: f64,
    lon: f64,
    height: i32,
}

#[tool]
fn agree_structs(
    place: Place,
    optional: Option<Place>,
    list: Vec<Position>,
    map: BTreeMap<String, Position>,
    pair: (Position, u8),
) -> Value {
    echo!(place, optional, list, map, pair)
}

/// Everything has a default.
#[tool_type]
#[serde(default, rename_all = "kebab-case")]
struct Settings {
    how_many: u16,
    a_ratio: f64,
    #[serde(rename = "words")]
    some_words: BTreeSet<String>,
    units: Units,
    inner: Inner,
    maybe: Option<i8>,
}

#[tool_type]
#[derive(Default)]
#[serde(default)]
struct Inner {
    flag: bool,
    text: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            how_many: 3,
            a_ratio: 0.25,
            some_words: BTreeSet::from(["a".to_owned()]),
            units: Units::Fahrenheit,
            inner: Inner::default(),
            maybe: Some(-1),
        }
    }
}

#[tool]
fn agree_structs_with_defaults(
    settings: Settings,
    optional: Option<Settings>,
    list: Vec<Inner>,
) -> Value {
    echo!(settings, optional, list)
}

/// Narrowed by its author. `length` of a `char`, an array or a tuple is left out: it would replace
/// the type's one length, and then a host accepts lengths that none of them has.
#[tool_type]
#[serde(rename_all = "camelCase")]
struct Narrow {
    #[schemars(range(min = 1, max = 12))]
    month_of_year: u8,
    #[schemars(range(min = -0.5, max = 0.5))]
    shift: f64,
    #[schemars(length(min = 2, max = 4))]
    code: String,
    #[schemars(regex(pattern = "^[a-z]+-[0-9]+$"))]
    key: String,
    #[schemars(length(min = 1, max = 2), inner(range(max = 9)))]
    digits: Vec<u8>,
    #[schemars(length(max = 2))]
    names: BTreeMap<String, i64>,
    #[schemars(range(min = 10))]
    maybe: Option<i16>,
    #[schemars(regex(pattern = "^[^ ]+$"), length(max = 3))]
    word: Option<String>,
    #[schemars(email)]
    mail: Option<String>,
    #[schemars(url)]
    page: Option<String>,
    #[schemars(example = &5, extend("multipleOf" = 5))]
    #[serde(default = "five")]
    step: i32,
}

fn five() -> i32 {
    5
}

#[tool]
fn agree_narrow_structs(narrow: Narrow, optional: Option<Narrow>) -> Value {
    echo!(narrow, optional)
}

/// A tree.
#[tool_type]
struct Tree {
    value: u8,
    children: Vec<Tree>,
}

/// A chain.
#[tool_type]
struct Link {
    value: i64,
    #[serde(default)]
    next: Option<Box<Link>>,
}

/// A folder.
#[tool_type]
struct Folder {
    size: u64,
    #[serde(default)]
    entries: BTreeMap<String, Folder>,
}

/// Refers to itself through another.
#[tool_type]
struct Person {
    age: u8,
    home: Option<Home>,
}

#[tool_type]
struct Home {
    number: i16,
    people: Vec<Person>,
}

#[tool]
fn agree_recursive_structs(
    tree: Tree,
    link: Option<Link>,
    folder: Folder,
    people: Vec<Person>,
) -> Value {
    echo!(tree, link, folder, people)
}

#[tool_type]
struct Page<T> {
    items: Vec<T>,
    next: Option<T>,
}

#[tool_type]
struct Wrapped(i16);

#[tool_type]
struct Pair(u8, Option<String>);

#[tool_type]
struct Nothing;

#[tool_type]
#[serde(transparent)]
struct Transparent {
    text: String,
}

#[tool]
fn agree_other_structs(
    page: Page<i64>,
    wrapped: Wrapped,
    pair: Pair,
    nothing: Vec<Nothing>,
    transparent: Option<Transparent>,
) -> Value {
    echo!(page, wrapped, pair, nothing, transparent)
}

#[tool_type]
struct Flattened {
    name: String,
    #[serde(flatten)]
    at: Position,
}

#[tool_type]
struct Tagged {
    name: String,
    #[serde(flatten)]
    kind: Kind,
}

#[tool_type]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Kind {
    Plain,
    Sized { size: u32 },
}

#[tool_type]
struct Open {
    name: String,
    #[serde(flatten)]
    rest: BTreeMap<String, i8>,
}

#[tool]
fn agree_flattened(flattened: Flattened, tagged: Tagged, open: Open, list: Vec<Tagged>) -> Value {
    echo!(flattened, tagged, open, list)
}
