//! `toolsmith build`: the folder of finished libraries, its manifest, and what runs from it where
//! there is no Rust.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use agent_core::ids::ContentHash;
use serde_json::{Value, json};
use toolsmith_tests::{Dev, Project, Ran, toolsmith};

/// A tool of this name that answers with a word.
fn tool(name: &str, word: &str) -> String {
    format!(
        "/// Says a word.\n#[tool(example({{}}, {word:?}))]\nfn {name}() -> String {{ {word:?}.into() }}"
    )
}

/// The names of the files in a folder.
fn files(folder: &Path) -> BTreeSet<String> {
    let entries = fs_err::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.collect()
}

/// The file name of a crate's finished library.
fn file_of(project: &Project, name: &str) -> String {
    format!("lib{}.so", project.crate_name(name).replace('-', "_"))
}

/// Checks that a manifest says of every library what it is.
fn is_true(manifest: &Value, folder: &Path) {
    for library in manifest["libraries"].as_array().unwrap() {
        let bytes = fs_err::read(folder.join(library["file"].as_str().unwrap())).unwrap();
        assert_eq!(library["hash"], json!(ContentHash::of(&bytes).to_string()));
        assert_eq!(library["size"], json!(bytes.len()));
        for key in ["abi", "sdk", "rustc", "target"] {
            assert!(library["stamp"][key].is_string(), "{library}");
        }
    }
}

fn manifest(folder: &Path) -> Value {
    serde_json::from_slice(&fs_err::read(folder.join("manifest.json")).unwrap()).unwrap()
}

/// The command where nothing is in PATH and there is no home.
fn bare(project: &Project, arguments: &[&str]) -> Command {
    let empty = project.path().join("empty");
    fs_err::create_dir_all(&empty).unwrap();
    let mut command = Command::new(toolsmith());
    command
        .args(arguments)
        .current_dir(project.path())
        .env_clear()
        .env("PATH", &empty)
        .env("HOME", &empty)
        .stdin(Stdio::null());
    command
}

fn run_bare(project: &Project, arguments: &[&str]) -> Ran {
    let output = bare(project, arguments).output().unwrap();
    Ran {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A folder of finished libraries is all that another machine needs.
#[test]
fn finished_libraries_run_where_there_is_no_rust() {
    let project = Project::new();
    project.plugin("one", &tool("one", "first"));
    project.plugin("two", &tool("two", "second"));
    let ran = project.run(&["build", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let dist = project.path().join("dist");
    let value = ran.json();
    assert_eq!(value["path"], json!(dist));
    assert_eq!(value["failed"], json!([]));
    assert_eq!(
        (&value["schemaVersion"], &value["profile"]),
        (&json!(1), &json!("dev"))
    );
    let written = manifest(&dist);
    assert_eq!(value["libraries"], written["libraries"]);
    is_true(&written, &dist);
    let (one, two) = (file_of(&project, "one"), file_of(&project, "two"));
    assert_eq!(
        files(&dist),
        BTreeSet::from([one.clone(), two, "manifest.json".to_owned()])
    );
    let first = &written["libraries"][0];
    assert_eq!(
        (&first["file"], &first["plugin"], &first["tools"]),
        (
            &json!(one),
            &json!(project.crate_name("one")),
            &json!(["one"])
        )
    );

    // Elsewhere, with nothing but the command.
    let other = Project::new();
    let folder = other.path().join("delivered");
    fs_err::create_dir(&folder).unwrap();
    for file in files(&dist) {
        fs_err::copy(dist.join(&file), folder.join(&file)).unwrap();
    }
    let at = ["--plugins", "delivered"];
    let run = |arguments: &[&str]| run_bare(&other, &[arguments, &at[..]].concat());
    let list = run(&["list", "--json"]);
    assert_eq!((list.code, list.stderr.as_str()), (Some(0), ""), "{list:?}");
    let states: Vec<Value> = list.json()["plugins"]
        .as_array()
        .unwrap()
        .iter()
        .map(|plugin| plugin["state"].clone())
        .collect();
    assert_eq!(states, ["live", "live"], "the manifest is no plugin");
    let called = run(&["call", "one"]);
    assert_eq!((called.code, called.stdout.as_str()), (Some(0), "first\n"));
    assert_eq!(run(&["schema", "two", "--json"]).json()[0]["name"], "two");
    let tested = run(&["test", "--json"]);
    assert_eq!(
        (tested.code, &tested.json()["passed"]),
        (Some(0), &json!(2))
    );
    let checked = run(&["check", "--json"]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
    assert_eq!(checked.json()["findings"], json!([]));
    let path = format!("delivered/{one}");
    let checked = run_bare(&other, &["check", &path, "--json"]);
    assert_eq!(
        (checked.code, &checked.json()["ok"]),
        (Some(0), &json!(true))
    );
    let mut dev = Dev::start(bare(&other, &["dev", "--json", "--plugins", "delivered"]));
    assert_eq!(dev.call("two", ""), "second");
    assert_eq!(dev.finish(), Some(0));
}

/// A running host takes over what is built anew, and what no plugin makes any more is gone.
#[test]
fn folder_follows_the_plugins_while_a_host_serves_it() {
    let project = Project::new();
    project.plugin("edited", &tool("edited", "old"));
    project.plugin("removed", &tool("removed", "here"));
    assert_eq!(project.run(&["build"]).code, Some(0));
    let dist = project.path().join("dist");
    let before = fs_err::metadata(dist.join(file_of(&project, "removed"))).unwrap();
    project.write("dist/notes.txt", "mine");
    let mut dev = Dev::start(project.command(&["dev", "--json", "--plugins", "dist"]));
    assert_eq!(dev.call("edited", ""), "old");

    project.source("edited", &tool("edited", "new"));
    let ran = project.run(&["build"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let edited = format!(
        "{}: edited\n",
        dist.join(file_of(&project, "edited")).display()
    );
    assert!(ran.stdout.starts_with(&edited), "{}", ran.stdout);
    assert_eq!(dev.call("edited", ""), "new");
    // What is the same is not written again.
    let after = fs_err::metadata(dist.join(file_of(&project, "removed"))).unwrap();
    assert_eq!(before.modified().unwrap(), after.modified().unwrap());

    fs_err::remove_dir_all(project.plugins().join("removed")).unwrap();
    let foreign = "libforeign.so";
    project.write(format!("dist/{foreign}"), "mine");
    let value = project.run(&["build", "--json"]).json();
    assert_eq!(value["libraries"].as_array().map(Vec::len), Some(1));
    let expected = [
        &file_of(&project, "edited"),
        foreign,
        "manifest.json",
        "notes.txt",
    ];
    assert_eq!(files(&dist), expected.map(str::to_owned).into());
    dev.ask_until("list", |list| {
        list["tools"].as_array().map(Vec::len) == Some(1)
    });
    assert_eq!(dev.finish(), Some(0));
}

/// What was put in the place of a finished library by hand is nobody's to remove.
#[test]
fn file_that_was_replaced_by_hand_stays() {
    let project = Project::new();
    project.plugin("gone", &tool("gone", "x"));
    assert_eq!(project.run(&["build", "--out", "out"]).code, Some(0));
    let file = format!("out/{}", file_of(&project, "gone"));
    project.write(&file, "mine");
    project.write("plugins/../precious.so", "mine");
    let path = project.path().join("out/manifest.json");
    let text = fs_err::read_to_string(&path).unwrap();
    fs_err::remove_dir_all(project.plugins().join("gone")).unwrap();
    assert_eq!(project.run(&["build", "--out", "out"]).code, Some(0));
    assert_eq!(
        fs_err::read_to_string(project.path().join(&file)).unwrap(),
        "mine"
    );

    // Nor is anything outside, whatever a manifest says.
    let hash = ContentHash::of(b"mine").to_string();
    let mut forged: Value = serde_json::from_str(&text).unwrap();
    forged["libraries"][0]["file"] = json!("../precious.so");
    forged["libraries"][0]["hash"] = json!(hash);
    fs_err::write(&path, forged.to_string()).unwrap();
    assert_eq!(project.run(&["build", "--out", "out"]).code, Some(0));
    assert!(project.path().join("precious.so").is_file());
    assert_eq!(
        manifest(&project.path().join("out"))["libraries"],
        json!([])
    );
}

/// The others are handed on, and what the failed one made before stays and is told truly.
#[test]
fn one_failing_plugin_costs_only_itself() {
    let project = Project::new();
    project.plugin("fails", &tool("fails", "before"));
    assert_eq!(project.run(&["build"]).code, Some(0));
    let dist = project.path().join("dist");
    let old = manifest(&dist)["libraries"][0].clone();
    project.source("fails", "broken");
    project.plugin("works", &tool("works", "now"));
    project.write("plugins/odd/Cargo.toml", "[package\n");
    let ran = project.run(&["build", "--json"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let value = ran.json();
    let failed: Vec<&str> = value["failed"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            assert!(!one["reason"].as_str().unwrap().is_empty());
            one["plugin"].as_str().unwrap()
        })
        .collect();
    assert_eq!(failed, ["odd", &project.crate_name("fails")]);
    let written = manifest(&dist);
    is_true(&written, &dist);
    assert_eq!(written["libraries"][0], old);
    assert_eq!(written["libraries"][1]["tools"], json!(["works"]));

    // Without the file there is nothing to tell of it.
    fs_err::remove_file(dist.join(file_of(&project, "fails"))).unwrap();
    let ran = project.run(&["build"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("src/lib.rs"), "{}", ran.stderr);
    assert_eq!(
        manifest(&dist)["libraries"].as_array().map(Vec::len),
        Some(1)
    );
}

/// A library that may not serve is not handed on, a finished one is.
#[test]
fn finished_libraries_are_judged_and_copied() {
    let maker = Project::new();
    maker.plugin("one", &tool("one", "first"));
    maker.run(&["build"]);
    let library = fs_err::read(maker.path().join("dist").join(file_of(&maker, "one"))).unwrap();
    let project = Project::new();
    fs_err::write(project.plugins().join("liba-b.so"), &library).unwrap();
    fs_err::write(project.plugins().join("liba_b.so"), &library).unwrap();
    fs_err::write(project.plugins().join("libcut.so"), &library[..1000]).unwrap();
    let ran = project.run(&["build", "--json"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let value = ran.json();
    let failed = value["failed"].as_array().unwrap();
    assert_eq!(
        (&failed[0]["plugin"], &failed[1]["plugin"]),
        (&json!("a_b"), &json!("cut"))
    );
    let reason = failed[0]["reason"].as_str().unwrap();
    assert!(
        reason.contains("`liba_b.so`") && reason.contains("plugin `a-b`"),
        "{reason}"
    );
    let dist = project.path().join("dist");
    let expected = ["liba_b.so", "manifest.json"].map(str::to_owned);
    assert_eq!(files(&dist), expected.into());
    assert_eq!(fs_err::read(dist.join("liba_b.so")).unwrap(), library);
    let called = run_bare(&project, &["call", "one", "--plugins", "dist"]);
    assert_eq!(called.stdout, "first\n", "{called:?}");
}

/// Nothing is written to where it would be taken for a plugin, or would destroy what is there.
#[test]
fn folders_that_can_not_be_written_to_are_refused() {
    let project = Project::new();
    project.write("file", "mine");
    project.write("other/manifest.json", "{\"name\": \"a web page\"}");
    project.write(
        "newer/manifest.json",
        "{\"schemaVersion\":2,\"profile\":\"dev\",\"libraries\":[]}",
    );
    std::os::unix::fs::symlink(project.plugins(), project.path().join("link")).unwrap();
    for (out, part) in [
        ("plugins", "lies in the plugins folder"),
        ("plugins/dist", "lies in the plugins folder"),
        ("link/dist", "lies in the plugins folder"),
        ("file", "is no folder"),
        ("other", "is no manifest of finished libraries"),
        ("newer", "another version"),
    ] {
        let ran = project.run(&["build", "--out", out]);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (Some(2), ""),
            "{out}: {ran:?}"
        );
        assert!(ran.stderr.contains(part), "{out}: {}", ran.stderr);
    }
    assert!(files(&project.plugins()).is_empty());
    let ran = project.run(&["build", "--release", "--no-build", "--json"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.json()["error"]["message"].is_string());
    assert!(!project.path().join("dist").exists());
}

/// What was last built is handed on without a look at the sources.
#[test]
fn no_build_hands_on_what_was_built_last() {
    let project = Project::new();
    project.plugin("built", &tool("built", "x"));
    project.run(&["list"]);
    project.source("built", "broken");
    project.plugin("unbuilt", &tool("unbuilt", "x"));
    let value = project.run(&["build", "--no-build", "--json"]).json();
    assert_eq!(value["libraries"][0]["tools"], json!(["built"]), "{value}");
    let reason = value["failed"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("not built yet"), "{reason}");
}

/// Compiles the SDK's dependencies a second time, so it belongs to the long forms.
#[test]
fn release_libraries_say_that_they_are() {
    if std::env::var_os("TOOLSMITH_LONG").is_none() {
        return;
    }
    let project = Project::new();
    project.plugin("fast", &tool("fast", "x"));
    let dev = project.run(&["build", "--json"]).json();
    let ran = project.run(&["build", "--release", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let dist = project.path().join("dist");
    let written = manifest(&dist);
    is_true(&written, &dist);
    assert_eq!(written["profile"], "release");
    assert_ne!(written["libraries"][0]["hash"], dev["libraries"][0]["hash"]);
    let called = run_bare(&project, &["call", "fast", "--plugins", "dist"]);
    assert_eq!(called.stdout, "x\n", "{called:?}");

    // What stays of it after a failure in another profile says which it was.
    project.source("fast", "broken");
    let value = project.run(&["build", "--json"]).json();
    assert_eq!(value["profile"], "dev");
    assert_eq!(value["libraries"][0]["profile"], "release");
}
