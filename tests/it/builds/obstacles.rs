//! Places where something is to be written and something else stands.

use std::path::Path;

use super::{Counted, answering};

/// Puts something in the way.
type Put = fn(&Path);

fn folder(path: &Path) {
    drop(fs_err::remove_file(path));
    fs_err::create_dir_all(path.join("in the way")).unwrap();
}

fn file(path: &Path) {
    drop(fs_err::remove_dir_all(path));
    fs_err::write(path, "in the way").unwrap();
}

/// A folder where a file should be, a file where a folder should be, one after the other at every
/// place that a build is remembered in: the newest source answers all the same, and once the
/// obstacle is gone nothing is built again.
#[test]
fn a_build_that_can_not_be_remembered_is_not_lost() {
    let counted = Counted::new();
    let project = &counted.project;
    project.plugin("hindered", &answering("0"));
    let package = project.crate_name("hindered");
    let library = format!("lib{}.so", package.replace('-', "_"));
    let builds = project.path().join(".toolsmith/builds");
    let call = || {
        let output = counted.command(&["call", "answer"]).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(call(), "0");
    let record = builds.join(format!("{package}.json"));
    let history = builds.join(format!("{package}.history.json"));
    let own = builds.join(&package);
    let obstacles: [(Put, &Path); 5] = [
        (folder, &record),
        (folder, &history),
        (file, &own),
        (file, &builds),
        (folder, &own.join(library)),
    ];
    for (number, (put, place)) in obstacles.into_iter().enumerate() {
        // An edit that the crate's own compiler does, and one that is cargo's.
        for edit in ["", "// cargo's\n"] {
            let manifest = counted.path("plugins/hindered/Cargo.toml");
            let text = fs_err::read_to_string(&manifest).unwrap();
            let text = text.replace(
                "[workspace]",
                &format!("{}[workspace]", edit.replace("//", "#")),
            );
            fs_err::write(&manifest, text).unwrap();
            let word = format!("{number}{}", edit.len());
            project.source("hindered", &answering(&format!("{word:?}")));
            put(place);
            assert_eq!(call(), word, "{}", place.display());
            assert_eq!(call(), word, "{}", place.display());
            let gone = fs_err::remove_dir_all(place).or_else(|_| fs_err::remove_file(place));
            assert!(gone.is_ok() || !place.exists(), "{}", place.display());
            assert_eq!(call(), word, "{}", place.display());
            counted.starts();
            assert_eq!((call(), counted.starts()), (word, 0), "{}", place.display());
        }
    }
}
