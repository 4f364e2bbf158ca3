//! Crates that a model wrote: built in a sandbox, run in one, until a person vouches for them.
//!
//! What a sandboxed build refuses is shown twice: the same crate, without the mark of a model, does
//! the same act and succeeds.

mod escapes_of_builds;
mod manifests;
mod trusted;

use serde_json::Value;
use toolsmith_tests::{Project, Ran};

/// What the manifest of a crate says that a model wrote.
const MARK: &str = "\n[package.metadata.toolsmith]\norigin = \"written\"\n";

/// A crate that a model wrote.
fn written(project: &Project, name: &str, source: &str) {
    project.plugin(name, source);
    mark(project, name);
}

fn mark(project: &Project, name: &str) {
    edit(project, name, |manifest| {
        manifest.replace("\n\n[lib]", &format!("\n{MARK}\n[lib]"))
    });
}

/// The same crate as if a person had written it.
fn unmark(project: &Project, name: &str) {
    edit(project, name, |manifest| manifest.replace(MARK, ""));
}

/// Changes a crate's manifest.
fn edit(project: &Project, name: &str, change: impl FnOnce(&str) -> String) {
    let path = format!("plugins/{name}/Cargo.toml");
    let manifest = fs_err::read_to_string(project.path().join(&path)).unwrap();
    let changed = change(&manifest);
    assert_ne!(changed, manifest, "it says something else");
    project.write(path, &changed);
}

/// A plugin as `list` shows it.
fn plugin(project: &Project, list: &Ran, name: &str) -> Value {
    let (list, name) = (list.json(), project.crate_name(name));
    let mut plugins = list["plugins"].as_array().unwrap().iter();
    let found = plugins.find(|plugin| plugin["name"] == name.as_str());
    found.unwrap_or_else(|| panic!("{name} in {list}")).clone()
}

/// A tool as `list` shows it.
fn tool(list: &Ran, name: &str) -> Value {
    let list = list.json();
    let mut tools = list["tools"].as_array().unwrap().iter();
    let found = tools.find(|tool| tool["name"] == name);
    found.unwrap_or_else(|| panic!("{name} in {list}")).clone()
}

fn list(project: &Project) -> Ran {
    project.run(&["list", "--json"])
}
