//! Files whose times say nothing about their contents.

use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

use super::{Counted, answer, answering};

/// A program with its arguments.
type Step = (&'static str, &'static [&'static str]);

fn run(program: &str, arguments: &[&str], folder: &Path) {
    let status = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .status();
    assert!(status.unwrap().success(), "{program} {arguments:?}");
}

fn time(path: &Path) -> SystemTime {
    fs_err::metadata(path).unwrap().modified().unwrap()
}

/// Every way in which a file gets older content or another time, for a crate's own source and for
/// a dependency outside the plugins folder.
#[test]
fn contents_count_and_not_times_and_no_file_is_touched() {
    let counted = Counted::new();
    let project = &counted.project;
    let package = project.crate_name("outer");
    project.plugin("timed", "");
    let manifest = counted.path("plugins/timed/Cargo.toml");
    let text = fs_err::read_to_string(&manifest).unwrap();
    let dependency =
        format!("[dependencies]\nouter = {{ package = {package:?}, path = \"../../outer\" }}");
    fs_err::write(&manifest, text.replace("[dependencies]", &dependency)).unwrap();
    project.write(
        "outer/Cargo.toml",
        &format!("[package]\nname = {package:?}\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
    );
    let own = |word: &str| {
        format!(
            "use tool_sdk::prelude::*;\n{}",
            answering(&format!("format!(\"{word} {{}}\", outer::WORD)"))
        )
    };
    let outer = |word: &str| format!("pub const WORD: &str = \"{word}\";\n");
    project.write("outer/src/lib.rs", &outer("zero"));
    project.write("plugins/timed/src/lib.rs", &own("zero"));
    let mut dev = counted.dev();
    assert_eq!(answer(&mut dev), "zero zero");

    let mut expected = ["zero".to_owned(), "zero".to_owned()];
    let ways: [(&str, &[Step]); 5] = [
        ("copied", &[("cp", &["-p", "old.rs", "lib.rs"])]),
        ("moved", &[("mv", &["old.rs", "lib.rs"])]),
        (
            "unpacked",
            &[
                (
                    "tar",
                    &["-cf", "old.tar", "--transform", "s/old/lib/", "old.rs"],
                ),
                ("tar", &["-xf", "old.tar"]),
                ("rm", &["old.tar"]),
            ],
        ),
        (
            "set-back",
            &[
                ("cp", &["old.rs", "lib.rs"]),
                ("touch", &["-d", "2001-01-01", "lib.rs"]),
            ],
        ),
        (
            "ahead",
            &[
                ("cp", &["old.rs", "lib.rs"]),
                ("touch", &["-d", "2099-01-01", "lib.rs"]),
            ],
        ),
    ];
    for (which, folder) in ["plugins/timed/src", "outer/src"].into_iter().enumerate() {
        let folder = counted.path(folder);
        for (word, commands) in ways {
            let text = if which == 0 { own(word) } else { outer(word) };
            fs_err::write(folder.join("old.rs"), text).unwrap();
            run("touch", &["-d", "2011-11-11", "old.rs"], &folder);
            for (program, arguments) in commands {
                run(program, arguments, &folder);
            }
            drop(fs_err::remove_file(folder.join("old.rs")));
            let then = time(&folder.join("lib.rs"));
            word.clone_into(&mut expected[which]);
            assert_eq!(answer(&mut dev), expected.join(" "));
            assert_eq!(time(&folder.join("lib.rs")), then, "{word}");
        }
    }
    // Nothing is built for ever.
    counted.starts();
    assert_eq!(
        (answer(&mut dev), counted.starts()),
        (expected.join(" "), 0)
    );
}

/// Stashing and taking back is one edit and its undoing.
#[test]
fn a_stash_and_its_return_start_no_cargo() {
    let counted = Counted::new();
    let git = |arguments: &[&str]| {
        let name = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
        run(
            "git",
            &[&name[..], arguments].concat(),
            counted.project.path(),
        );
    };
    counted.project.plugin("stashed", &answering("\"one\""));
    git(&["init", "-q"]);
    git(&["add", "plugins"]);
    git(&["commit", "-qm", "one"]);
    let mut dev = counted.dev();
    assert_eq!(answer(&mut dev), "one");
    counted.project.source("stashed", &answering("\"two\""));
    assert_eq!(answer(&mut dev), "two");
    counted.starts();
    git(&["stash", "-q"]);
    assert_eq!((answer(&mut dev), counted.starts()), ("one".to_owned(), 0));
    git(&["stash", "pop", "-q"]);
    assert_eq!((answer(&mut dev), counted.starts()), ("two".to_owned(), 0));
}
