//! How crates depend on each other, and that every plugin crate stands alone.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use toolsmith_tests::repository;

/// What cargo says of a manifest.
fn metadata(manifest: &Path, options: &[&str]) -> Value {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version=1"])
        .args(options)
        .arg("--manifest-path")
        .arg(manifest)
        .current_dir(manifest.parent().unwrap())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The packages of a manifest.
fn packages(manifest: &Path) -> Vec<Value> {
    let metadata = metadata(manifest, &["--no-deps", "--offline"]);
    metadata["packages"].as_array().unwrap().clone()
}

/// The packages of this repository that a package is built with; its tests may use others.
fn own_dependencies(package: &Value) -> BTreeSet<String> {
    let dependencies = package["dependencies"].as_array().unwrap().iter();
    let own = dependencies
        .filter(|dependency| dependency["path"].is_string() && dependency["kind"] != "dev");
    own.map(|dependency| dependency["name"].as_str().unwrap().to_owned())
        .collect()
}

fn plugins() -> Vec<PathBuf> {
    let entries = fs_err::read_dir(repository().join("plugins")).unwrap();
    let folders = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir());
    let mut folders: Vec<PathBuf> = folders.collect();
    folders.sort();
    assert!(folders.len() >= 2, "{folders:?}");
    folders
}

#[test]
fn dependencies_point_from_the_macros_to_the_tests() {
    let allowed = |package: &str| -> &[&str] {
        match package {
            "tool-macros" => &[],
            "tool-sdk" => &["tool-macros"],
            "agent-core" => &["tool-sdk"],
            "toolsmith-tests" => &["agent-core", "tool-sdk", "tool-macros"],
            other => panic!("package `{other}` has no place in tests/it/architecture/crates.rs"),
        }
    };
    let packages = packages(&repository().join("Cargo.toml"));
    assert_eq!(packages.len(), 4);
    for package in packages {
        let name = package["name"].as_str().unwrap();
        for dependency in own_dependencies(&package) {
            assert!(
                allowed(name).contains(&dependency.as_str()),
                "{name} depends on {dependency}"
            );
        }
    }
}

/// Rule P: its own workspace, its own lock, both crate types; the host is met in the SDK only.
#[test]
fn every_plugin_stands_alone_and_knows_the_sdk_only() {
    for folder in plugins() {
        let shown = folder.display();
        let manifest = folder.join("Cargo.toml");
        let text = fs_err::read_to_string(&manifest).unwrap();
        let toml: toml::Table = text.parse().unwrap();
        let workspace = toml.get("workspace").and_then(toml::Value::as_table);
        assert!(
            workspace.is_some_and(toml::Table::is_empty),
            "{shown}: no empty [workspace]"
        );
        assert!(
            folder.join("Cargo.lock").is_file(),
            "{shown}: no Cargo.lock"
        );
        let packages = packages(&manifest);
        let [package] = packages.as_slice() else {
            panic!("{shown}: {} packages", packages.len())
        };
        let name = folder.file_name().unwrap().to_str().unwrap();
        assert_eq!(
            package["name"], name,
            "{shown}: the folder has another name"
        );
        let targets = package["targets"].as_array().unwrap().iter();
        let libraries: Vec<&Value> = targets
            .map(|target| &target["crate_types"])
            .filter(|types| types[0] != "bin" && types[0] != "test")
            .collect();
        let both = serde_json::json!(["cdylib", "rlib"]);
        assert!(libraries.contains(&&both), "{shown}: {libraries:?}");
        let own = own_dependencies(package);
        assert_eq!(own, BTreeSet::from(["tool-sdk".to_owned()]), "{shown}");
    }
}

/// Their locks are made by cargo, so that a build changes none. Not offline: a new machine has none of
/// the packages yet.
#[test]
fn every_lock_of_a_plugin_is_up_to_date() {
    for folder in plugins() {
        metadata(&folder.join("Cargo.toml"), &["--locked"]);
    }
}
