//! A registry for a folder is what the command opens: with its state, its configuration, its crates.

use std::sync::Arc;

use agent_core::config::Permission;
use agent_core::event::Emitter;
use agent_core::registry::{Registry, Scope};
use toolsmith_tests::Project;

use crate::host::weather;

#[tokio::test]
async fn configuration_beside_the_folder_is_followed() {
    let project = Project::new();
    let text = "[state]\ndir = \"elsewhere\"\n[tools.getWeather]\npermission = \"deny\"\n";
    project.write("toolsmith.toml", text);
    let registry = Registry::of_folder(project.plugins(), Emitter::default()).unwrap();
    assert_eq!(
        registry.state_folder(),
        Some(&*project.path().join("elsewhere"))
    );

    registry.register(Arc::new(weather())).await.unwrap();
    registry.refresh(Scope::All, &()).await.unwrap();
    let permission = || registry.table().get("getWeather").unwrap().permission();
    assert_eq!(permission(), Permission::Deny);
    project.write("toolsmith.toml", &text.replace("deny", "ask"));
    registry.refresh(Scope::All, &()).await.unwrap();
    assert_eq!(permission(), Permission::Ask);
    assert_eq!(registry.notices(), [""; 0]);
}

#[tokio::test]
async fn what_is_wrong_with_the_state_folder_is_told() {
    let project = Project::new();
    let text = "[state]\ndir = \"${TOOLSMITH_NO_SUCH_VARIABLE}/state\"\n";
    project.write("toolsmith.toml", text);
    let error = Registry::of_folder(project.plugins(), Emitter::default()).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("`[state] dir`"), "{text}");
    assert!(text.contains("`TOOLSMITH_NO_SUCH_VARIABLE`"), "{text}");
}

/// What is wrong elsewhere in the file is no reason to do without tools.
#[tokio::test]
async fn broken_configuration_is_a_notice() {
    let project = Project::new();
    project.write("toolsmith.toml", "[tool.getWeather]\n");
    let registry = Registry::of_folder(project.plugins(), Emitter::default()).unwrap();
    registry.refresh(Scope::All, &()).await.unwrap();
    let notices = registry.notices();
    assert!(
        notices[0].contains("tool.getWeather") || notices[0].contains("`tool`"),
        "{notices:?}"
    );
}
