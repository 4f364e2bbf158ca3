//! What was granted is possible, and nothing besides.

use std::path::Path;

use agent_core::config::Isolation;
use agent_core::registry::{PluginState, Scope};
use serde_json::json;

use super::site::Site;

/// What a tool is told that may not.
const REFUSED: &str = "Permission denied";

/// What a tool answers that has nothing to say.
const DONE: &str = "(no output)";

async fn read(site: &Site, path: &Path) -> String {
    site.text("read_file", json!({"path": path})).await
}

async fn write(site: &Site, path: &Path) -> String {
    let arguments = json!({"path": path, "text": "written"});
    site.text("write_file", arguments).await
}

async fn run(site: &Site, program: &str, arguments: &[&str]) -> String {
    let arguments = json!({"program": program, "arguments": arguments});
    site.text("run", arguments).await
}

/// Grants hold from the next reload on, in a process that is started for it.
#[tokio::test(flavor = "multi_thread")]
async fn grants_of_files_hold_for_them_only_and_from_the_next_reload_on() {
    let site = Site::new(Isolation::Sandbox, "").await;
    let outside = site.project.path().join("outside");
    let (granted, private) = (outside.join("granted"), outside.join("private"));
    let note = granted.join("note");
    let first = site.text("pid", json!({})).await;
    assert!(read(&site, &note).await.contains(REFUSED));

    let grant = format!("grants.read = [{granted:?}]");
    site.configure(Isolation::Sandbox, &grant).await;
    let second = site.text("pid", json!({})).await;
    assert_ne!(second, first);
    assert_eq!(read(&site, &note).await, "granted/note");
    assert!(read(&site, &private).await.contains(REFUSED));
    assert!(write(&site, &note).await.contains(REFUSED));
    // What says the same changes nothing.
    site.configure(Isolation::Sandbox, &format!("# Why.\n{grant}"))
        .await;
    assert_eq!(site.text("pid", json!({})).await, second);

    let grant = format!("grants.write = [{granted:?}]");
    site.configure(Isolation::Sandbox, &grant).await;
    assert_eq!(write(&site, &note).await, DONE);
    assert_eq!(write(&site, &granted.join("new")).await, DONE);
    assert_eq!(read(&site, &note).await, "written");
    assert!(write(&site, &private).await.contains(REFUSED));

    site.configure(Isolation::Sandbox, "").await;
    assert!(read(&site, &note).await.contains(REFUSED));
    assert_eq!(site.status().generation.0, 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn variables_are_handed_on_that_are_granted_and_no_others() {
    let site = Site::new(Isolation::Worker, "").await;
    let all = site.text("environment", json!({})).await;
    assert!(all.contains("\nCARGO_MANIFEST_DIR="), "{all}");

    let names = async |grant: &str| {
        let site = Site::new(Isolation::Sandbox, grant).await;
        let environment = site.text("environment", json!({})).await;
        let names = environment.lines().map(|line| line.split('=').next());
        names
            .map(|name| name.unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let own = ["MALLOC_ARENA_MAX", "RUST_BACKTRACE", "TMPDIR"];
    assert_eq!(names("").await, own);
    let with_path = ["MALLOC_ARENA_MAX", "PATH", "RUST_BACKTRACE", "TMPDIR"];
    let grant = "grants.env = [\"PATH\", \"TOOLSMITH_NO_SUCH_VARIABLE\"]";
    assert_eq!(names(grant).await, with_path);
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_run_where_that_is_granted_and_are_confined() {
    let site = Site::new(Isolation::Sandbox, "grants.exec = true").await;
    let before = site.outside();
    let outside = site.project.path().join("outside");
    let path = |name: &str| outside.join(name).display().to_string();
    assert_eq!(run(&site, "/bin/true", &[]).await, "Some(0) ");
    let read = run(&site, "/bin/cat", &[&path("private")]).await;
    assert!(
        read.starts_with("Some(1)") && read.contains(REFUSED),
        "{read}"
    );
    let made = run(&site, "/bin/touch", &[&path("new")]).await;
    assert!(made.starts_with("Some(1)"), "{made}");
    // The bit that makes it root's changes nothing.
    let mounted = run(
        &site,
        "/bin/mount",
        &["-t", "tmpfs", "none", &path("for-mount")],
    )
    .await;
    assert!(!mounted.starts_with("Some(0)"), "{mounted}");
    let host = std::process::id().to_string();
    let signalled = run(&site, "/bin/sh", &["-c", "kill -0 $0", &host]).await;
    assert!(!signalled.starts_with("Some(0)"), "{signalled}");
    let environment = format!("/proc/{host}/environ");
    let told = run(&site, "/bin/cat", &[&environment]).await;
    assert!(told.contains(REFUSED), "{told}");
    assert_eq!(site.outside(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_grant_of_a_path_that_does_not_exist_is_told() {
    let missing = "/no/such/folder";
    let grant = format!("grants.read = [{missing:?}]");
    let site = Site::new(Isolation::Sandbox, &grant).await;
    let status = site.status();
    let reason = status.reason.unwrap();
    let said = format!(
        "`{missing}` can't be granted to a sandbox: No such file or directory (os error 2); make it, \
         or take it out of the grants"
    );
    assert!(reason.contains(&said), "{reason}");
    assert_eq!(status.state, PluginState::Failed);
    // It does not run with less than was asked for.
    let called = site.text("pid", json!({})).await;
    assert!(called.parse::<u32>().is_err(), "{called}");

    site.configure(Isolation::Sandbox, "").await;
    site.assert_alive().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_a_kernel_that_has_less_than_is_demanded_nothing_runs() {
    let site = Site::new(Isolation::Sandbox, "").await;
    let text = "sandbox_minimum = 1000\n[plugins.escape]\nisolation = \"sandbox\"\n\
                grants.env = [\"PATH\"]\n";
    let project = &site.project;
    project.write("toolsmith.toml", text);
    let list = project.run(&["list", "--json", "--no-build"]).json();
    let plugin = &list["plugins"][0];
    assert_eq!(plugin["state"], "failed", "{plugin}");
    let reason = plugin["reason"].as_str().unwrap();
    for choice in [
        "needs Landlock revision 1000",
        "use a newer kernel",
        "set `sandbox_minimum = ",
        "write `isolation = \"worker\"`",
    ] {
        assert!(reason.contains(choice), "{choice}: {reason}");
    }
    assert_eq!(plugin["enforced"], json!(null), "{plugin}");
    let called = project.run(&["call", "pid", "--no-build"]);
    assert_ne!(called.code, Some(0), "{called:?}");
    let refreshed = site.caller.registry().refresh(Scope::All, &()).await;
    refreshed.expect("readable");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_enforced_is_listed() {
    let site = Site::new(Isolation::Sandbox, "grants.sockets = true").await;
    let enforced = site.status().enforced.unwrap();
    let list = site.project.run(&["list", "--json", "--no-build"]).json();
    let plugin = &list["plugins"][0];
    assert_eq!(plugin["isolation"], "sandbox", "{plugin}");
    assert_eq!(plugin["enforced"], json!(enforced.lines()), "{plugin}");
    let rules = plugin["enforced"].as_array().unwrap();
    for rule in [
        "sockets: granted",
        "programs: seccomp",
        "system calls: seccomp",
    ] {
        assert!(rules.contains(&json!(rule)), "{rule}: {plugin}");
    }
    let shown = site.project.run(&["list", "--no-build"]).stdout;
    let line = format!("\n    sandbox: {enforced}\n");
    assert!(format!("{shown}\n").contains(&line), "{shown}");
    assert!(line.contains("granted: sockets"), "{line}");
}
