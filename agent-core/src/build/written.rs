//! What the manifest of a crate that a model wrote may say.
//!
//! Owns the list of what is allowed; everything else is refused before anything is built, each with
//! its reason. It keeps a build small and plain. The border is the sandbox ([`super::confined`]), not
//! this list.

use std::path::{Component, Path};

use fs_err as fs;
use toml::{Table, Value};

use super::error::BuildError;
use super::manifest::CrateManifest;
use super::sdk;

/// Sections of the manifest.
const SECTIONS: &[&str] = &["package", "lib", "dependencies", "workspace"];

/// What describes the package. Of `build` only `false`.
const PACKAGE: &[&str] = &[
    "name",
    "version",
    "edition",
    "rust-version",
    "description",
    "authors",
    "license",
    "keywords",
    "categories",
    "publish",
    "build",
    "metadata",
];

/// What describes the library.
const LIBRARY: &[&str] = &[
    "name",
    "path",
    "crate-type",
    "test",
    "doctest",
    "bench",
    "doc",
];

/// Kinds of library.
const KINDS: &[&str] = &["cdylib", "rlib"];

/// Crates that it may depend on besides the SDK, each by a version from the registry.
const DEPENDENCIES: &[&str] = &[
    "serde",
    "serde_json",
    "regex",
    "chrono",
    "jiff",
    "rand",
    "uuid",
    "base64",
    "sha2",
    "url",
    "tokio",
];

/// What may be said of a dependency. Of `path` only the SDK's.
const DEPENDENCY: &[&str] = &["version", "features", "default-features", "path"];

/// Refuses a crate whose manifest says more than it may. `is_sdk` tells whether a folder is that of
/// the SDK.
pub(super) fn check(
    manifest: &CrateManifest,
    is_sdk: impl Fn(&Path) -> bool,
) -> Result<(), BuildError> {
    let text = fs::read_to_string(manifest.file())?;
    let table: Table = text.parse().map_err(std::io::Error::other)?;
    let mut reasons = refusals(&table);
    if let Some(script) = &manifest.build_script {
        let name = script.strip_prefix(&manifest.folder).unwrap_or(script);
        reasons.push(format!("the build script `{}`", name.display()));
    }
    if let Some(path) = &manifest.sdk
        && !is_sdk(path)
    {
        reasons.push(format!(
            "the path `{}` of `{}`, which is not the SDK of this project",
            path.display(),
            sdk::CRATE
        ));
    }
    if reasons.is_empty() {
        return Ok(());
    }
    Err(BuildError::NotAllowed {
        package: manifest.package.clone(),
        reasons,
    })
}

fn refusals(manifest: &Table) -> Vec<String> {
    let mut refused = Refused(Vec::new());
    refused.keys("", manifest, SECTIONS);
    match manifest.get("workspace").and_then(Value::as_table) {
        Some(workspace) => refused.keys("workspace.", workspace, &[]),
        None => refused.add("that it has no `[workspace]` of its own"),
    }
    if let Some(package) = manifest.get("package").and_then(Value::as_table) {
        refused.keys("package.", package, PACKAGE);
    }
    if let Some(library) = manifest.get("lib").and_then(Value::as_table) {
        refused.library(library);
    }
    let dependencies = manifest.get("dependencies").and_then(Value::as_table);
    for (name, dependency) in dependencies.into_iter().flatten() {
        refused.dependency(name, dependency);
    }
    refused.0
}

/// What is not allowed.
struct Refused(Vec<String>);

impl Refused {
    fn add(&mut self, what: impl Into<String>) {
        self.0.push(what.into());
    }

    fn keys(&mut self, place: &str, table: &Table, allowed: &[&str]) {
        for key in table.keys().filter(|key| !allowed.contains(&key.as_str())) {
            self.add(format!("`{place}{key}`"));
        }
    }

    fn library(&mut self, library: &Table) {
        self.keys("lib.", library, LIBRARY);
        let kinds = library.get("crate-type").and_then(Value::as_array);
        for kind in kinds.into_iter().flatten() {
            if !kind.as_str().is_some_and(|kind| KINDS.contains(&kind)) {
                self.add(format!("the kind of library {kind}"));
            }
        }
        let path = library.get("path").and_then(Value::as_str);
        let inside = |part: Component<'_>| matches!(part, Component::Normal(_));
        if let Some(path) = path
            && !Path::new(path).components().all(inside)
        {
            self.add(format!("the path `{path}` of its library"));
        }
    }

    fn dependency(&mut self, name: &str, dependency: &Value) {
        let is_sdk = name == sdk::CRATE;
        if !is_sdk && !DEPENDENCIES.contains(&name) {
            self.add(format!("the dependency `{name}`"));
            return;
        }
        let Value::Table(table) = dependency else {
            return;
        };
        let place = format!("dependencies.{name}.");
        self.keys(&place, table, DEPENDENCY);
        if !is_sdk && table.contains_key("path") {
            self.add(format!("`{place}path`"));
        }
    }
}

/// What it may depend on, for the hint.
pub(super) fn dependencies() -> String {
    DEPENDENCIES.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = r#"
[package]
name = "a"
version = "0.1.0"
edition = "2024"
build = false
[package.metadata.toolsmith]
origin = "written"
[lib]
path = "src/lib.rs"
crate-type = ["cdylib", "rlib"]
[dependencies]
tool-sdk = { path = "/sdk/tool-sdk", features = ["url"] }
serde = { version = "1", features = ["derive"], default-features = false }
regex = "1"
[workspace]
"#;

    fn of(text: &str) -> Vec<String> {
        refusals(&text.parse().unwrap())
    }

    #[test]
    fn what_write_tool_writes_is_allowed() {
        assert_eq!(of(PLAIN), Vec::<String>::new());
    }

    #[test]
    fn everything_else_is_refused_by_its_name() {
        for (added, expected) in [
            ("[patch.crates-io]\nserde = { path = \"x\" }", "`patch`"),
            ("[profile.dev]\nopt-level = 3", "`profile`"),
            ("[build-dependencies]\ncc = \"1\"", "`build-dependencies`"),
            ("[target.'cfg(unix)'.dependencies]\nx = \"1\"", "`target`"),
            ("[features]\nx = []", "`features`"),
            ("[[bin]]\nname = \"x\"", "`bin`"),
        ] {
            assert_eq!(of(&format!("{PLAIN}{added}")), [expected], "{added}");
        }
        for (from, to, expected) in [
            ("edition", "links = \"x\"\nedition", "`package.links`"),
            (
                "crate-type",
                "proc-macro = true\ncrate-type",
                "`lib.proc-macro`",
            ),
            (
                "\"rlib\"",
                "\"proc-macro\"",
                "the kind of library \"proc-macro\"",
            ),
            (
                "src/lib.rs",
                "../b/lib.rs",
                "the path `../b/lib.rs` of its library",
            ),
            ("src/lib.rs", "/b.rs", "the path `/b.rs` of its library"),
            ("regex =", "cc =", "the dependency `cc`"),
            (
                "regex = \"1\"",
                "regex = { path = \"../x\" }",
                "`dependencies.regex.path`",
            ),
            (
                "regex = \"1\"",
                "regex = { git = \"https://x\" }",
                "`dependencies.regex.git`",
            ),
            (
                "regex = \"1\"",
                "regex = { version = \"1\", package = \"x\" }",
                "`dependencies.regex.package`",
            ),
            (
                "[workspace]",
                "[workspace]\nmembers = [\"b\"]",
                "`workspace.members`",
            ),
            ("[workspace]", "", "that it has no `[workspace]` of its own"),
        ] {
            assert_eq!(of(&PLAIN.replace(from, to)), [expected], "{to}");
        }
    }
}
