//! Enums: words only, and with data in every representation.

use std::collections::{BTreeMap, BTreeSet};

use tool_sdk::prelude::*;

use super::echo;

/// Units of a temperature.
#[tool_type]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
pub(super) enum Units {
    Celsius,
    Fahrenheit,
}

/// How to sort.
#[tool_type]
enum Order {
    /// Newest first
    Newest,
    #[serde(rename = "cheap")]
    Cheapest,
    /// Überall
    #[serde(rename = "größe")]
    Größe,
}

#[tool]
fn agree_words(
    units: Units,
    order: Order,
    optional: Option<Units>,
    list: Vec<Order>,
    set: BTreeSet<Units>,
    map: BTreeMap<String, Units>,
    pair: (Units, u8),
) -> Value {
    echo!(units, order, optional, list, set, map, pair)
}

/// Fields inside enums.
#[tool_type]
struct Fields {
    byte: u8,
    #[serde(default)]
    long: i64,
    ratio: Option<f64>,
}

#[tool_type]
enum External {
    Nothing,
    One(u8),
    Text(String),
    Maybe(Option<i16>),
    Two(i64, char),
    Fields { byte: u8, units: Units },
    Other(Fields),
    List(Vec<u64>),
}

#[tool]
fn agree_external(one: External, optional: Option<External>, list: Vec<External>) -> Value {
    echo!(one, optional, list)
}

#[tool_type]
#[serde(tag = "kind", rename_all = "camelCase")]
enum Internal {
    Nothing,
    Circle {
        radius: f64,
    },
    TwoWords {
        #[serde(rename = "one-word")]
        one_word: u64,
        maybe: Option<i8>,
    },
    Other(Fields),
    Map(BTreeMap<String, u8>),
}

#[tool]
fn agree_internal(one: Internal, optional: Option<Internal>, list: Vec<Internal>) -> Value {
    echo!(one, optional, list)
}

#[tool_type]
#[serde(tag = "kind", content = "of")]
enum Adjacent {
    Nothing,
    One(i64),
    Two(u8, String),
    Fields { byte: u8, maybe: Option<char> },
    Other(Fields),
    List(Vec<i8>),
}

#[tool]
fn agree_adjacent(one: Adjacent, optional: Option<Adjacent>, list: Vec<Adjacent>) -> Value {
    echo!(one, optional, list)
}

#[tool_type]
#[serde(untagged)]
enum Untagged {
    Integer(i64),
    Flag(bool),
    Text(String),
    List(Vec<u8>),
    Fields { size: u8, units: Units },
    Other(Fields),
}

#[tool]
fn agree_untagged(one: Untagged, optional: Option<Untagged>, list: Vec<Untagged>) -> Value {
    echo!(one, optional, list)
}

/// A sum.
#[tool_type]
enum Term {
    Number(i32),
    Negative(Box<Term>),
    Sum(Box<Term>, Box<Term>),
    Sums(Vec<Term>),
}

/// A query.
#[tool_type]
#[serde(tag = "op", rename_all = "lowercase")]
enum Query {
    Any,
    Is { field: String, value: u64 },
    Not { query: Box<Query> },
    All { queries: Vec<Query> },
}

/// Nearly any JSON.
#[tool_type]
#[serde(untagged)]
enum Tree {
    Leaf(i8),
    Items(Vec<Tree>),
    Named(BTreeMap<String, Tree>),
}

#[tool]
fn agree_recursive_enums(term: Term, query: Query, optional: Option<Term>) -> Value {
    echo!(term, query, optional)
}

#[tool]
fn agree_recursive_untagged(tree: Tree, optional: Option<Tree>) -> Value {
    echo!(tree, optional)
}
