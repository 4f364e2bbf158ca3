//! The host and other processes, and programs.

use agent_core::config::Isolation;
use serde_json::json;

use super::site::Site;
use super::{Attempt, Free, check, escape, faulty, of_root};

const HOST: [Attempt; 20] = [
    escape("read the host's environment", "EACCES"),
    escape("read the host's environment by ..", "EACCES"),
    escape("read the host's arguments", "EACCES"),
    escape("read the host's addresses", "EACCES"),
    of_root("open the host's memory", "EACCES"),
    escape("read the host's program", "EACCES"),
    escape("list the host's descriptors", "EACCES"),
    escape("open the host's descriptor", "EACCES"),
    escape("list the host's root", "EACCES"),
    escape("list the host's folder", "EACCES"),
    of_root("read the host's memory", "EPERM"),
    escape("signal the host", "EPERM"),
    escape("signal everyone", "EPERM"),
    escape("signal a thread of the host", "EPERM"),
    escape("open the host's process", "EPERM"),
    escape("signal the host by descriptor", "EACCES"),
    of_root("trace the host", "EPERM"),
    escape("change the host's priority", "EPERM"),
    escape("change the host's processors", "EPERM"),
    escape("change the host's limits", "EPERM"),
];

const PROGRAMS: [Attempt; 7] = [
    escape("start a program", "EPERM"),
    escape("start a program with rights of its own", "EPERM"),
    faulty("become a program", Free::Always("ENOENT"), "EPERM"),
    escape("fork", "EPERM"),
    escape("clone", "EPERM"),
    escape("clone like vfork", "EPERM"),
    // It does not exist there, so that libraries take `clone`.
    escape("clone3", "ENOSYS"),
];

#[tokio::test(flavor = "multi_thread")]
async fn the_host_is_out_of_reach() {
    check(&HOST).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_program_and_no_process_is_started() {
    check(&PROGRAMS).await;
}

/// What the host had open was closed.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_the_host_has_open_is_inherited() {
    let site = Site::new(Isolation::Worker, "").await;
    let open = site.text("descriptors", json!({})).await;
    assert!(open.contains("outside/private"), "{open}");

    let site = Site::new(Isolation::Sandbox, "").await;
    let open = site.text("descriptors", json!({})).await;
    let pid = site.text("pid", json!({})).await;
    let own = format!("/proc/{pid}");
    let mut kinds: Vec<&str> = open
        .lines()
        .map(|line| line.split([' ', ':']).nth(1).unwrap())
        .map(|target| target.strip_prefix(own.as_str()).unwrap_or(target))
        .collect();
    kinds.sort_unstable();
    // Its own folder in `/proc`, the list itself, and the socket that the host speaks to it by.
    let expected = [
        "",
        "/dev/null",
        "/fd",
        "pipe",
        "pipe",
        "socket",
        "socket",
        "socket",
    ];
    assert_eq!(kinds, expected, "{open}");
}

/// Each constructor runs in the sandbox, when the library is tried out as well as when it serves.
#[tokio::test(flavor = "multi_thread")]
async fn a_library_is_mapped_in_the_sandbox_only() {
    let site = Site::new(Isolation::Sandbox, "").await;
    site.assert_alive().await;
    let mark = site.project.path().join("mapped");
    assert!(!mark.exists(), "its constructor was free");
    site.configure(Isolation::Worker, "").await;
    site.assert_alive().await;
    assert!(mark.exists(), "its constructor writes the file");
}
