//! An opener takes one struct of settings and the plugin's context.
#![allow(unused)]

use tool_sdk::prelude::*;

#[tool_type]
struct Settings {
    path: String,
}

struct Db;

#[plugin_state]
fn lent(settings: &Settings) -> Db {
    Db
}

struct Cache;

#[plugin_state]
fn two(settings: Settings, more: Settings, ctx: &PluginContext) -> Cache {
    Cache
}

struct Log;

#[plugin_state]
fn context(ctx: &ToolContext) -> Log {
    Log
}

struct Plain {
    path: String,
}

struct Index;

#[plugin_state]
fn no_tool_type(settings: Plain) -> Index {
    Index
}

fn main() {}
