//! What was decided holds from the moment in which it is read, or the plugin does not run.

use agent_core::registry::PluginState;
use agent_core::tool::Isolation;
use fs_err as fs;
use serde_json::json;
use tool_sdk::ErrorKind;
use toolsmith_tests::{Project, call};

const READER: &str = r"
    /// Read a file.
    #[tool]
    fn read(path: std::path::PathBuf) -> Result<String> { Ok(std::fs::read_to_string(path)?) }
";

/// A rule that was tightened and can't be had ends what runs without it; once it can be had, the
/// plugin runs under it.
#[tokio::test(flavor = "multi_thread")]
async fn a_rule_that_cannot_be_had_ends_what_runs_without_it() {
    let project = Project::new();
    project.plugin("reader", READER);
    let secret = project.path().join("secret");
    fs::write(&secret, "hush").unwrap();
    let plugin = project.crate_name("reader");
    let config = fs::read_to_string(project.path().join("toolsmith.toml")).unwrap();
    let write = |top: &str, section: &str| {
        let text = format!("{top}\n{config}\n[plugins.{plugin}]\n{section}\n");
        project.write("toolsmith.toml", &text);
    };
    write("", "isolation = \"worker\"");
    let caller = project.following_host().await;
    let registry = caller.registry();
    let read = async || call(&caller, "read", json!({"path": secret})).await;
    let refresh = async || {
        let refreshed = registry
            .refresh(agent_core::registry::Scope::All, &())
            .await;
        refreshed.unwrap();
    };
    assert_eq!(read().await.text(), "hush");

    for (top, section) in [
        (
            "",
            "isolation = \"sandbox\"\ngrants.read = [\"/no/such/folder\"]",
        ),
        ("sandbox_minimum = 99", "isolation = \"sandbox\""),
    ] {
        write("", "isolation = \"worker\"");
        refresh().await;
        assert_eq!(read().await.text(), "hush");
        write(top, section);
        refresh().await;
        let status = &registry.plugins()[0];
        assert_eq!(status.state, PluginState::Failed, "{status:?}");
        assert_eq!(status.generation.0, 0, "{status:?}");
        let refused = read().await;
        let kind = refused.error.as_ref().map(|error| error.kind);
        assert_eq!(kind, Some(ErrorKind::UnknownTool), "{}", refused.text());

        write("", "isolation = \"sandbox\"");
        refresh().await;
        let status = &registry.plugins()[0];
        assert_eq!(
            (status.state, status.isolation),
            (PluginState::Live, Isolation::Sandbox),
            "{status:?}"
        );
        assert!(read().await.text().contains("Permission denied"));
    }
}

#[test]
fn what_has_no_effect_is_told_and_a_mark_of_origin_that_is_misspelt_counts() {
    let project = Project::new();
    project.plugin("reader", READER);
    let plugin = project.crate_name("reader");
    let config = fs::read_to_string(project.path().join("toolsmith.toml")).unwrap();
    let section = "isolation = \"worker\"\ngrants.read = [\"/etc\"]";
    let text = format!("{config}\n[plugins.{plugin}]\n{section}\n");
    project.write("toolsmith.toml", &text);
    let listed = project.run(&["list"]);
    let notice = format!(
        "`[plugins.{plugin}]` in toolsmith.toml: `grants` but `network` have no effect without \
         `isolation = \"sandbox\"`"
    );
    assert!(listed.stdout.contains(&notice), "{}", listed.stdout);

    project.write("toolsmith.toml", &config);
    let file = project.plugins().join("reader/Cargo.toml");
    let manifest = fs::read_to_string(&file).unwrap();
    fs::write(
        &file,
        format!("{manifest}\n[package.metadata.toolsmith]\norigin = \"writen\"\n"),
    )
    .unwrap();
    let listed = project.run(&["--json", "list", "--no-build"]).json();
    assert_eq!(listed["plugins"][0]["isolation"], "sandbox", "{listed}");
}
