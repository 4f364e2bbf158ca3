//! Cargo's messages, real and broken ones.

use super::*;
use crate::build::CrateOrigin;
use crate::build::cargo::{LockPolicy, Profile};
use crate::build::environment::BuildEnvironment;
use serde_json::json;
use std::time::Duration;

fn manifest() -> CrateManifest {
    CrateManifest {
        folder: PathBuf::from("/p/a"),
        package: "a".to_owned(),
        library: "a".to_owned(),
        source: PathBuf::from("/p/a/src/lib.rs"),
        build_script: None,
        standalone: true,
        sdk: None,
        origin: CrateOrigin::Person,
    }
}

fn artifact(manifest: &str, kind: &str, files: &[&str]) -> String {
    json!({
        "reason": "compiler-artifact", "package_id": "x", "manifest_path": manifest,
        "target": {"kind": [kind], "crate_types": [kind], "name": "a",
            "src_path": "/p/a/src/lib.rs", "edition": "2024"},
        "profile": {"opt_level": "0", "debuginfo": 0, "debug_assertions": true,
            "overflow_checks": true, "test": false},
        "features": [], "filenames": files, "executable": null, "fresh": true,
    })
    .to_string()
}

fn message(source: &str, level: &str) -> String {
    json!({
        "reason": "compiler-message", "package_id": "x",
        "target": {"kind": ["cdylib"], "crate_types": ["cdylib"], "name": "a",
            "src_path": source, "edition": "2024"},
        "message": {"message": "m", "code": null, "level": level, "spans": [], "children": [],
            "rendered": null},
    })
    .to_string()
}

fn output<'a>(manifest: &'a CrateManifest, lines: &[String]) -> Output<'a> {
    let mut output = Output::new(manifest, false);
    let (messages, _) = output.parts(&());
    for line in lines {
        messages.take(line);
    }
    output
}

#[test]
fn the_library_is_the_one_that_cargo_names_for_the_package() {
    let manifest = manifest();
    let lines = [
        "warning from a build tool".to_owned(),
        "{not json".to_owned(),
        json!({"reason": "of-a-later-cargo"}).to_string(),
        artifact("/p/b/Cargo.toml", "cdylib", &["/t/libb.so"]),
        artifact("/p/a/Cargo.toml", "custom-build", &["/t/build-script.so"]),
        artifact("/p/a/Cargo.toml", "cdylib", &["/t/liba.rlib", "/t/liba.so"]),
        message("/p/a/src/lib.rs", "warning"),
        message("/sdk/src/lib.rs", "warning"),
    ];
    let finished = output(&manifest, &lines).finished("a").unwrap();
    assert_eq!(
        (finished.library, finished.fresh, finished.warnings),
        (PathBuf::from("/t/liba.so"), true, 1)
    );
}

#[test]
fn packages_of_folders_are_told_from_those_of_registries() {
    let manifest = manifest();
    let of = |id: &str, folder: &str| {
        artifact(&format!("{folder}/Cargo.toml"), "lib", &["/t/lib.rlib"])
            .replace("\"x\"", &format!("{id:?}"))
    };
    let lines = [
        of("registry+https://x#serde@1.0.0", "/r/serde"),
        of("path+file:///p/b#0.1.0", "/p/b"),
        of("path+file:///p/b#0.1.0", "/p/b"),
        of("path+file:///p/c#0.1.0", "/p/c").replace("[\"lib\"]", "[\"custom-build\"]"),
        artifact("/p/a/Cargo.toml", "cdylib", &["/t/liba.so"]),
    ];
    let finished = output(&manifest, &lines).finished("a").unwrap();
    let expected = LocalPackage {
        id: "path+file:///p/b#0.1.0".to_owned(),
        folder: PathBuf::from("/p/b"),
        library: PathBuf::from("/t/lib.rlib"),
        fresh: true,
    };
    assert_eq!(finished.local, [expected]);
}

#[test]
fn a_build_without_a_library_says_what_there_was_instead() {
    let manifest = manifest();
    let lines = [artifact("/p/a/Cargo.toml", "cdylib", &["/t/liba.rlib"])];
    let error = output(&manifest, &lines).finished("a").unwrap_err();
    assert_eq!(
        error.to_string(),
        "cargo built `a` and reported no cdylib, expected .so, found `/t/liba.rlib`"
    );
}

fn failed(lines: &[String], last: &[&str]) -> BuildError {
    let (manifest, environment) = (manifest(), BuildEnvironment::default());
    let run = Run {
        confined: None,
        manifest: &manifest,
        target: Path::new("/t"),
        profile: Profile::Dev,
        lock: LockPolicy::Follow,
        colour: false,
        environment: &environment,
        limit: Duration::from_secs(1),
        inputs_hash: "hash",
    };
    let mut output = output(&manifest, lines);
    output.last = last.iter().map(|line| (*line).to_owned()).collect();
    output.failure(&run, ExitStatus::default())
}

#[test]
fn failures_are_told_apart() {
    let compile = failed(
        &[message("/sdk/src/lib.rs", "error")],
        &["error: could not compile"],
    );
    assert_eq!(compile.to_string(), "`a` does not compile: m");

    let offline = failed(
        &[],
        &[
            "    Updating crates.io index",
            "warning: spurious network error (1 try remaining): [7] Could not connect to server",
            "error: failed to get `serde` as a dependency of package `a v0.1.0 (/p/a)`",
        ],
    );
    assert_eq!(
        offline.to_string(),
        "the dependencies of `a` could not be fetched: failed to get `serde` as a dependency of package `a v0.1.0 (/p/a)`"
    );
    assert!(offline.hint().is_some());

    let other = failed(&[], &["error: two packages named `a`", "more"]);
    assert_eq!(
        other.to_string(),
        "cargo could not build `a`: two packages named `a`"
    );
    assert_eq!(other.details(), ["error: two packages named `a`", "more"]);

    let silent = failed(&[], &[]);
    assert_eq!(
        silent.to_string(),
        "cargo could not build `a`: cargo ended with exit status: 0"
    );
}

#[test]
fn only_the_last_lines_are_kept() {
    let mut last = Vec::new();
    for number in 0..BUILD_OUTPUT_LINES + 2 {
        remember(&mut last, &number.to_string());
    }
    assert_eq!((last.len(), last[0].as_str()), (BUILD_OUTPUT_LINES, "2"));
}

#[test]
fn crates_are_named_as_they_are_compiled() {
    assert_eq!(
        compiled_crate("   Compiling serde v1.0.0 (/x)"),
        Some("serde")
    );
    assert_eq!(compiled_crate("    Finished `dev` profile"), None);
    assert_eq!(compiled_crate(""), None);
}
