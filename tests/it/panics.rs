//! Panics, hangs and blocking tools: the host lives, every call is answered once.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolsmith_tests::{Project, text};

const PANICS: &str = r#"
    use std::time::Duration;
    use tool_sdk::tokio;

    struct PanicOnDrop;
    impl Drop for PanicOnDrop {
        fn drop(&mut self) { panic!("boom in drop") }
    }

    struct SpawnOnDrop;
    impl Drop for SpawnOnDrop {
        fn drop(&mut self) { tokio::spawn(async {}); }
    }

    /// Panics at once.
    #[tool]
    fn panic_sync() -> String { panic!("boom in fn") }

    /// Panics inline.
    #[tool(inline)]
    fn panic_inline() -> String { panic!("boom inline") }

    /// Panics in a poll.
    #[tool]
    async fn panic_poll() -> String {
        tokio::time::sleep(Duration::from_millis(1)).await;
        panic!("boom in poll")
    }

    /// Never ends, and panics when it is given up.
    #[tool(timeout = "200ms")]
    async fn panic_drop() -> String {
        let _bomb = PanicOnDrop;
        std::future::pending::<()>().await;
        String::new()
    }

    /// Never ends, and spawns when it is given up.
    #[tool(timeout = "200ms")]
    async fn spawn_drop() -> String {
        let _spawner = SpawnOnDrop;
        std::future::pending::<()>().await;
        String::new()
    }

    /// Panics in a thread of its own.
    #[tool]
    fn panic_thread() -> String {
        let joined = std::thread::Builder::new()
            .name("helper".into())
            .spawn(|| panic!("boom in thread"))
            .unwrap()
            .join();
        format!("joined with an error: {}", joined.is_err())
    }

    /// A payload whose drop panics.
    #[tool]
    fn panic_payload() -> String { std::panic::panic_any(PanicOnDrop) }

    /// Panics while it validates.
    #[tool(validate = bad)]
    fn panic_validate() -> String { String::new() }
    fn bad(_: &Args) -> Option<String> { panic!("boom in validate") }

    /// Panics while it prepares.
    #[tool(prepare = worse)]
    fn panic_prepare() -> String { String::new() }
    fn worse(_: Args) -> Result<Args> { panic!("boom in prepare") }

    /// Works.
    #[tool]
    fn fine() -> String { "fine".into() }
"#;

/// g4.panic-ffi
#[test]
fn panic_anywhere_is_answered_once_with_message_and_location() {
    let project = Project::new();
    project.plugin("panics", PANICS);
    let mut dev = project.dev();
    let check = |result: &Value, kind: &str, message: &str| {
        assert_eq!(result["error"]["kind"], kind, "{result}");
        assert!(text(result).contains(message), "{result}");
        assert_eq!(result["isError"], true);
        if kind == "panic" && !message.contains("without a text") {
            assert!(text(result).contains("src/lib.rs:"), "{result}");
        }
    };
    for (tool, message) in [
        ("panic_sync", "boom in fn"),
        ("panic_inline", "boom inline"),
        ("panic_poll", "boom in poll"),
        ("panic_payload", "a panic without a text"),
        ("panic_validate", "boom in validate"),
        ("panic_prepare", "boom in prepare"),
    ] {
        check(&dev.ask(&format!("call {tool}")), "panic", message);
        assert_eq!(dev.call("fine", ""), "fine", "after {tool}");
    }
    for tool in ["panic_drop", "spawn_drop"] {
        check(&dev.ask(&format!("call {tool}")), "timeout", "200ms");
        assert_eq!(dev.call("fine", ""), "fine", "after {tool}");
    }
    assert_eq!(dev.call("panic_thread", ""), "joined with an error: true");
    assert_eq!(dev.finish(), Some(0));
    let log = project.log();
    assert!(log.contains("boom in drop"), "{log}");
    assert!(
        log.contains("thread 'helper' panicked: boom in thread"),
        "{log}"
    );
}

#[test]
fn process_ends_soon_in_spite_of_hung_tools() {
    let project = Project::new();
    project.plugin(
        "hang",
        r#"
        /// Never returns.
        #[tool(timeout = "50ms")]
        fn hang() { loop { std::thread::park() } }

        /// Never returns either, and blocks the plugin's runtime.
        #[tool(timeout = "50ms")]
        async fn hang_async() { loop { std::thread::park() } }
        "#,
    );
    let mut dev = project.dev();
    for tool in ["hang", "hang_async", "hang"] {
        assert_eq!(dev.ask(&format!("call {tool}"))["error"]["kind"], "timeout");
    }
    let begin = Instant::now();
    assert_eq!(dev.finish(), Some(0));
    assert!(
        begin.elapsed() < Duration::from_secs(2),
        "{:?}",
        begin.elapsed()
    );
}

#[test]
fn hung_calls_of_one_plugin_are_bounded_and_hurt_no_other() {
    let project = Project::new();
    project.plugin(
        "hang",
        r#"
        /// Never returns.
        #[tool(timeout = "20ms")]
        fn hang() { loop { std::thread::park() } }
        "#,
    );
    project.plugin(
        "other",
        "/// Works.\n#[tool]\nfn fine() -> String { \"fine\".into() }",
    );
    let mut dev = project.dev();
    for _ in 0..8 {
        assert_eq!(dev.ask("call hang")["error"]["kind"], "timeout");
    }
    let refused = dev.ask("call hang");
    assert_eq!(refused["error"]["kind"], "unavailable", "{refused}");
    assert!(text(&refused).contains("8 earlier calls"), "{refused}");
    assert_eq!(dev.call("fine", ""), "fine");
    assert_eq!(dev.finish(), Some(0));
}

/// What a plugin prints, logs and dies of stays out of the answer, and is in the log by its name.
#[test]
fn answer_stays_clean_and_the_rest_is_logged_under_the_plugins_name() {
    let project = Project::new();
    project.plugin(
        "noisy",
        r#"
        /// Makes noise.
        #[tool]
        fn noise(ctx: &ToolContext) -> String {
            println!("printed words");
            eprintln!("complained words");
            ctx.log("logged words");
            ctx.progress(json!({"status": "half"}));
            std::thread::spawn(|| panic!("panicked words")).join().unwrap_err();
            "done".into()
        }
        "#,
    );
    let ran = project.run(&["--json", "call", "noise"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(
        ran.json()["content"],
        json!([{"type": "text", "text": "done"}])
    );
    assert_eq!(ran.stdout.lines().count(), 1, "{}", ran.stdout);
    assert!(
        ran.stderr.contains(r#"{"status": "half"}"#),
        "{}",
        ran.stderr
    );
    let log = project.log();
    let name = project.crate_name("noisy");
    for words in ["printed words", "logged words", "panicked words"] {
        let line = log.lines().find(|line| line.contains(words));
        let line = line.unwrap_or_else(|| panic!("no {words} in {log}"));
        assert!(line.contains(&format!("plugin=\"{name}\"")), "{line}");
    }
}
