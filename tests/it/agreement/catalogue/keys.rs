//! The keys of `#[arg]` that go with every type: defaults, descriptions, examples and choices.

use std::collections::{BTreeMap, BTreeSet};

use tool_sdk::prelude::*;

use super::echo;
use super::enums::Units;

const COLOURS: [&str; 3] = ["red", "grün", "🥳"];

#[tool]
fn agree_choices(
    #[arg(one_of = COLOURS)] lent: &str,
    #[arg(one_of = ["a", "5", "true"])] owned: String,
    #[arg(one_of = ['x', 'ß'])] letter: char,
    #[arg(one_of = [1, 2, 300])] integer: i32,
    #[arg(one_of = [0.5, 1.0])] float: f64,
    #[arg(one_of = [true])] agreed: bool,
    #[arg(one_of = [Units::Celsius])] units: Units,
    #[arg(one_of = ["north", "south"])] optional: Option<String>,
    #[arg(one_of = [u64::MAX, 1])] optional_integer: Option<u64>,
    #[arg(one_of = ["celsius"])] optional_units: Option<Units>,
    #[arg(one_of = ["b", "c"], max_length = 3)] list: Vec<String>,
    #[arg(one_of = [7, 8])] integers: Option<Vec<u8>>,
    #[arg(one_of = [1, 2])] anything: Value,
) -> Value {
    echo!(
        lent,
        owned,
        letter,
        integer,
        float,
        agreed,
        units,
        optional,
        optional_integer,
        optional_units,
        list,
        integers,
        anything,
    )
}

#[tool]
fn agree_defaults(
    #[arg(default = "a")] text: String,
    #[arg(default = 'ß')] letter: char,
    #[arg(default = true)] flag: bool,
    #[arg(default = -7, min = -10, max = 10)] integer: i64,
    #[arg(default = u64::MAX)] long: u64,
    #[arg(default = 0.1)] float: f64,
    #[arg(default = 10)] whole: f64,
    #[arg(default = Units::Fahrenheit)] units: Units,
    #[arg(default = "celsius")] word: Units,
    #[arg(default = 5)] optional: Option<u8>,
    #[arg(default = ["web"], min_length = 1)] list: Vec<String>,
    #[arg(default = [1, 2])] array: [u8; 2],
    #[arg(default = (1, "x"))] pair: (u8, String),
    #[arg(default = BTreeSet::from([1, 2]))] set: BTreeSet<u8>,
    #[arg(default = BTreeMap::from([("a", 1)]))] map: BTreeMap<String, u8>,
    #[arg(default = json!({"a": [null]}))] anything: Value,
    #[arg(default = Choice::Level(9))] choice: Choice,
    #[arg(default = json!({"size": 4}))] area: Area,
) -> Value {
    echo!(
        text, letter, flag, integer, long, float, whole, units, word, optional, list, array, pair,
        set, map, anything, choice, area,
    )
}

#[tool_type]
enum Choice {
    None,
    Level(u8),
}

#[tool_type]
struct Area {
    size: u8,
    #[serde(default)]
    deep: Option<i32>,
}

/// Says what is meant.
///
/// # Arguments
/// * `listed` - told in the list
#[tool]
fn agree_examples(
    /// Told in a comment
    #[arg(example = "a")]
    text: String,
    #[arg(description = "Told by the key", example = 300)] integer: u16,
    #[arg(example = 0.5)] listed: f64,
    #[arg(example = 3, max = 10)] optional: Option<u8>,
    #[arg(example = [1, 2])] list: Vec<u8>,
    #[arg(example = "celsius", default = Units::Fahrenheit)] units: Units,
    #[arg(example = json!({"size": 1}))] area: Area,
    #[arg(example = "2024-03-31", format = "date")] day: Option<String>,
    #[arg(example = Choice::Level(2))] choice: Choice,
) -> Value {
    echo!(
        text, integer, listed, optional, list, units, area, day, choice
    )
}
