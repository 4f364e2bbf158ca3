//! Library files that are cut, foreign, or not libraries at all: each is refused with one
//! sentence, and every other tool serves.

mod bytes;
mod compilers;
mod constructors;
mod fixture;
mod helper;
mod mapped;
mod store;

use std::process::Command;

use serde_json::Value;
use toolsmith_tests::Project;

/// The file of a library that serves, and the project that it was built in.
fn good_library(project: &Project) -> Vec<u8> {
    project.plugin(
        "good",
        "/// Works.\n#[tool]\nfn fine() -> String { \"fine\".into() }",
    );
    let list = project.run(&["list", "--json"]).json();
    let hash = list["plugins"][0]["hash"].as_str().unwrap().to_owned();
    fs_err::read(project.path().join(format!(".toolsmith/store/{hash}.so"))).unwrap()
}

/// A library without the SDK.
fn foreign_library(project: &Project) -> Vec<u8> {
    project.write("foreign.c", "int answer(void) { return 42; }");
    let out = project.path().join("foreign.so");
    let source = project.path().join("foreign.c");
    let status = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(&out)
        .arg(source)
        .status();
    assert!(status.unwrap().success());
    fs_err::read(out).unwrap()
}

/// The same library, with another revision in its stamp.
fn other_revision(library: &[u8]) -> Vec<u8> {
    let stamp = b"toolsmith stamp\nabi=1\n";
    let at = library
        .windows(stamp.len())
        .position(|part| part == stamp)
        .unwrap();
    let mut changed = library.to_vec();
    changed[at + stamp.len() - 2] = b'9';
    changed
}

#[test]
fn bad_libraries_are_refused_in_one_sentence_and_the_rest_serves() {
    let project = Project::new();
    let good = good_library(&project);
    let files: [(&str, Vec<u8>, &str); 6] = [
        ("cut", good[..good.len() / 2].to_vec(), "incomplete"),
        ("empty", Vec::new(), "not a shared library"),
        ("words", b"hello, world".to_vec(), "not a shared library"),
        ("foreign", foreign_library(&project), "no toolsmith plugin"),
        ("revision", other_revision(&good), "expected abi 1"),
        (
            "program",
            fs_err::read("/proc/self/exe").unwrap(),
            "no toolsmith plugin",
        ),
    ];
    for (name, bytes, _) in &files {
        fs_err::write(project.plugins().join(format!("lib{name}.so")), bytes).unwrap();
    }
    let list = project.run(&["list", "--json"]).json();
    for (name, _, part) in &files {
        let plugins = list["plugins"].as_array().unwrap();
        let plugin = plugins
            .iter()
            .find(|plugin| plugin["name"] == *name)
            .unwrap();
        assert_eq!(plugin["state"], "failed", "{plugin}");
        let reason = plugin["reason"].as_str().unwrap();
        assert!(
            reason.contains(part) && !reason.contains('\n'),
            "{name}: {reason}"
        );
    }
    assert_eq!(project.run(&["call", "fine"]).stdout, "fine\n");
}

/// Y1, Y47: a finished library beside crates serves under its file's name, and a file that is none
/// hurts nobody.
#[test]
fn y47_finished_library_serves_without_its_crate() {
    let maker = Project::new();
    let library = good_library(&maker);
    let project = Project::new();
    fs_err::write(project.plugins().join("libgood.so"), library).unwrap();
    fs_err::write(project.plugins().join("notes.txt"), "not a plugin").unwrap();
    let ran = project.run(&["--no-build", "call", "fine"]);
    assert_eq!(
        (ran.stdout.as_str(), ran.code),
        ("fine\n", Some(0)),
        "{}",
        ran.stderr
    );
    let list = project.run(&["list", "--json"]).json();
    assert_eq!(list["plugins"][0]["name"], "good");
    assert_eq!(list["plugins"].as_array().map(Vec::len), Some(1));
}

/// Overwriting a served file in place, cutting it, and completing it again.
#[test]
fn overwriting_a_served_file_disturbs_no_call() {
    let maker = Project::new();
    let library = good_library(&maker);
    let project = Project::new();
    let path = project.plugins().join("libgood.so");
    fs_err::write(&path, &library).unwrap();
    let mut dev = project.dev();
    assert_eq!(dev.call("fine", ""), "fine");
    fs_err::write(&path, &library[..1000]).unwrap();
    assert_eq!(dev.call("fine", ""), "fine");
    let list = dev.ask_until("list", |list| list["plugins"][0]["state"] == "failed");
    assert_eq!(list["tools"][0]["name"], "fine");
    fs_err::write(&path, &library).unwrap();
    let list = dev.ask_until("list", |list| list["plugins"][0]["state"] == "live");
    assert_eq!(
        list["plugins"][0]["generation"], 1,
        "the same bytes are the same version"
    );
    assert_eq!(dev.call("fine", ""), "fine");
    fs_err::remove_file(&path).unwrap();
    let gone = dev.ask_until("list", |list| list["tools"] == Value::Array(Vec::new()));
    assert_eq!(gone["plugins"], Value::Array(Vec::new()));
}

/// Pipes are not read, and a name that is no UTF-8 spoils no answer.
#[test]
fn pipes_and_odd_names_in_the_plugins_folder_hold_nothing_up() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let project = Project::new();
    let library = good_library(&project);
    for name in ["fifo.so", "good/fifo"] {
        let path = project.plugins().join(name);
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    }
    fs_err::create_dir(project.plugins().join("piped")).unwrap();
    let manifest = project.plugins().join("piped/Cargo.toml");
    assert!(
        Command::new("mkfifo")
            .arg(manifest)
            .status()
            .unwrap()
            .success()
    );
    let odd = project.plugins().join(OsStr::from_bytes(b"libodd\xff.so"));
    fs_err::write(odd, &library[..100]).unwrap();
    assert_eq!(project.run(&["call", "fine"]).stdout, "fine\n");
    let list = project.run(&["list", "--json"]).json();
    let failed = list["plugins"].as_array().unwrap().iter();
    let failed = failed.filter(|plugin| plugin["state"] == "failed").count();
    assert_eq!(failed, 3, "{list}");
}
