//! Lists, arrays, sets, maps and tuples.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use tool_sdk::prelude::*;

use super::echo;

#[tool]
fn agree_lists(
    bytes: Vec<u8>,
    texts: Vec<String>,
    nested: Vec<Vec<bool>>,
    anything: Vec<Value>,
    optional: Option<Vec<i64>>,
    options: Vec<Option<u16>>,
    array: [i8; 3],
    pair: [String; 2],
    deque: VecDeque<char>,
) -> Value {
    echo!(
        bytes, texts, nested, anything, optional, options, array, pair, deque
    )
}

#[tool]
fn agree_sets(
    texts: BTreeSet<String>,
    bytes: HashSet<u8>,
    letters: HashSet<char>,
    longs: BTreeSet<i64>,
    optional: Option<BTreeSet<bool>>,
) -> Value {
    echo!(texts, bytes, letters, longs, optional)
}

#[tool]
fn agree_maps(
    bytes: BTreeMap<String, u8>,
    letters: HashMap<String, Option<char>>,
    lists: BTreeMap<String, Vec<i16>>,
    nested: BTreeMap<String, BTreeMap<String, u64>>,
    optional: Option<HashMap<String, f64>>,
    object: Map<String, Value>,
) -> Value {
    echo!(bytes, letters, lists, nested, optional, object)
}

#[tool]
fn agree_tuples(
    pair: (u8, String),
    nested: (bool, (i8, f64), [char; 1]),
    optional: Option<(u16, u16)>,
    list: Vec<(String, i64)>,
    options: (Option<u8>, Option<String>),
) -> Value {
    echo!(pair, nested, optional, list, options)
}

/// Arrays and tuples are left out: `min_length` and `max_length` would replace their one length,
/// and then a host accepts lengths that no array has.
#[tool]
fn agree_lengths(
    #[arg(min_length = 1, max_length = 3)] list: Vec<u8>,
    #[arg(max_length = 2)] optional: Option<Vec<String>>,
    #[arg(min_length = 2)] set: BTreeSet<u8>,
    #[arg(max_length = 2)] letters: HashSet<char>,
    #[arg(min_length = 1, max_length = 2)] map: BTreeMap<String, u8>,
    #[arg(max_length = 1)] optional_map: Option<HashMap<String, bool>>,
    #[arg(min_length = 1)] object: Map<String, Value>,
    #[arg(min_length = 1, min = 3, max = 5)] both: Vec<i32>,
) -> Value {
    echo!(
        list,
        optional,
        set,
        letters,
        map,
        optional_map,
        object,
        both
    )
}
