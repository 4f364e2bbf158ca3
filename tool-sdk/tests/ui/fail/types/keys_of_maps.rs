//! Names in JSON are text: a key has to be of a type whose schema says which.
#![allow(unused)]

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;

use tool_sdk::prelude::*;

#[tool]
fn keys(a: HashMap<u8, String>, b: Vec<BTreeMap<char, u8>>, c: Option<HashMap<bool, u8>>) {}

#[tool]
fn addresses(a: SocketAddr, b: Vec<std::ffi::CString>) {}

fn main() {}
