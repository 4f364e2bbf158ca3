//! State of plugins: opened from their settings before the first call, opened anew when those
//! change, closed when nobody uses it any more.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use agent_core::call::Caller;
use agent_core::registry::{Configuration, PluginState, Scope, Settings};
use fs_err as fs;
use serde_json::{Value, json};
use toolsmith_tests::{DEADLINE, Project, call};

/// Opens a cellar, and writes down when it is opened and closed.
const CELLAR: &str = r#"
    use std::io::Write;

    #[tool_type]
    struct Settings {
        /// Which cellar
        cellar: String,
        diary: std::path::PathBuf,
        #[serde(default)]
        #[schemars(range(max = 9))]
        shelves: u8,
    }

    struct Cellar {
        name: String,
        diary: std::path::PathBuf,
    }

    impl Cellar {
        fn note(&self, what: &str) {
            let mut diary = std::fs::File::options().append(true).create(true).open(&self.diary).unwrap();
            writeln!(diary, "{what} {}", self.name).unwrap();
        }
    }

    impl Drop for Cellar {
        fn drop(&mut self) {
            self.note("closed");
        }
    }

    #[plugin_state]
    async fn open(settings: Settings, ctx: &PluginContext) -> Result<Cellar> {
        ctx.log(format!("opening with {} shelves", settings.shelves));
        tool_sdk::tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        if settings.cellar == "flooded" {
            return Err("it is under water".into());
        }
        let cellar = Cellar { name: settings.cellar, diary: settings.diary };
        cellar.note("opened");
        Ok(cellar)
    }

    /// Says where it is, and waits until a file is there.
    #[tool]
    async fn visit(until: Option<String>, cellar: &Cellar, ctx: &ToolContext) -> String {
        ctx.progress(json!({"in": cellar.name}));
        while until.as_ref().is_some_and(|file| !std::path::Path::new(file).exists()) {
            tool_sdk::tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        cellar.name.clone()
    }

    /// The same for a plain function.
    #[tool]
    fn look(cellar: &Cellar) -> String {
        cellar.name.clone()
    }
"#;

struct Cellar {
    project: Project,
    package: String,
    caller: Arc<Caller>,
}

impl Cellar {
    /// A host of the plugin, which was not given any settings yet.
    async fn new() -> Self {
        let project = Project::new();
        project.plugin("cellar", CELLAR);
        Self {
            package: project.crate_name("cellar"),
            caller: Arc::new(project.host().await),
            project,
        }
    }

    fn diary(&self) -> String {
        fs::read_to_string(self.project.path().join("diary")).unwrap_or_default()
    }

    async fn give(&self, settings: &[(&str, Value)]) {
        let diary = self.project.path().join("diary");
        let mut all = Settings::default().with(&self.package, "diary", json!(diary));
        for (name, value) in settings {
            all = all.with(&self.package, *name, value.clone());
        }
        let registry = self.caller.registry();
        let mut configuration = Configuration::default();
        configuration.settings = all;
        registry.configure(configuration);
        registry.refresh(Scope::All, &()).await.unwrap();
    }

    async fn answer(&self, tool: &str) -> String {
        let result = call(&self.caller, tool, json!({})).await;
        toolsmith_tests::text(&json!(*result))
    }

    /// State and reason of the plugin.
    fn status(&self) -> (PluginState, String) {
        let plugins = self.caller.registry().plugins();
        let status = &plugins[0];
        (status.state, status.reason.clone().unwrap_or_default())
    }
}

async fn until(what: &str, done: impl Fn() -> bool) {
    let begin = Instant::now();
    while !done() {
        assert!(begin.elapsed() < DEADLINE, "{what}");
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_setting_opens_new_state_while_running_calls_keep_the_old_one() {
    let cellar = Cellar::new().await;
    cellar.give(&[("cellar", json!("north"))]).await;
    assert_eq!(cellar.answer("look").await, "north");
    let file = cellar.project.path().join("go");
    let caller = Arc::clone(&cellar.caller);
    let waiting = json!({"until": file});
    let running = tokio::spawn(async move { call(&caller, "visit", waiting).await });
    let entry = cellar
        .caller
        .registry()
        .table()
        .get("visit")
        .unwrap()
        .clone();
    until("the call runs", || entry.in_flight() == 1).await;

    cellar.give(&[("cellar", json!("south"))]).await;
    assert_eq!(cellar.answer("look").await, "south");
    assert_eq!(cellar.answer("visit").await, "south");
    assert_eq!(cellar.diary(), "opened north\nopened south\n");

    fs::write(&file, "").unwrap();
    let result = running.await.unwrap();
    assert_eq!(toolsmith_tests::text(&json!(*result)), "north");
    until("the old state closes", || {
        cellar.diary() == "opened north\nopened south\nclosed north\n"
    })
    .await;
    let generation = entry.generation();
    let now = cellar.caller.registry().table();
    assert_eq!(
        now.get("visit").unwrap().generation(),
        generation,
        "nothing was reloaded"
    );

    fs::remove_dir_all(cellar.project.plugins().join("cellar")).unwrap();
    cellar
        .caller
        .registry()
        .refresh(Scope::All, &())
        .await
        .unwrap();
    until("what is left closes", || {
        cellar.diary().ends_with("closed south\n")
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_open_goes_on_serving_when_opening_fails() {
    let cellar = Cellar::new().await;
    cellar.give(&[("cellar", json!("north"))]).await;
    cellar.give(&[("cellar", json!("flooded"))]).await;
    assert_eq!(cellar.answer("look").await, "north");
    let (state, reason) = cellar.status();
    assert_eq!(state, PluginState::Failed);
    assert!(reason.contains("`Cellar` could not be opened"), "{reason}");
    assert!(reason.contains("it is under water"), "{reason}");

    let changed = CELLAR.replace("cellar.name.clone()", "format!(\"{}!\", cellar.name)");
    cellar.project.source("cellar", &changed);
    cellar.give(&[("cellar", json!("flooded"))]).await;
    assert_eq!(
        cellar.answer("look").await,
        "north",
        "the new code never served"
    );

    cellar.give(&[("cellar", json!("west"))]).await;
    assert_eq!(cellar.answer("look").await, "west!");
    assert_eq!(cellar.status().0, PluginState::Live);
}

/// Settings are validated like arguments, with the same words; values may be secrets.
#[tokio::test(flavor = "multi_thread")]
async fn settings_are_validated_like_arguments_and_never_shown() {
    let cellar = Cellar::new().await;
    let package = cellar.package.clone();
    let (state, reason) = cellar.status();
    assert_eq!(state, PluginState::Failed);
    let expected = format!(
        "Validation failed for the settings of plugin {package:?}:\n  \
         - /cellar: missing required argument (expected string)\n  \
         - /diary: missing required argument (expected string)\n\
         They stand under `[plugins.{package}.settings]` in toolsmith.toml"
    );
    assert_eq!(reason, expected);

    let wrong = [
        ("cellar", json!(5.5)),
        ("shelves", json!(77)),
        ("shelfs", json!("secret")),
    ];
    cellar.give(&wrong).await;
    let (_, reason) = cellar.status();
    // The package's name has a number of its own.
    let reason = reason.replace(&package, "");
    let unknown = r#"/shelfs: unknown argument, did you mean "shelves"?"#;
    for part in ["/shelves: too large", unknown] {
        assert!(reason.contains(part), "{reason}");
    }
    assert!(
        !reason.contains("77") && !reason.contains("secret"),
        "{reason}"
    );
    assert!(cellar.answer("look").await.contains("not found"));
}

#[test]
fn settings_come_from_the_configuration_and_the_environment() {
    let project = Project::new();
    project.plugin("cellar", CELLAR);
    let package = project.crate_name("cellar");
    let file = project.path().join("toolsmith.toml");
    let configured = fs::read_to_string(&file).unwrap();
    let diary = project.path().join("diary");
    let settings = format!(
        "{configured}\n[plugins.{package}.settings]\ncellar = \"${{CELLAR}}\"\ndiary = {:?}\n",
        diary.display().to_string()
    );
    fs::write(&file, settings).unwrap();
    let run = |cellar: Option<&str>| {
        let mut command = project.command(&["call", "look", "--json"]);
        command
            .env_remove("CELLAR")
            .envs(cellar.map(|cellar| ("CELLAR", cellar)));
        let output = command.output().unwrap();
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    assert_eq!(toolsmith_tests::text(&run(Some("east"))), "east");
    let refused = run(None);
    assert_eq!(refused["error"]["kind"], "unavailable", "{refused}");
    let text = refused["error"]["message"].as_str().unwrap();
    assert!(text.contains("environment variable `CELLAR`"), "{text}");
    assert!(Path::new(&diary).exists());
}

/// Nobody reads settings of a plugin without state.
#[test]
fn settings_without_state_are_refused() {
    let project = Project::new();
    project.plugin(
        "plain",
        "/// Says so.\n#[tool]\nfn plain() -> &'static str { \"plain\" }\n",
    );
    let package = project.crate_name("plain");
    let file = project.path().join("toolsmith.toml");
    let configured = fs::read_to_string(&file).unwrap();
    fs::write(
        &file,
        format!("{configured}\n[plugins.{package}.settings]\na = 1\n"),
    )
    .unwrap();
    let list = project.run(&["list", "--json"]).json();
    let reason = list["plugins"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("takes no settings"), "{reason}");
    assert!(
        reason.contains(&format!("[plugins.{package}.settings]")),
        "{reason}"
    );
}

/// Nobody waits for ever for a plugin that does not open, and nothing else waits with it.
#[test]
fn opening_has_a_time_limit() {
    if std::env::var_os("TOOLSMITH_LONG").is_none() {
        return;
    }
    let project = Project::new();
    project.plugin(
        "asleep",
        "struct Db;\n\
         #[plugin_state]\nfn open() -> Db { loop { std::thread::park() } }\n\
         /// Asks.\n#[tool]\nfn ask(_db: &Db) {}\n",
    );
    project.plugin("awake", "/// Answers.\n#[tool]\nfn answer() -> u8 { 1 }\n");
    let list = project.run(&["list", "--json"]).json();
    let reason = list["plugins"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("was not open within 30s"), "{reason}");
    assert_eq!(list["tools"][0]["name"], "answer");
}
