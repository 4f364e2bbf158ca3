//! One plugin, every tier: the same calls give the same results and the same events.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent_core::abort::AbortSignal;
use agent_core::call::{Arguments, Caller, ToolCall};
use agent_core::config::Isolation;
use agent_core::event::{Event, EventKind};
use agent_core::registry::{Configuration, Presets, Settings};
use serde_json::{Value, json};
use toolsmith_tests::{DEADLINE, Project};

use super::isolate;

/// A tool for each thing that crosses the border.
const SUBJECT: &str = r#"
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    use tool_sdk::tokio::time::sleep;

    #[tool_type]
    struct Point { x: i64, y: f64, #[serde(default)] tags: Vec<String> }

    #[tool_type]
    struct Setup { start: u32 }

    struct Counter(AtomicU32);

    #[plugin_state]
    fn open(settings: Setup) -> Result<Counter> {
        Ok(Counter(AtomicU32::new(settings.start)))
    }

    /// Counts.
    #[tool]
    fn count(counter: &Counter) -> u32 { counter.0.fetch_add(1, Ordering::Relaxed) }

    /// Counts.
    #[tool]
    async fn count_async(counter: &Counter) -> u32 { counter.0.fetch_add(1, Ordering::Relaxed) }

    /// Text of many kinds.
    #[tool]
    fn plain(text: String) -> String { text }

    /// The same.
    #[tool]
    async fn asynchronous(text: String) -> String { sleep(Duration::from_millis(1)).await; text }

    /// The same.
    #[tool(inline)]
    fn inline(text: String) -> String { text }

    /// Numbers and structures.
    #[tool]
    fn structured(point: Point, big: u64, ctx: &ToolContext) -> Value {
        json!({"point": {"x": point.x, "y": point.y, "tags": point.tags}, "big": big, "call": ctx.call_id()})
    }

    /// Nothing.
    #[tool]
    fn nothing() {}

    /// Everything that a result may have.
    #[tool]
    fn rich() -> ToolResult {
        ToolResult::content([Content::text("a picture"), Content::image("aGk=", "image/png")])
            .details(json!({"k": [1, 2]}))
            .usage(json!({"tokens": 7}))
            .structured(json!({"s": true}))
            .terminate()
    }

    /// Fails as it is told to.
    #[tool]
    fn fail(how: String) -> Result<String> {
        match how.as_str() {
            "text" => Err("just a text".into()),
            "hint" => Err(ToolError::new("no such city").with_hint("use a bigger one")),
            "kind" => Err(ToolError::of(ErrorKind::Rejected, "not today")),
            "io" => Ok(std::fs::read_to_string("/no/such/file")?),
            _ => panic!("told to: {how}"),
        }
    }

    /// The same.
    #[tool]
    async fn fail_async(how: String) -> Result<String> {
        sleep(Duration::from_millis(1)).await;
        match how.as_str() {
            "text" => Err("just a text".into()),
            _ => panic!("told to: {how}"),
        }
    }

    fn doubled(mut args: Args) -> Result<Args> {
        match args["n"].as_i64() {
            Some(13) => panic!("unlucky"),
            Some(n) if n < 0 => return Err("nothing below zero".into()),
            Some(n) => { args.insert("n".into(), json!(n * 2)); }
            None => {}
        }
        Ok(args)
    }

    fn small(args: &Args) -> Option<String> {
        (args["n"].as_i64()? > 100).then(|| format!("{} is\ntoo much", args["n"]))
    }

    /// With hooks.
    #[tool(prepare = doubled, validate = small)]
    fn hooked(n: i64) -> i64 { n }

    /// With hooks, and never waits.
    #[tool(inline, prepare = doubled, validate = small)]
    fn hooked_inline(n: i64) -> i64 { n }

    /// Reports.
    #[tool]
    fn steps(n: u32, ctx: &ToolContext) -> String {
        for step in 0..n { ctx.progress(json!({"step": step, "text": "ü\n"})); }
        let late = ctx.clone();
        let other = std::thread::spawn(move || late.progress(json!("from a thread")));
        other.join().unwrap();
        "done".into()
    }

    /// Reports.
    #[tool]
    async fn steps_async(n: u32, ctx: &ToolContext) -> String {
        for step in 0..n { ctx.progress(json!(step)); sleep(Duration::from_millis(1)).await; }
        "done".into()
    }

    /// Reports when it is over.
    #[tool]
    fn late(ctx: &ToolContext) -> String {
        let late = ctx.clone();
        std::thread::spawn(move || { std::thread::sleep(Duration::from_millis(30)); late.progress(json!("late")); });
        "done".into()
    }

    /// Takes its time.
    #[tool(timeout = "150ms")]
    fn slow(ms: u64) -> String { std::thread::sleep(Duration::from_millis(ms)); "slept".into() }

    /// Takes its time.
    #[tool(timeout = "150ms")]
    async fn slow_async(ms: u64) -> String { sleep(Duration::from_millis(ms)).await; "slept".into() }

    /// Works until it is aborted.
    #[tool]
    fn until_aborted(ctx: &ToolContext) -> String {
        ctx.progress(json!("started"));
        while !ctx.is_aborted() { std::thread::sleep(Duration::from_millis(1)); }
        std::thread::sleep(Duration::from_millis(200));
        "never seen".into()
    }

    /// Works until it is aborted.
    #[tool]
    async fn until_aborted_async(ctx: &ToolContext) -> String {
        ctx.progress(json!("started"));
        ctx.aborted().await;
        sleep(Duration::from_millis(50)).await;
        "never seen".into()
    }

    /// Has a secret.
    #[tool]
    fn secret(#[arg(preset)] key: String, shown: bool) -> String { if shown { format!("{} letters", key.len()) } else { "hidden".into() } }

    /// Panics where nobody expects it.
    #[tool]
    async fn drops() -> String {
        struct Bad;
        impl Drop for Bad { fn drop(&mut self) { panic!("in a drop"); } }
        let _bad = Bad;
        sleep(Duration::from_millis(1)).await;
        "answered".into()
    }

    /// Long text.
    #[tool]
    fn long(letters: u32) -> String { "ä".repeat(letters as usize) }
"#;

/// What is called, with what.
fn calls() -> Vec<(&'static str, Value)> {
    let text = json!({"text": "line\n\"quoted\" \u{1F600} \u{0}"});
    vec![
        ("plain", text.clone()),
        ("asynchronous", text.clone()),
        ("inline", text),
        ("plain", json!({"text": ""})),
        ("plain", json!({"text": 7, "more": true})),
        (
            "structured",
            json!({"point": {"x": -9_007_199_254_740_993_i64, "y": 0.1}, "big": u64::MAX}),
        ),
        ("structured", json!({"point": {"x": 1.0}, "big": -1})),
        ("nothing", json!({})),
        ("rich", json!({})),
        ("fail", json!({"how": "text"})),
        ("fail", json!({"how": "hint"})),
        ("fail", json!({"how": "kind"})),
        ("fail", json!({"how": "io"})),
        ("fail", json!({"how": "panic"})),
        ("fail_async", json!({"how": "text"})),
        ("fail_async", json!({"how": "panic"})),
        ("hooked", json!({"n": 4})),
        ("hooked", json!({"n": -4})),
        ("hooked", json!({"n": 400})),
        ("hooked", json!({"n": 13})),
        ("hooked_inline", json!({"n": 4})),
        ("hooked_inline", json!({"n": 400})),
        ("hooked_inline", json!({"n": 13})),
        ("steps", json!({"n": 3})),
        ("steps_async", json!({"n": 3})),
        ("late", json!({})),
        ("slow", json!({"ms": 1})),
        ("slow", json!({"ms": 400})),
        ("slow_async", json!({"ms": 1})),
        ("slow_async", json!({"ms": 60_000})),
        ("until_aborted", json!({})),
        ("until_aborted_async", json!({})),
        ("secret", json!({"shown": true})),
        ("drops", json!({})),
        ("long", json!({"letters": 200_000})),
        ("count", json!({})),
        ("count_async", json!({})),
        ("count", json!({})),
        ("unheard_of", json!({})),
    ]
}

/// Keeps events, and aborts what says that it has started.
#[derive(Clone, Default)]
struct Watch {
    events: Arc<Mutex<Vec<Value>>>,
    abort: Arc<Mutex<AbortSignal>>,
}

impl Watch {
    fn see(&self, event: &Arc<Event>) {
        if let EventKind::ToolExecutionUpdate { partial_result, .. } = &event.kind
            && partial_result == "started"
        {
            self.abort.lock().unwrap().abort();
        }
        let mut event = serde_json::to_value(event).unwrap();
        for changing in ["seq", "time", "durationMs", "generation"] {
            event.as_object_mut().unwrap().remove(changing);
        }
        self.events.lock().unwrap().push(event);
    }
}

/// Results and events of every call.
async fn outcomes(caller: &Caller, watch: &Watch) -> Vec<(String, Value, Vec<Value>)> {
    let mut outcomes = Vec::new();
    for (number, (tool, arguments)) in calls().into_iter().enumerate() {
        let abort = AbortSignal::new();
        *watch.abort.lock().unwrap() = abort.clone();
        watch.events.lock().unwrap().clear();
        let sent = Arguments::Text(arguments.to_string());
        let call = ToolCall::of_model(format!("call_{number}"), tool, sent);
        let ended = tokio::time::timeout(DEADLINE, caller.call(call, &abort));
        let result = ended.await.unwrap().result;
        if tool == "late" {
            // What comes after the end is dropped.
            tokio::time::sleep(Duration::from_millis(60)).await;
        }
        let events = std::mem::take(&mut *watch.events.lock().unwrap());
        let result = serde_json::to_value(&*result).unwrap();
        outcomes.push((format!("{tool} {arguments}"), result, events));
    }
    outcomes
}

fn configuration(start: u32, project: &Project) -> Configuration {
    let mut configuration = Configuration::default();
    let plugin = project.crate_name("subject");
    configuration.settings = Settings::default().with(plugin, "start", json!(start));
    configuration.presets = Presets::default().with("secret", "key", json!("hush"));
    configuration
}

#[tokio::test(flavor = "multi_thread")]
async fn every_tier_gives_the_same_results_and_the_same_events() {
    let project = Project::new();
    project.plugin("subject", SUBJECT);
    let caller = project.host().await;
    let watch = Watch::default();
    let sink = watch.clone();
    caller
        .events()
        .add(move |event: &Arc<Event>| sink.see(event));
    isolate(
        &caller,
        &project,
        "subject",
        Isolation::InProcess,
        configuration(40, &project),
    )
    .await;
    let expected = outcomes(&caller, &watch).await;
    let of = |tool: &str| {
        let found = expected.iter().find(|(call, ..)| call.starts_with(tool));
        found.map(|(_, result, _)| result).unwrap()
    };
    assert_eq!(of("count {}")["content"][0]["text"], "40");
    assert_eq!(of("secret")["content"][0]["text"], "4 letters");
    assert_eq!(of("until_aborted ")["error"]["kind"], "aborted");
    for isolation in [Isolation::Worker, Isolation::Sandbox] {
        isolate(
            &caller,
            &project,
            "subject",
            isolation,
            configuration(40, &project),
        )
        .await;
        for (found, expected) in outcomes(&caller, &watch).await.iter().zip(&expected) {
            assert_eq!(found, expected, "{isolation}");
        }
        // Settings that change are opened anew where it runs.
        isolate(
            &caller,
            &project,
            "subject",
            isolation,
            configuration(7, &project),
        )
        .await;
        let call = toolsmith_tests::call(&caller, "count", json!({})).await;
        assert_eq!(call.text(), "7", "{isolation}");
    }
}
