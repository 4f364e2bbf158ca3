//! A plugin of two hundred tools, as the host builds it and as a finished library from which the
//! linker took all it could: none is lost, and each is its own.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use toolsmith_tests::{Project, repository, target};

/// The outermost modules.
const BRANCHES: [&str; 4] = ["a", "b", "c", "d"];

/// How many modules lie inside each other.
const LEVELS: usize = 5;

/// The tools of one module by the beginnings of their names: digits, capitals, the underscore and
/// small letters.
const KINDS: [&str; 10] = [
    "text", "sum", "_list", "Flag", "0unit", "none", "all", "later", "made", "async",
];

/// What all modules share.
const ROOT: &str = r#"
/// Of a length.
#[tool_type]
#[derive(Debug)]
pub enum Unit {
    Metre,
    Foot,
}

macro_rules! made {
    ($name:literal, $function:ident, $place:expr) => {
        /// Twice the number.
        #[tool(name = $name)]
        pub fn $function(number: i32) -> String { format!("{} {}", number * 2, $place) }
    };
    ($name:literal, async $function:ident, $place:expr) => {
        /// Half the number.
        #[tool(name = $name, label = "Made")]
        pub async fn $function(#[arg(default = 4)] number: u16) -> String {
            format!("{} {}", number / 2, $place)
        }
    };
}
"#;

/// The tools of each module, whose functions are called the same everywhere. `@` stands for the
/// module's place.
const MODULE: &str = r#"
    use tool_sdk::prelude::*;
    use crate::Unit;

    const PLACE: &str = "@";

    /// Greets somebody.
    #[tool(name = "text-@")]
    pub fn text(
        /// Whom
        who: &str,
        /// How often
        #[arg(default = 1)]
        times: u8,
    ) -> String {
        format!("{}{PLACE}", format!("{who} ").repeat(times.into()))
    }

    /// Adds.
    #[tool(name = "sum-@", inline)]
    pub fn sum(a: i64, b: Option<i64>) -> i64 { a + b.unwrap_or_default() }

    /// Turns a list round.
    #[tool(name = "_list-@", parallel = true)]
    pub fn list(mut items: Vec<String>) -> Vec<String> {
        items.reverse();
        items
    }

    /// Fails if told to.
    #[tool(name = "Flag-@")]
    pub fn flag(on: bool, ratio: f64) -> Result<String> {
        if on { Err(format!("{ratio}").into()) } else { Ok(PLACE.to_owned()) }
    }

    /// Names a unit.
    #[tool(name = "0unit-@")]
    pub fn unit(#[arg(default = "Foot")] unit: Unit) -> String { format!("{unit:?} {PLACE}") }

    /// Does nothing.
    #[tool(name = "none-@")]
    pub fn none() {}

    /// Gives back what it gets.
    #[tool(name = "all-@")]
    pub fn all(args: &Args, number: Option<u32>) -> Value { json!({"args": args, "number": number}) }

    /// Says when it is done.
    #[tool(name = "later-@", label = "Later", timeout = "5s")]
    pub async fn later(who: String, ctx: &ToolContext) -> Result<String> {
        ctx.progress(json!({"place": PLACE}));
        Ok(format!("{who} {PLACE}"))
    }

    made! { "made-@", made, PLACE }
    made! { "async-@", async made_later, PLACE }
"#;

/// How the library is made as small as it can be. Only a library that is a `cdylib` and nothing
/// else gets its LTO. Optimisation takes time and has no say in what is linked.
const PROFILE: &str = "opt-level = 1\nlto = \"fat\"\ncodegen-units = 1\nstrip = true\n";

/// The whole source: modules in modules.
fn source() -> String {
    let mut source = ROOT.to_owned();
    for branch in BRANCHES {
        for level in 1..=LEVELS {
            let place = format!("{branch}{level}");
            source.extend(["pub mod ", &place, " {", &MODULE.replace('@', &place)]);
        }
        source.push_str(&"}\n".repeat(LEVELS));
    }
    source
}

/// All names in the order of their bytes.
fn names() -> BTreeSet<String> {
    let places = BRANCHES
        .iter()
        .flat_map(|branch| (1..=LEVELS).map(move |level| format!("{branch}{level}")));
    places
        .flat_map(|place| KINDS.map(|kind| format!("{kind}-{place}")))
        .collect()
}

/// All tools are there in order, and the first, the last and the innermost ones answer.
fn check(project: &Project) {
    let list = project.run(&["list", "--json"]).json();
    assert_eq!(list["plugins"][0]["state"], "live", "{}", list["plugins"]);
    let tools = list["tools"].as_array().unwrap().iter();
    let listed: Vec<&str> = tools.map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(listed.len(), 200);
    assert!(names().iter().eq(&listed), "{listed:?}");

    assert_eq!((listed[0], listed[199]), ("0unit-a1", "text-d5"));
    for (name, arguments, answer) in [
        ("0unit-a1", "{}", "Foot a1\n"),
        ("async-c5", "{}", "2 c5\n"),
        ("later-b5", r#"{"who": "Ada"}"#, "Ada b5\n"),
        ("text-d5", r#"{"who": "Ada", "times": 2}"#, "Ada Ada d5\n"),
    ] {
        let ran = project.run(&["call", name, arguments]);
        assert_eq!(ran.stdout, answer, "{name}: {}", ran.stderr);
    }
}

/// Whether a variable, which the test has from its own cargo, would change what another one builds.
fn changes_builds(name: &str) -> bool {
    let begins = |beginning: &&str| name.starts_with(*beginning);
    let kept = ["CARGO_HOME", "CARGO_HTTP_", "CARGO_NET_", "CARGO_REGISTR"];
    let changing = ["CARGO", "RUSTC", "RUSTFLAGS", "MAKEFLAGS"];
    changing.iter().any(begins) && !kept.iter().any(begins)
}

/// Builds the crate in `crate` as its author would by hand, and gives the library's file.
fn build(project: &Project, package: &str) -> PathBuf {
    let folder = target().join("finished");
    let mut command = Command::new("cargo");
    command
        .args(["build", "--release", "--locked", "-v", "--target-dir"])
        .arg(&folder)
        .current_dir(project.path().join("crate"));
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(changes_builds) {
            command.env_remove(name);
        }
    }
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("-C lto=fat"), "{said}");
    folder.join(format!("release/lib{}.so", package.replace('-', "_")))
}

#[test]
fn two_hundred_tools_outlive_lto_and_strip() {
    let project = Project::new();
    let package = project.crate_name("many-finished");
    let sdk = repository().join("tool-sdk");
    let manifest = format!(
        "[package]\nname = {package:?}\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
         [lib]\ncrate-type = [\"cdylib\"]\n\n[dependencies]\ntool-sdk = {{ path = {:?} }}\n\n\
         [profile.dev]\n{PROFILE}\n[profile.release]\n{PROFILE}\n[workspace]\n",
        sdk.display().to_string(),
    );
    let lock = fs_err::read_to_string(sdk.join("template/Cargo.lock")).unwrap();
    let lock = lock.replace("name = \"template\"", &format!("name = {package:?}"));
    let source = format!("use tool_sdk::prelude::*;\n{}", source());
    project.write("crate/Cargo.toml", &manifest);
    project.write("crate/Cargo.lock", &lock);
    project.write("crate/src/lib.rs", &source);

    let library = build(&project, &package);
    fs_err::copy(library, project.plugins().join("libmany.so")).unwrap();
    check(&project);
}

#[test]
fn two_hundred_tools_of_a_crate_serve() {
    let project = Project::new();
    project.plugin("many", &source());
    check(&project);
}
