//! Names and kinds of files that a watcher may stumble over.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::process::Command;

use super::*;

/// g4.odd-links: editors' lock files lead nowhere.
#[tokio::test(flavor = "multi_thread")]
async fn lock_files_of_editors_are_nothing() {
    let watched = Watched::serving().await;
    let folder = watched.plugins();
    symlink("ada@host.1:1", folder.join(".#tool.rs")).unwrap();
    symlink("ada@host.1:1", folder.join(".#libmarked.so")).unwrap();
    for name in [
        "4913",
        ".libmarked.so.swp",
        "libmarked.so~",
        "#libmarked.so#",
    ] {
        fs_err::write(folder.join(name), "").unwrap();
    }
    watched.sees_saves("libmarked.so", 2).await;
    let names: Vec<_> = watched.registry.plugins();
    assert_eq!(names.len(), 1, "{names:#?}");
    assert_eq!(watched.changes.failures(), [""; 0]);
}

/// g4.file-names: any name that the system allows.
#[tokio::test(flavor = "multi_thread")]
async fn names_of_all_kinds_are_handled_as_any_other() {
    let watched = Watched::serving().await;
    let folder = watched.plugins();
    for name in ["погода", "🌦️", "two words", "new\nline", "-rf", "libx"] {
        let path = folder.join(format!("{name}.so"));
        fs_err::rename(folder.join("libmarked.so"), &path).unwrap();
        let is_there = || {
            let plugin = watched.plugin(name.trim_start_matches("lib"));
            plugin.is_some_and(|plugin| plugin.state == PluginState::Live)
        };
        watched.until(name, is_there).await;
        watched.serves(1).await;
        fs_err::rename(path, folder.join("libmarked.so")).unwrap();
        let is_back = || watched.plugin("marked").is_some();
        watched.until("it is back", is_back).await;
    }
    let broken = folder.join(OsStr::from_bytes(b"lib\xff\xfe.so"));
    fs_err::write(&broken, "no library").unwrap();
    let lossy = "\u{fffd}\u{fffd}";
    watched.fails(lossy).await;
    fs_err::remove_file(broken).unwrap();
    let is_gone = || watched.plugin(lossy).is_none();
    watched.until("it stays", is_gone).await;
    fs_err::create_dir(folder.join("folder\nname")).unwrap();
    let reason = watched.fails("folder\nname").await;
    assert!(!reason.contains('\n'), "{reason:?}");
    watched.sees_saves("libmarked.so", 2).await;
}

/// Nothing of it is opened: reading a pipe would wait for ever.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_file_is_told_and_harms_nobody() {
    let watched = Watched::serving().await;
    let folder = watched.plugins();
    let pipe = folder.join("libpipe.so");
    assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
    let _socket = UnixListener::bind(folder.join("libsocket.so")).unwrap();
    symlink("/dev/zero", folder.join("libdevice.so")).unwrap();
    symlink("libloop.so", folder.join("libloop.so")).unwrap();
    symlink("/nowhere", folder.join("libdangling.so")).unwrap();
    fs_err::create_dir(folder.join("libfolder.so")).unwrap();
    symlink(".", folder.join("itself")).unwrap();
    for name in ["pipe", "socket", "device"] {
        let reason = watched.fails(name).await;
        assert!(reason.contains("regular file"), "{name}: {reason}");
    }
    for name in ["loop", "dangling", "libfolder.so", "itself"] {
        let reason = watched.fails(name).await;
        assert!(!reason.is_empty() && !reason.contains('\n'), "{reason:?}");
    }
    let failures = watched.changes.failures().len();
    watched.sees_saves("libmarked.so", 2).await;
    watched.looked(2).await;
    assert_eq!(watched.changes.failures().len(), failures, "told once");
    assert_eq!(watched.registry.notices(), [""; 0]);
}
