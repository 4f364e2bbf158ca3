//! What code can do while it is compiled.

use std::path::Path;

use serde_json::json;
use toolsmith_tests::{Project, Ran, repository};

use super::{edit, list, plugin, unmark, written};

/// Where a crate's compiler may read nothing: beside the plugins folder.
const SECRET: &str = "secret.rs";

struct Escape {
    name: &'static str,
    /// What the tool answers with; `PATH` stands for the secret's path.
    body: &'static str,
    /// Items beside it.
    items: &'static str,
    /// What the compiler says.
    refused: &'static str,
    /// What the tool answers where nothing is refused.
    answer: &'static str,
}

const ESCAPES: [Escape; 5] = [
    Escape {
        name: "text",
        body: "include_str!(PATH).len()",
        items: "",
        refused: "couldn't read",
        answer: "22",
    },
    Escape {
        name: "bytes",
        body: "include_bytes!(PATH)[0]",
        items: "",
        refused: "couldn't read",
        answer: "112",
    },
    Escape {
        name: "module",
        body: "secret::KEY",
        items: "#[path = PATH] mod secret;",
        refused: "couldn't read",
        answer: "7",
    },
    Escape {
        name: "variable",
        body: "env!(\"SECRET_OF_THE_HOST\")",
        items: "",
        refused: "environment variable `SECRET_OF_THE_HOST` not defined at compile time",
        answer: "hidden",
    },
    Escape {
        name: "assembler",
        body: "1",
        items: "std::arch::global_asm!(concat!(\".pushsection .rodata\\n.incbin \\\"\", PATH, \
                \"\\\"\\n.popsection\"));",
        refused: "Could not find incbin file",
        answer: "1",
    },
];

fn list_with_secret(project: &Project) -> Ran {
    let mut command = project.command(&["list", "--json"]);
    command.env("SECRET_OF_THE_HOST", "hidden");
    let output = command.output().unwrap();
    Ran {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// `g6.compile-time-exec.1`
#[test]
fn what_is_read_while_compiling_is_a_compile_error() {
    let project = Project::new();
    project.write(SECRET, "pub const KEY: u8 = 7;");
    let path = format!("{:?}", project.path().join(SECRET).display().to_string());
    for escape in &ESCAPES {
        let source = format!(
            "{}\n/// Answers.\n#[tool(name = \"{}\")]\nfn answer() -> String {{ ({}).to_string() }}\n",
            escape.items, escape.name, escape.body
        );
        written(&project, escape.name, &source.replace("PATH", &path));
    }
    let refused = list_with_secret(&project);
    for escape in &ESCAPES {
        let plugin = plugin(&project, &refused, escape.name);
        assert_eq!(plugin["state"], "failed", "{plugin}");
        let reason = plugin["reason"].as_str().unwrap();
        assert!(reason.contains(escape.refused), "{plugin}");
        assert!(reason.contains("does not compile: "), "{plugin}");
        unmark(&project, escape.name);
    }
    let allowed = list_with_secret(&project);
    for escape in &ESCAPES {
        let plugin = plugin(&project, &allowed, escape.name);
        assert_eq!(plugin["state"], "live", "{plugin}\n{}", allowed.stderr);
        let mut command = project.command(&["call", escape.name]);
        command.env("SECRET_OF_THE_HOST", "hidden");
        let output = command.output().unwrap();
        let answer = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(answer.trim(), escape.answer, "{}", escape.name);
    }
}

/// A wrapper is a program that runs for every file that is compiled.
#[test]
fn configuration_in_a_written_crate_is_not_followed() {
    let project = Project::new();
    let mark = project.path().join("wrapped");
    let wrapper = project.path().join("wrapper");
    project.write(
        "wrapper",
        &format!("#!/bin/sh\ntouch '{}'\nexec \"$@\"\n", mark.display()),
    );
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    fs_err::set_permissions(&wrapper, mode).unwrap();
    written(
        &project,
        "wrapped",
        "/// One.\n#[tool]\nfn one() -> i32 { 1 }\n",
    );
    let config = json!({ "wrapper": wrapper.display().to_string() });
    project.write(
        "plugins/wrapped/.cargo/config.toml",
        &format!("[build]\nrustc-workspace-wrapper = {}\n", config["wrapper"]),
    );
    let toolchain = "plugins/wrapped/rust-toolchain.toml";
    project.write(toolchain, "[toolchain]\nchannel = \"no-such-toolchain\"\n");
    let state = |list: &Ran| plugin(&project, list, "wrapped")["state"].clone();

    let built = list(&project);
    assert_eq!(state(&built), "live", "{}", built.stderr);
    assert!(!mark.exists(), "the wrapper has run");

    unmark(&project, "wrapped");
    // It counts for a person, who would have no such toolchain.
    fs_err::remove_file(project.path().join(toolchain)).unwrap();
    let built = list(&project);
    assert_eq!(state(&built), "live", "{}", built.stderr);
    assert!(mark.exists(), "a person's wrapper runs");
}

/// A build script of the SDK that acts, tells how that went, and fails.
const ACTS: &str = r#"
use std::io::Result;
fn main() {
    let acts: [(&str, Result<()>); 5] = [
        ("write into the crate", std::fs::write("CRATE/new", "x")),
        ("write beside it", std::fs::write("BESIDE/new", "x")),
        ("read beside it", std::fs::read("BESIDE/toolsmith.toml").map(drop)),
        ("connect", std::net::TcpStream::connect("ADDRESS").map(drop)),
        ("write at home", std::fs::write(std::env::var("HOME").unwrap() + "/toolsmith-test", "x")),
    ];
    for (act, outcome) in acts {
        eprintln!("ACT {act}: {}", outcome.map_or_else(|error| error.kind().to_string(), |()| "ok".to_owned()));
    }
    panic!("it has acted");
}
"#;

/// What the compilers start: here the build script of the one crate that a written one may name by its
/// path.
#[test]
fn the_compiler_is_confined_with_all_that_it_starts() {
    let project = Project::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let home = tempfile::tempdir().unwrap();
    let sdk = agent_core::build::sdk::unpack(&project.path().join(".toolsmith")).unwrap();
    let script = ACTS
        .replace(
            "CRATE",
            &project.path().join("plugins/acting").display().to_string(),
        )
        .replace("BESIDE", &project.path().display().to_string())
        .replace("ADDRESS", &listener.local_addr().unwrap().to_string());
    fs_err::write(sdk.join("build.rs"), script).unwrap();
    written(
        &project,
        "acting",
        "/// One.\n#[tool]\nfn one() -> i32 { 1 }\n",
    );
    edit(&project, "acting", |manifest| {
        let from = repository().join("tool-sdk").display().to_string();
        manifest.replace(&from, &sdk.display().to_string())
    });
    let acts = || {
        let mut command = project.command(&["list", "--json"]);
        let toolchains = std::env::var_os("HOME").map(|home| Path::new(&home).join(".rustup"));
        let cargo = std::env::var_os("HOME").map(|home| Path::new(&home).join(".cargo"));
        // Where a person's home is another one, the toolchain and the registry stay where they are.
        for (name, folder) in [("RUSTUP_HOME", toolchains), ("CARGO_HOME", cargo)] {
            if std::env::var_os(name).is_none() && folder.as_ref().is_some_and(|it| it.is_dir()) {
                command.env(name, folder.unwrap());
            }
        }
        let output = command.env("HOME", home.path()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let lines = text.lines().map(str::trim);
        let acts = lines.filter_map(|line| line.strip_prefix("ACT "));
        let acts: Vec<String> = acts.map(str::to_owned).collect();
        assert!(!acts.is_empty(), "{text}");
        acts
    };
    let home_of = || home.path().join("toolsmith-test").exists();
    assert_eq!(
        acts(),
        [
            "write into the crate: permission denied",
            "write beside it: permission denied",
            "read beside it: permission denied",
            "connect: permission denied",
            "write at home: ok",
        ]
    );
    assert!(!home_of(), "its home is another one");
    unmark(&project, "acting");
    assert_eq!(
        acts(),
        [
            "write into the crate: ok",
            "write beside it: ok",
            "read beside it: ok",
            "connect: ok",
            "write at home: ok",
        ]
    );
    assert!(home_of());
}
