//! `toolsmith.toml` is followed like sources: what changes in it counts for the next call.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agent_core::ids::PluginName;
use agent_core::registry::{PluginState, Scope};
use serde_json::{Value, json};
use toolsmith_tests::{DEADLINE, Dev, Project};

const TOOLS: &str = r#"
    /// What is open.
    struct Mood(String);

    #[tool_type]
    struct Settings {
        /// How it sounds.
        #[serde(default)]
        mood: String,
    }

    #[plugin_state]
    fn open(settings: Settings) -> Mood {
        Mood(settings.mood)
    }

    /// Greets.
    #[tool]
    fn greet(name: String, #[arg(default = "Hello")] greeting: String, mood: &Mood) -> String {
        format!("{greeting}, {name}{}", mood.0)
    }

    /// Waits.
    #[tool]
    async fn wait(ctx: &ToolContext) {
        ctx.aborted().await;
    }
"#;

/// A project whose configuration is this besides what every project has.
fn configure(project: &Project, text: &str) {
    let sdk = toolsmith_tests::repository().join("tool-sdk");
    let text = format!("{text}\n[sdk]\npath = {:?}\n", sdk.display().to_string());
    project.write("toolsmith.toml", &text);
}

fn arguments(dev: &mut Dev, tool: &str) -> Vec<String> {
    let shown = dev.ask(&format!("schema {tool}"));
    let properties = shown[0]["inputSchema"]["properties"].as_object().unwrap();
    properties.keys().cloned().collect()
}

fn notices(dev: &mut Dev) -> Vec<String> {
    let list = dev.ask("list");
    let notices = list["notices"].as_array().into_iter().flatten();
    notices
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

/// R13, with everything else that can be configured of a plugin.
#[test]
fn r13_presets_limits_and_settings_follow_the_file() {
    let project = Project::new();
    project.plugin("tools", TOOLS);
    let package = project.crate_name("tools");
    let mut dev = project.dev();
    assert_eq!(dev.call("greet", r#"{"name":"Ada"}"#), "Hello, Ada");
    assert_eq!(arguments(&mut dev, "greet"), ["name", "greeting"]);
    assert_eq!(notices(&mut dev), [""; 0]);
    let generation = dev.ask("list")["plugins"][0]["generation"].clone();

    configure(
        &project,
        &format!(
            "[tools.greet]\npreset = {{ greeting = \"Salut\" }}\n\
             [tools.wait]\ntimeout = \"20ms\"\n\
             [plugins.{package}]\nsettings = {{ mood = \"!\" }}\n"
        ),
    );
    assert_eq!(dev.call("greet", r#"{"name":"Ada"}"#), "Salut, Ada!");
    assert_eq!(arguments(&mut dev, "greet"), ["name"]);
    let refused = dev.ask(r#"call greet {"name":"Ada","greeting":"Hi"}"#);
    assert_eq!(refused["error"]["kind"], "invalidArguments");
    let waited = dev.ask("call wait");
    assert_eq!(waited["error"]["kind"], "timeout");

    // What is wrong in the file changes nothing and is shown until it is mended.
    configure(&project, "[tools.greet]\npresett = {}\n");
    assert_eq!(dev.call("greet", r#"{"name":"Ada"}"#), "Salut, Ada!");
    let told = notices(&mut dev).join("\n");
    for part in ["presett", "`preset`", "goes on"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    configure(&project, "");
    assert_eq!(dev.call("greet", r#"{"name":"Ada"}"#), "Hello, Ada");
    assert_eq!(notices(&mut dev), [""; 0]);
    assert_eq!(arguments(&mut dev, "greet"), ["name", "greeting"]);

    // An unset variable costs the tool that needs it.
    configure(
        &project,
        "[tools.greet]\npreset = { greeting = \"${TOOLSMITH_TEST_UNSET}\" }\n",
    );
    let list = dev.ask("list");
    assert_eq!(list["tools"][0]["state"], "unavailable");
    let reason = list["tools"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("TOOLSMITH_TEST_UNSET"), "{reason}");

    // A file that is taken away takes back what it said.
    fs_err::remove_file(project.path().join("toolsmith.toml")).unwrap();
    assert_eq!(dev.call("greet", r#"{"name":"Ada"}"#), "Hello, Ada");
    assert_eq!(
        dev.ask("list")["plugins"][0]["generation"],
        generation,
        "nothing was loaded anew"
    );
}

/// What a file says counts for the next call, even where another plugin is being built. As long as it
/// says the same, nobody waits for that build.
#[tokio::test(flavor = "multi_thread")]
async fn r13_a_change_counts_while_another_plugin_is_built() {
    let project = Project::new();
    project.plugin("tools", TOOLS);
    let caller = project.following_host().await;
    let plugin = PluginName::new(project.crate_name("tools"));
    project.plugin("slow", "");
    let may_end = project.path().join("may-end");
    project.write(
        "plugins/slow/build.rs",
        &format!(
            "fn main() {{ while !std::path::Path::new({may_end:?}).exists() {{\n    \
             std::thread::sleep(std::time::Duration::from_millis(5));\n}} }}\n"
        ),
    );
    let registry = caller.registry().clone();
    let building = tokio::spawn({
        let registry = registry.clone();
        async move { registry.refresh(Scope::All, &()).await.unwrap() }
    });
    let is_building = || {
        let mut plugins = registry.plugins().into_iter();
        plugins.any(|plugin| plugin.state == PluginState::Building)
    };
    let begin = Instant::now();
    while !is_building() {
        assert!(begin.elapsed() < DEADLINE);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let refresh = async || registry.refresh(Scope::Only(&plugin), &()).await.unwrap();
    let greet = async || toolsmith_tests::call(&caller, "greet", json!({"name": "Ada"})).await;
    refresh().await;
    assert!(!building.is_finished());
    assert_eq!(greet().await.text(), "Hello, Ada");

    let settings = format!("[plugins.{plugin}]\nsettings = {{ mood = \"!\" }}\n");
    configure(&project, &settings);
    let greeted = async {
        refresh().await;
        greet().await.text()
    };
    let end = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        fs_err::write(&may_end, "").unwrap();
    };
    let (greeted, ()) = tokio::join!(greeted, end);
    assert_eq!(greeted, "Hello, Ada!");
    building.await.unwrap();
}

#[test]
fn sections_that_name_nothing_are_shown_with_what_was_meant() {
    let project = Project::new();
    project.plugin("tools", TOOLS);
    let package = project.crate_name("tools");
    configure(
        &project,
        &format!(
            "[tools.greeet]\ntimeout = \"1s\"\n[tools.wait]\ntimeout = \"1s\"\n\
             [plugins.{package}x]\nsettings = {{}}\n[plugins.{}]\nsettings = {{}}\n",
            package.replace('-', "_")
        ),
    );
    let mut dev = project.dev();
    let told = notices(&mut dev);
    assert_eq!(
        told,
        [
            format!(
                "`[plugins.{package}x]` in toolsmith.toml names no plugin that there is; did you \
                 mean `{package}`?"
            ),
            "`[tools.greeet]` in toolsmith.toml names no tool that there is; did you mean \
             `greet`?"
                .to_owned(),
        ]
    );
}

/// Without a command that looks at the folder, too.
#[tokio::test(flavor = "multi_thread")]
async fn watching_sees_the_configuration_change() {
    let project = Project::new();
    project.plugin("tools", TOOLS);
    let caller = project.following_host().await;
    let registry = caller.registry();
    let _watch = registry.watch(Arc::new(()));
    let hidden = || {
        let table = registry.table();
        let spec = table.get("greet").unwrap().spec();
        spec.input_schema["properties"].get("greeting").is_none()
    };
    assert!(!hidden());
    configure(
        &project,
        "[tools.greet]\npreset = { greeting = \"Salut\" }\n",
    );
    let begin = Instant::now();
    while !hidden() {
        assert!(begin.elapsed() < DEADLINE, "the change is not seen");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let result = toolsmith_tests::call(&caller, "greet", json!({"name": "Ada"})).await;
    assert_eq!(toolsmith_tests::text(&json!(*result)), "Salut, Ada");
}
