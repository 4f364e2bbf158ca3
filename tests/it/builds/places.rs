//! What a crate is made of in other places than its folder.

use toolsmith_tests::repository;

use super::{Counted, answer, answering};

/// A file outside the crate that is included, and what a build script reads.
#[test]
fn included_files_and_what_a_build_script_reads_are_followed() {
    let counted = Counted::new();
    let project = &counted.project;
    project.write("shared/word.txt", "one");
    let source =
        answering("concat!(include_str!(\"../../../shared/word.txt\"), \" \", env!(\"WORD\"))");
    project.plugin("scripted", &source);
    project.write("plugins/scripted/word.txt", "one");
    let script = |more: &str| {
        format!(
            "fn main() {{ println!(\"cargo::rerun-if-changed=word.txt\"); \
             let word = std::fs::read_to_string(\"word.txt\").unwrap(); \
             println!(\"cargo::rustc-env=WORD={{word}}{more}\"); }}"
        )
    };
    project.write("plugins/scripted/build.rs", &script(""));
    let mut dev = counted.dev();
    assert_eq!(answer(&mut dev), "one one");
    project.write("shared/word.txt", "two");
    assert_eq!(answer(&mut dev), "two one");
    project.write("plugins/scripted/word.txt", "two");
    assert_eq!(answer(&mut dev), "two two");
    project.write("plugins/scripted/build.rs", &script("!"));
    assert_eq!(answer(&mut dev), "two two!");
    counted.starts();
    assert_eq!(
        (answer(&mut dev), counted.starts()),
        ("two two!".to_owned(), 0)
    );
}

/// Plugin crates that are members of a person's own workspace, and a member beside them that is no
/// plugin: an edit of it reaches those that use it.
#[test]
fn members_of_a_workspace_are_built_and_follow_what_they_share() {
    let counted = Counted::new();
    let project = &counted.project;
    let [one, two, helper] =
        ["member-one", "member-two", "helper"].map(|name| project.crate_name(name));
    let sdk = repository().join("tool-sdk");
    for (name, package) in [("member-one", &one), ("member-two", &two)] {
        let manifest = format!(
            "[package]\nname = {package:?}\nversion.workspace = true\nedition = \"2024\"\n\
             [lib]\ncrate-type = [\"cdylib\", \"rlib\"]\n[dependencies]\n\
             tool-sdk.workspace = true\nhelper = {{ package = {helper:?}, path = \"../helper\" }}\n"
        );
        project.write(format!("plugins/{name}/Cargo.toml"), &manifest);
        let tool = name.replace('-', "_");
        let source =
            format!("/// Answers.\n#[tool]\nfn {tool}() -> String {{ helper::word(\"a\") }}\n");
        project.source(name, &source);
    }
    let manifest =
        format!("[package]\nname = {helper:?}\nversion.workspace = true\nedition = \"2024\"\n");
    project.write("plugins/helper/Cargo.toml", &manifest);
    let word = |word: &str| {
        format!(
            "pub fn word(text: &str) -> String {{ format!(\"{word} {{text}} {{}}\", env!(\"CARGO_PKG_VERSION\")) }}"
        )
    };
    project.write("plugins/helper/src/lib.rs", &word("one"));
    let workspace = |version: &str| {
        format!(
            "[workspace]\nresolver = \"3\"\nmembers = [\"plugins/*\"]\n[workspace.package]\nversion = {version:?}\n\
             [workspace.dependencies]\ntool-sdk = {{ path = {:?} }}\n",
            sdk.display().to_string()
        )
    };
    project.write("Cargo.toml", &workspace("0.1.0"));
    let lock = fs_err::read_to_string(sdk.join("template/Cargo.lock")).unwrap();
    project.write("Cargo.lock", &lock);

    let mut dev = counted.dev();
    let both = |dev: &mut toolsmith_tests::Dev| {
        ["member_one", "member_two"].map(|tool| dev.call(tool, "{}"))
    };
    assert_eq!(both(&mut dev), ["one a 0.1.0"; 2]);
    project.write("plugins/helper/src/lib.rs", &word("two"));
    assert_eq!(both(&mut dev), ["two a 0.1.0"; 2]);
    project.write("Cargo.toml", &workspace("0.2.0"));
    assert_eq!(both(&mut dev), ["two a 0.2.0"; 2]);
    counted.starts();
    let own = "/// Answers.\n#[tool]\nfn member_one() -> String { helper::word(\"b\") }\n";
    project.source("member-one", own);
    assert_eq!(both(&mut dev), ["two b 0.2.0", "two a 0.2.0"]);
    assert_eq!(counted.starts(), 0);
}
