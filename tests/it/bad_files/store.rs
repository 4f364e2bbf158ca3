//! A store that is damaged between two starts, or can't be written to.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fs_err as fs;
use toolsmith_tests::Dev;

use super::fixture::{Host, assert_state, libraries, of};

fn store(host: &Host) -> PathBuf {
    host.project.path().join(".toolsmith/store")
}

/// The only stored file with this suffix.
fn stored(host: &Host, suffix: &str) -> PathBuf {
    let files = fs::read_dir(store(host))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let is_wanted = |path: &PathBuf| {
        path.extension() == Some(OsStr::new(suffix)) && path.file_stem().unwrap().len() == 64
    };
    let found: Vec<PathBuf> = files.filter(is_wanted).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].clone()
}

fn assert_serves(host: &Host, after: &str) {
    let list = host.list();
    assert_eq!(of(&list, "good")["state"], "live", "{after}: {list}");
    let output = host.command(&["call", "fine"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "fine\n", "{after}");
    host.assert_nothing_left(Duration::from_secs(5));
}

#[test]
fn whatever_is_damaged_in_the_store_is_made_again() {
    let host = Host::new();
    assert_serves(&host, "nothing");
    let make_folder = |path: &Path| {
        fs::remove_file(path).unwrap();
        fs::create_dir(path).unwrap();
    };
    let library = stored(&host, "so");
    for suffix in ["so", "json"] {
        let path = stored(&host, suffix);
        fs::remove_file(&path).unwrap();
        assert_serves(&host, "a file is gone");
        for length in [0, 1, 100] {
            // The copy is read-only: who damages it has replaced it.
            let whole = fs::read(&path).unwrap();
            fs::remove_file(&path).unwrap();
            fs::write(&path, &whole[..length]).unwrap();
            assert_serves(&host, "a file is cut");
        }
    }
    let record = stored(&host, "json");
    for garbage in ["garbage", "{}", "[1, 2]", "{\"size\": -1}", "\0\0\0"] {
        fs::write(&record, garbage).unwrap();
        assert_serves(&host, garbage);
    }
    make_folder(&library);
    assert_serves(&host, "a folder in the place of the copy");
    assert!(library.is_file());
    let seen = store(&host).join("seen.json");
    for garbage in ["garbage", "", "{}", "[]", "{\"/a\": 1}"] {
        fs::write(&seen, garbage).unwrap();
        assert_serves(&host, garbage);
    }
    make_folder(&seen);
    assert_serves(&host, "a folder in the place of seen.json");
    make_folder(&record);
    assert_serves(&host, "a folder in the place of the record");
    fs::remove_dir_all(store(&host)).unwrap();
    assert_serves(&host, "the store is gone");
    fs::set_permissions(
        store(&host),
        std::os::unix::fs::PermissionsExt::from_mode(0o000),
    )
    .unwrap();
    assert_serves(&host, "nobody may read it");
}

#[test]
fn a_file_in_the_place_of_the_store_ends_the_command_with_a_sentence() {
    let host = Host::new();
    host.project.write(".toolsmith/store", "a file");
    let output = host.command(&["list", "--json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        told.contains("state folder can't be used") && told.contains("store"),
        "{told}"
    );
    assert!(!told.contains("panicked"), "{told}");
    fs::remove_file(store(&host)).unwrap();
    assert_serves(&host, "it is mended");
}

/// A folder that is not empty stands where the copy of the newer version would.
#[test]
fn a_copy_that_cannot_be_written_leaves_what_serves_alone() {
    let host = Host::new();
    let mut dev = host.dev();
    assert_eq!(dev.call("fine", ""), "fine");
    let hash = agent_core::ids::ContentHash::of(&libraries().newer);
    let blocked = store(&host).join(format!("{hash}.so"));
    fs::create_dir_all(blocked.join("something")).unwrap();
    host.put("good", &libraries().newer);
    let list = dev.ask("list");
    assert_state(&list, "good", "failed", &["could not write", "directory"]);
    assert_eq!(dev.call("fine", ""), "fine");
    let left = fs::read_dir(store(&host)).unwrap();
    let left = left.filter(|entry| entry.as_ref().unwrap().file_name().as_bytes()[0] == b'.');
    assert_eq!(left.count(), 0, "nothing half-written stays");
    fs::remove_dir_all(&blocked).unwrap();
    dev.send("reload");
    assert_state(&dev.ask("list"), "good", "live", &[]);
    assert_eq!(dev.call("fine", ""), "newer");
}

/// What is remembered of a library whose name is no UTF-8, it remembers after a restart.
#[test]
fn names_that_are_no_text_are_remembered_like_others() {
    let host = Host::new();
    let odd = host
        .project
        .plugins()
        .join(OsStr::from_bytes(b"libgood.so"));
    fs::remove_file(odd).unwrap();
    let odd = host
        .project
        .plugins()
        .join(OsStr::from_bytes(b"libodd\xff.so"));
    fs::write(&odd, &libraries().good).unwrap();
    let mut dev = host.dev();
    assert_eq!(dev.call("fine", ""), "fine");
    assert_eq!(dev.finish(), Some(0));
    let seen = fs::read_to_string(store(&host).join("seen.json")).unwrap();
    assert!(seen.contains("libodd%FF.so"), "{seen}");
    // What served last serves again where the newest content can't.
    fs::write(&odd, &libraries().good[..1000]).unwrap();
    let (helper, starts) = host.counting_helper();
    let mut command = host.command(&["dev", "--json"]);
    command.env("TOOLSMITH_HELPER", &helper);
    let mut dev = Dev::start(command);
    assert_eq!(dev.call("fine", ""), "fine");
    assert_eq!(dev.ask("list")["plugins"][0]["state"], "failed");
    assert_eq!(dev.finish(), Some(0));
    assert!(
        starts() <= 1,
        "at most the one that waits for work: {}",
        starts()
    );
}
