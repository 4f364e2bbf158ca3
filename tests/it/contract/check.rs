//! `toolsmith check`: what it finds, how it says it, and how it exits.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};
use toolsmith_tests::{Project, Ran, repository, target, toolsmith};

const GREETER: &str = "/// Greets.\n#[tool(parallel = true)]\nasync fn greet_all(\n\
     /// Whom\n name: String) -> String { name }";

/// The level, code, tool and pointer of each finding.
fn told(checked: &Value) -> Vec<(&str, &str, Option<&str>, Option<&str>)> {
    let findings = checked["findings"].as_array().unwrap().iter();
    let told = findings.map(|one| {
        let text = |key: &str| one[key].as_str();
        assert!(!text("message").unwrap().contains('\n'), "{one}");
        (
            text("level").unwrap(),
            text("code").unwrap(),
            text("tool"),
            text("pointer"),
        )
    });
    told.collect()
}

/// One JSON value, this exit code, and nothing that was published.
#[track_caller]
fn checked(ran: &Ran, code: i32) -> Value {
    let value = ran.json();
    assert_eq!(ran.code, Some(code), "{ran:?}");
    assert_eq!(value["ok"], (code == 0), "{value}");
    value
}

/// The library of a crate of the project, as it was built.
fn library_of(project: &Project, name: &str) -> PathBuf {
    let file = format!("lib{}.so", project.crate_name(name).replace('-', "_"));
    let path = project.path().join(file);
    let built = target()
        .join("trusted/debug")
        .join(path.file_name().unwrap());
    fs_err::copy(built, &path).unwrap();
    path
}

#[test]
fn crate_that_is_fine_is_ok_and_shown_with_stamp_and_tools() {
    let project = Project::new();
    project.plugin("greeter", GREETER);
    for path in ["plugins/greeter", "plugins/greeter/Cargo.toml"] {
        let value = checked(&project.run(&["check", path, "--json"]), 0);
        assert_eq!(value["path"], json!(project.plugins().join("greeter")));
        assert_eq!(
            value["tools"],
            json!([{
                "name": "greet_all", "label": "Greet All", "description": "Greets.",
                "parallel": true, "async": true,
            }])
        );
        assert_eq!(value["findings"], json!([]));
        for key in ["abi", "sdk", "rustc", "target"] {
            assert!(value["stamp"][key].is_string(), "{value}");
        }
        assert_eq!(value["stamp"].as_object().unwrap().len(), 4);
        assert!(value.get("plugins").is_none(), "{value}");
    }
    let ran = project.run(&["check", "plugins/greeter"]);
    let path = project.plugins().join("greeter");
    assert_eq!(ran.stdout, format!("{}: ok\n", path.display()));

    // Without a build, what was built last is judged.
    project.source("greeter", "broken");
    checked(
        &project.run(&["check", "plugins/greeter", "--json", "--no-build"]),
        0,
    );
    checked(&project.run(&["check", "plugins/greeter", "--json"]), 1);
}

/// A library anywhere, in no project: nothing is left beside it.
#[test]
fn library_in_no_project_is_judged_and_tried_out() {
    let project = Project::new();
    project.plugin("greeter", GREETER);
    project.run(&["list"]);
    let folder = tempfile::tempdir().unwrap();
    let good = folder.path().join("libgreeter.so");
    fs_err::copy(library_of(&project, "greeter"), &good).unwrap();
    let bytes = fs_err::read(&good).unwrap();
    let files: [(&str, &[u8], i32, &str); 5] = [
        ("libgreeter.so", &bytes, 0, ""),
        ("libcut.so", &bytes[..bytes.len() / 2], 1, "incomplete"),
        ("libwords.so", b"hello, world", 1, "notALibrary"),
        ("libempty.so", b"", 1, "notALibrary"),
        (
            "libprogram.so",
            &fs_err::read("/proc/self/exe").unwrap(),
            1,
            "noStamp",
        ),
    ];
    for (name, bytes, code, finding) in files {
        fs_err::write(folder.path().join(name), bytes).unwrap();
        let mut command = Command::new(toolsmith());
        command
            .args(["check", name, "--json"])
            .current_dir(folder.path())
            .env_remove("TOOLSMITH_STATE");
        let output = command.output().unwrap();
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(code), "{value}");
        assert_eq!(value["path"], json!(folder.path().join(name)));
        let expected = (code != 0).then_some(("error", finding, None, None));
        assert_eq!(told(&value), expected.into_iter().collect::<Vec<_>>());
        let has_tool = value["tools"][0]["name"] == "greet_all";
        assert_eq!(has_tool, code == 0, "{value}");
    }
    assert_eq!(
        fs_err::read_dir(folder.path()).unwrap().count(),
        files.len()
    );
}

/// R21: every message of the compiler by itself, with its place.
#[test]
fn every_compile_error_is_a_finding() {
    let project = Project::new();
    project.plugin(
        "broken",
        "/// One.\n#[tool]\nfn one() -> String { 1 }\n\n/// Two.\n#[tool]\nfn two() -> String { nowhere }",
    );
    let value = checked(&project.run(&["check", "plugins/broken", "--json"]), 1);
    let build = ("error", "build", None, None);
    assert_eq!(told(&value), [build, build], "{value}");
    let text = value["findings"].to_string();
    assert!(text.contains("src/lib.rs:4:"), "{text}");
    assert!(text.contains("mismatched types (E0308)"), "{text}");
    assert!(text.contains("src/lib.rs:8:"), "{text}");
    assert_eq!(value["tools"], json!([]));
    assert!(value.get("stamp").is_none(), "{value}");

    let ran = project.run(&["check", "plugins/broken"]);
    assert_eq!(ran.code, Some(1));
    assert_eq!(ran.stdout.lines().count(), 3, "{}", ran.stdout);
    assert!(ran.stdout.ends_with(": 2 errors\n"), "{}", ran.stdout);
}

/// Each of several reasons by itself, with its tool.
#[test]
fn every_bad_tool_of_a_library_is_a_finding() {
    let project = Project::new();
    project.plugin(
        "bad",
        "const LARGE: u8 = 200;\n\
         /// One.\n#[tool]\nfn one(\n/// N\n #[arg(default = LARGE, max = 10)] n: u8) -> String { n.to_string() }\n\
         /// Two.\n#[tool]\nfn two(\n/// N\n #[arg(default = LARGE, max = 10)] n: u8) -> String { n.to_string() }",
    );
    let value = checked(&project.run(&["check", "plugins/bad", "--json"]), 1);
    assert_eq!(
        told(&value),
        [
            ("error", "badTool", Some("one"), None),
            ("error", "badTool", Some("two"), None)
        ],
        "{value}"
    );
    // The command that loads says the same.
    let list = project.run(&["list", "--json"]).json();
    let reason = list["plugins"][0]["reason"].as_str().unwrap();
    for finding in value["findings"].as_array().unwrap() {
        assert!(
            reason.contains(finding["message"].as_str().unwrap()),
            "{reason}"
        );
    }
}

#[test]
fn what_an_author_may_have_forgotten_is_a_warning() {
    let project = Project::new();
    project.plugin(
        "terse",
        "#[tool]\nfn terse(name: String,\n/// Told\n told: bool) -> String { format!(\"{name}{told}\") }",
    );
    let value = checked(&project.run(&["check", "plugins/terse", "--json"]), 0);
    assert_eq!(
        told(&value),
        [
            ("warning", "noDescription", Some("terse"), None),
            (
                "warning",
                "noDescription",
                Some("terse"),
                Some("/properties/name")
            ),
        ]
    );
    let ran = project.run(&["check", "plugins/terse"]);
    assert_eq!(ran.code, Some(0));
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(
        lines[0],
        "warning: tool `terse` has no description: write a doc comment above it [noDescription]"
    );
    assert!(lines[1].contains("(at /properties/name)"), "{}", lines[1]);
    assert!(lines[2].ends_with(": ok, 2 warnings"), "{}", lines[2]);

    project.plugin("none", "pub fn nothing() {}");
    let value = checked(&project.run(&["check", "plugins/none", "--json"]), 0);
    assert_eq!(told(&value), [("warning", "noTools", None, None)]);
}

/// The whole project: what is broken beside what is fine, names that two want, and names in the
/// configuration that nothing has.
#[test]
fn project_is_checked_with_its_names() {
    let project = Project::new();
    project.plugin("first", GREETER);
    project.plugin(
        "second",
        &format!("{GREETER}\n/// Own.\n#[tool(name = \"listTools\")]\nfn own() {{}}"),
    );
    let config = fs_err::read_to_string(project.path().join("toolsmith.toml")).unwrap();
    let sections = "[tools.greet_all]\npreset = { nam = \"x\" }\n[tools.greetAll]\ntimeout = \"1s\"\n\
         [plugins.nobody.settings]\na = 1\n";
    project.write("toolsmith.toml", &format!("{config}{sections}"));
    let value = checked(&project.run(&["check", "--json"]), 0);
    assert_eq!(value["path"], json!(project.plugins()));
    assert_eq!(
        told(&value),
        [
            ("warning", "nameConflict", Some("greet_all"), None),
            ("warning", "builtInName", Some("listTools"), None),
            ("warning", "unknownPlugin", None, None),
            ("warning", "unknownTool", Some("greetAll"), None),
            ("warning", "unknownPreset", Some("greet_all"), None),
        ],
        "{value}"
    );
    let text = value["findings"].to_string();
    assert!(text.contains("did you mean `greet_all`?"), "{text}");
    assert!(text.contains("did you mean `name`?"), "{text}");
    let (first, second) = (project.crate_name("first"), project.crate_name("second"));
    assert_eq!(value["findings"][0]["plugin"], json!(second));
    let plugins: Vec<&Value> = value["plugins"].as_array().unwrap().iter().collect();
    assert_eq!(plugins.len(), 2);
    assert_eq!(
        (&plugins[0]["name"], &plugins[0]["ok"]),
        (&json!(first), &json!(true))
    );
    assert_eq!(value["tools"][0]["plugin"], json!(first));

    // One by itself is told of both sides of a conflict.
    for (name, part) in [("first", "plugin `second-"), ("second", "can't be called")] {
        let value = checked(
            &project.run(&["check", &format!("plugins/{name}"), "--json"]),
            0,
        );
        let conflict = &value["findings"][0];
        assert_eq!(conflict["code"], "nameConflict", "{value}");
        assert!(
            conflict["message"].as_str().unwrap().contains(part),
            "{conflict}"
        );
    }

    project.write("plugins/odd/Cargo.toml", "[package\n");
    project.write("plugins/libtext.so", "no library");
    let value = checked(&project.run(&["check", "--json"]), 1);
    let errors: Vec<(&str, &str)> = value["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["level"] == "error")
        .map(|one| {
            (
                one["plugin"].as_str().unwrap(),
                one["code"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(errors, [("odd", "manifest"), ("text", "notALibrary")]);
    // A plugin that does not serve may have the tool.
    assert!(
        !value["findings"].to_string().contains("unknownTool"),
        "{value}"
    );
}

/// Settings that a plugin could not be opened with, without their values.
#[test]
fn settings_that_do_not_fit_are_found() {
    let project = Project::new();
    project.plugin("plain", GREETER);
    let config = fs_err::read_to_string(project.path().join("toolsmith.toml")).unwrap();
    let name = project.crate_name("plain");
    let section = format!("[plugins.{name}.settings]\nkey = \"secret-value\"\n");
    project.write("toolsmith.toml", &format!("{config}{section}"));
    let ran = project.run(&["check", "--json"]);
    let value = checked(&ran, 1);
    assert_eq!(told(&value), [("error", "badSettings", None, None)]);
    assert!(!ran.stdout.contains("secret-value"), "{}", ran.stdout);
}

#[test]
fn path_that_is_nothing_to_check_is_told_clearly() {
    let project = Project::new();
    let ran = project.run(&["check", "nowhere", "--json"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let value = checked(
        &Ran {
            code: Some(1),
            ..ran
        },
        1,
    );
    assert_eq!(told(&value), [("error", "notFound", None, None)]);
    let ran = project.run(&["check", "nowhere"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str(), ran.stderr.lines().count()),
        (Some(2), "", 1),
        "{ran:?}"
    );
    let path = project.path().join("nowhere");
    assert!(
        ran.stderr
            .contains(&format!("`{}` does not exist", path.display()))
    );

    fs_err::create_dir(project.path().join("empty")).unwrap();
    let value = checked(&project.run(&["check", "empty", "--json"]), 1);
    assert_eq!(told(&value), [("error", "manifest", None, None)]);
    let message = value["findings"][0]["message"].as_str().unwrap();
    assert!(message.contains("is an empty folder"), "{message}");
}

/// The bytes with the first place of one text replaced by another of its length.
fn replaced(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut windows = bytes.windows(from.len());
    let at = windows.position(|part| part == from.as_bytes()).unwrap();
    let mut changed = bytes.to_vec();
    changed[at..at + to.len()].copy_from_slice(to.as_bytes());
    changed
}

/// What a library's stamp says: another revision of the border does not serve, another compiler
/// does.
#[test]
fn stamp_of_another_making_is_told() {
    let project = Project::new();
    project.plugin("greeter", GREETER);
    project.run(&["list"]);
    let bytes = fs_err::read(library_of(&project, "greeter")).unwrap();
    let stamp = "toolsmith stamp\nabi=1\n";
    let revision = replaced(&bytes, stamp, "toolsmith stamp\nabi=9\n");
    fs_err::write(project.path().join("librevision.so"), revision).unwrap();
    let value = checked(&project.run(&["check", "librevision.so", "--json"]), 1);
    assert_eq!(told(&value), [("error", "wrongRevision", None, None)]);

    let compiler = replaced(&bytes, "rustc=rustc 1.", "rustc=rustc 0.");
    fs_err::write(project.path().join("libcompiler.so"), compiler).unwrap();
    let value = checked(&project.run(&["check", "libcompiler.so", "--json"]), 0);
    let expected = ("warning", "otherCompiler", None, None);
    // The project has a plugin with the same tool.
    let conflict = ("warning", "nameConflict", Some("greet_all"), None);
    assert_eq!(told(&value), [expected, conflict], "{value}");
    let rustc = value["stamp"]["rustc"].as_str().unwrap();
    assert!(rustc.starts_with("rustc 0."), "{rustc}");
    // Where there is no compiler there is none to compare with.
    let mut command = project.command(&["check", "libcompiler.so", "--json"]);
    let output = command.env("PATH", "").output().unwrap();
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told(&value), [conflict], "{value}");
}

/// A path that is no UTF-8 costs no answer.
#[test]
fn odd_file_names_are_told_as_far_as_they_can_be() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let project = Project::new();
    let odd = OsStr::from_bytes(b"odd\xff.txt");
    fs_err::write(project.path().join(odd), "words").unwrap();
    let output = project.command(&["check", "--json"]).arg(odd).output();
    let output = output.unwrap();
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{value}");
    assert_eq!(
        told(&value),
        [
            ("error", "notALibrary", None, None),
            ("warning", "fileName", None, None)
        ]
    );
    let path = project.path().join(odd).display().to_string();
    assert_eq!(value["path"], json!(path));
}

/// What ends the process that tries it out ends no more than that, and is told as such.
#[test]
fn library_that_crashes_is_told_with_its_own_code() {
    let project = Project::new();
    project.plugin(
        "crashes",
        "#[used]\n#[unsafe(link_section = \".init_array\")]\n\
         static START: extern \"C\" fn() = { extern \"C\" fn start() { std::process::abort() } start };\n\
         /// Works.\n#[tool]\nfn works() {}",
    );
    let value = checked(&project.run(&["check", "plugins/crashes", "--json"]), 1);
    assert_eq!(told(&value), [("error", "crashed", None, None)], "{value}");
    assert!(value["stamp"]["abi"].is_string(), "{value}");
    assert_eq!(value["tools"], json!([]));
}

/// A crate outside of the plugins folder whose library is called as a plugin's: the plugin's own
/// build stays as it is.
#[test]
fn crate_elsewhere_does_not_disturb_a_plugin_of_its_name() {
    let project = Project::new();
    project.plugin("twin", GREETER);
    project.run(&["list"]);
    let elsewhere = project.path().join("elsewhere");
    fs_err::create_dir_all(elsewhere.join("src")).unwrap();
    for file in ["Cargo.toml", "Cargo.lock"] {
        let from = project.plugins().join("twin").join(file);
        fs_err::copy(from, elsewhere.join(file)).unwrap();
    }
    project.write(
        "elsewhere/src/lib.rs",
        "use tool_sdk::prelude::*;\n/// Other.\n#[tool]\nfn other() {}",
    );
    let value = checked(&project.run(&["check", "elsewhere", "--json"]), 0);
    assert_eq!(value["tools"][0]["name"], "other");
    let ran = project.run(&["list", "--no-build", "--json"]);
    assert_eq!(ran.json()["tools"][0]["name"], "greet_all", "{ran:?}");
    let ran = project.run(&["list"]);
    assert!(!ran.stderr.contains("built"), "{ran:?}");
}

/// The plugins of this repository give no reason for a word.
#[test]
fn shipped_plugins_have_no_findings() {
    let project = Project::new();
    let output = Command::new(toolsmith())
        .args(["check", "--json", "--plugins"])
        .arg(repository().join("plugins"))
        .env("TOOLSMITH_TARGET", target())
        .env("TOOLSMITH_STATE", project.path().join("state"))
        .output()
        .unwrap();
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["findings"], json!([]));
    assert_eq!(output.status.code(), Some(0));
    assert!(value["tools"].as_array().unwrap().len() >= 2, "{value}");
}
