//! Row 3: from the save of a plugin's source to an answer of the new code, against a plain
//! `cargo build` of an equal crate.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a bench prints, and ends where it can't measure"
)]

mod support;

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent_core::abort::AbortSignal;
use agent_core::build::Profile;
use agent_core::call::{Arguments, Caller, ToolCall};
use agent_core::event::Emitter;
use agent_core::registry::Scope;
use support::{Project, report, repository, write_crate};

const ROUNDS: u32 = 10;

/// Two tools with arguments.
fn plugin(version: u32) -> String {
    format!(
        r#"
        use tool_sdk::prelude::*;

        /// Which version.
        #[tool]
        fn version(name: String, times: u8) -> String {{
            format!("{{name}} {{times}} v{version}")
        }}

        /// Adds.
        #[tool]
        fn add(a: i64, b: i64, note: Option<String>) -> String {{
            format!("{{}} {{note:?}}", a + b)
        }}
        "#
    )
}

/// The same two tools by hand: serde reads the arguments, schemars makes the schemas.
fn plain(version: u32) -> String {
    format!(
        r#"
        use schemars::JsonSchema;
        use serde::Deserialize;

        #[derive(Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct Version {{ name: String, times: u8 }}

        #[derive(Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct Add {{ a: i64, b: i64, note: Option<String> }}

        #[unsafe(no_mangle)]
        pub extern "C" fn version(text: *const String) -> *mut String {{
            let text = unsafe {{ &*text }};
            let answer = match serde_json::from_str::<Version>(text) {{
                Ok(Version {{ name, times }}) => format!("{{name}} {{times}} v{version}"),
                Err(error) => error.to_string(),
            }};
            Box::into_raw(Box::new(answer))
        }}

        #[unsafe(no_mangle)]
        pub extern "C" fn add(text: *const String) -> *mut String {{
            let text = unsafe {{ &*text }};
            let answer = match serde_json::from_str::<Add>(text) {{
                Ok(Add {{ a, b, note }}) => format!("{{}} {{note:?}}", a + b),
                Err(error) => error.to_string(),
            }};
            Box::into_raw(Box::new(answer))
        }}

        #[unsafe(no_mangle)]
        pub extern "C" fn schemas() -> *mut String {{
            let schemas = [schemars::schema_for!(Version), schemars::schema_for!(Add)];
            Box::into_raw(Box::new(serde_json::to_string(&schemas).unwrap_or_default()))
        }}
        "#
    )
}

fn main() {
    agent_core::helper::init();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(run());
}

async fn run() {
    let project = Project::new();
    project.plugin("bench-reload", &plugin(0));
    let registry = project.registry(Profile::Dev, Emitter::default());
    registry.refresh(Scope::All, &()).await.expect("readable");
    let _watch = registry.watch(Arc::new(()));
    let caller = Caller::new(registry, Emitter::default());
    assert_eq!(version(&caller).await, "x 1 v0");

    let folder = project.path().join("plain");
    let dependencies = "serde = { version = \"1\", features = [\"derive\"] }\nserde_json = \"1\"\nschemars = \"1\"";
    write_crate(&folder, "bench-plain", dependencies, &plain(0));
    cargo(&folder);

    let (mut ours, mut limit) = (Vec::new(), Vec::new());
    for round in 1..=ROUNDS {
        let expected = format!("x 1 v{round}");
        let source = project.path().join("plugins/bench-reload/src/lib.rs");
        let begin = Instant::now();
        fs_err::write(source, plugin(round)).expect("writable");
        while version(&caller).await != expected {
            assert!(
                begin.elapsed() < Duration::from_secs(30),
                "the edit does not arrive"
            );
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        ours.push(begin.elapsed());

        let begin = Instant::now();
        fs_err::write(folder.join("src/lib.rs"), plain(round)).expect("writable");
        cargo(&folder);
        limit.push(begin.elapsed());
    }
    report(
        "3",
        "save → new code answers, against cargo build",
        &mut ours,
        &mut limit,
        1.0,
    );
}

async fn version(caller: &Caller) -> String {
    let arguments = Arguments::Text(r#"{"name":"x","times":1}"#.to_owned());
    caller
        .call(ToolCall::new("version", arguments), &AbortSignal::new())
        .await
        .result
        .text()
}

fn cargo(folder: &Path) {
    let mut command = Command::new("cargo");
    command
        .args(["build", "--quiet", "--offline"])
        .current_dir(folder);
    command.env(
        "CARGO_TARGET_DIR",
        repository().join("target/toolsmith-bench-plain"),
    );
    for name in [
        "RUSTFLAGS",
        "CARGO_ENCODED_RUSTFLAGS",
        "CARGO_INCREMENTAL",
        "RUSTC_WRAPPER",
    ] {
        command.env_remove(name);
    }
    assert!(command.status().expect("cargo starts").success());
}
