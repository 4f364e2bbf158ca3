//! `toolsmith dev` while plugins are edited, broken, added and removed.

use std::time::Instant;

use serde_json::{Value, json};
use toolsmith_tests::{DEADLINE, Project, text};

fn greeter(word: &str) -> String {
    format!(
        r#"
        /// Greets.
        #[tool]
        fn greet(name: String) -> String {{
            format!("{word}, {{name}}")
        }}
        "#
    )
}

fn plugin<'a>(list: &'a Value, name: &str) -> &'a Value {
    let plugins = list["plugins"].as_array().unwrap();
    let found = plugins
        .iter()
        .find(|plugin| plugin["name"].as_str().unwrap().starts_with(name));
    found.unwrap_or(&Value::Null)
}

fn tools(list: &Value) -> Vec<&str> {
    list["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect()
}

/// R29, g4.reload-transaction, g4.same-path: a broken edit keeps the old tool serving and its reason is shown once; a fix recovers.
#[test]
fn edit_changes_the_next_answer_and_r29_a_broken_one_does_not() {
    let project = Project::new();
    project.plugin("greeter", &greeter("Hello"));
    let mut dev = project.dev();
    assert_eq!(dev.call("greet", r#"{"name": "Ada"}"#), "Hello, Ada");

    project.source("greeter", &greeter("Salut"));
    assert_eq!(dev.call("greet", r#"{"name": "Ada"}"#), "Salut, Ada");

    project.source("greeter", "fn broken( {");
    for _ in 0..3 {
        assert_eq!(dev.call("greet", r#"{"name": "Ada"}"#), "Salut, Ada");
    }
    let list = dev.ask("list");
    assert_eq!(plugin(&list, "greeter")["state"], "failed");
    assert_eq!(plugin(&list, "greeter")["generation"], 2);
    project.source("greeter", &greeter("Servus"));
    assert_eq!(dev.call("greet", r#"{"name": "Ada"}"#), "Servus, Ada");
    let list = dev.ask("list");
    assert_eq!(plugin(&list, "greeter")["state"], "live");
    assert_eq!(plugin(&list, "greeter")["mappedImages"], 3);
    let (code, shown) = dev.finish_with_complaints();
    assert_eq!(code, Some(0));
    let times = shown
        .iter()
        .filter(|line| line.contains("was not built"))
        .count();
    assert_eq!(times, 1, "{shown:#?}");
    assert!(
        shown.iter().any(|line| line.contains("src/lib.rs")),
        "{shown:#?}"
    );
}

/// The watcher sees an edit without any command.
#[test]
fn running_call_ends_with_the_old_answer_across_a_swap() {
    let slow = |word: &str| {
        format!(
            r#"
            /// Waits for a file.
            #[tool]
            fn wait(path: String, ctx: &ToolContext) -> String {{
                ctx.progress("waiting");
                while !std::path::Path::new(&path).exists() {{
                    std::thread::sleep(std::time::Duration::from_millis(5));
                }}
                "{word}".to_owned()
            }}
            "#
        )
    };
    let project = Project::new();
    project.plugin("slow", &slow("old"));
    let mut dev = project.dev();
    dev.ask("list");
    let path = project.path().join("go");
    dev.send(&format!("call wait {}", json!({"path": path})));
    dev.complaint(|line| line.contains("waiting"));
    project.source("slow", &slow("new"));
    dev.complaint(|line| line.starts_with("built slow"));
    // The call still runs on the old version: only now may it end.
    project.write("go", "");
    assert_eq!(text(&dev.answer()), "old");
    assert_eq!(dev.call("wait", &json!({"path": path}).to_string()), "new");
}

#[test]
fn new_crate_appears_and_deleted_crate_goes_by_itself() {
    let project = Project::new();
    project.plugin("a", &greeter("Hello"));
    let mut dev = project.dev();
    assert_eq!(tools(&dev.ask("list")), ["greet"]);

    let name = project.crate_name("made");
    let made = project.run(&["new", &name]);
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    let list = dev.ask_until("list", |list| tools(list).len() == 2);
    assert_eq!(plugin(&list, "made")["state"], "live");

    fs_err::remove_dir_all(project.plugins().join("a")).unwrap();
    let list = dev.ask_until("list", |list| tools(list).len() == 1);
    assert_eq!(plugin(&list, "a-"), &Value::Null);
    let unknown = dev.ask("call greet {\"name\": \"Ada\"}");
    assert_eq!(unknown["error"]["kind"], "unknownTool");
}

#[test]
fn broken_neighbours_hurt_nothing_but_themselves() {
    let project = Project::new();
    project.plugin("good", &greeter("Hello"));
    project.write("plugins/broken/Cargo.toml", "[package\nname = 1");
    fs_err::create_dir(project.plugins().join("empty")).unwrap();
    project.plugin("twin", &greeter("Twin"));
    let manifest = project.plugins().join("twin/Cargo.toml");
    let twin = fs_err::read_to_string(&manifest).unwrap();
    let good = project.crate_name("good");
    fs_err::write(manifest, twin.replace(&project.crate_name("twin"), &good)).unwrap();

    let list = project.run(&["list", "--json"]).json();
    assert_eq!(tools(&list), ["greet"]);
    assert_eq!(plugin(&list, "good")["state"], "live");
    assert_eq!(plugin(&list, "broken")["state"], "failed");
    assert_eq!(plugin(&list, "empty")["state"], "failed");
    assert_eq!(plugin(&list, "twin")["state"], "conflicted");
    for name in ["broken", "empty", "twin"] {
        let reason = plugin(&list, name)["reason"].as_str().unwrap();
        assert!(!reason.is_empty() && !reason.contains('\n'), "{reason}");
    }
    let ran = project.run(&["call", "greet", r#"{"name": "Ada"}"#]);
    assert_eq!((ran.stdout.as_str(), ran.code), ("Hello, Ada\n", Some(0)));
}

/// g4.same-path: a version that returns is a new image, so that it shares no state with its earlier self.
#[test]
fn version_that_returns_starts_anew() {
    let counter = |step: u32| {
        format!(
            r"
            static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
            /// Counts.
            #[tool]
            fn count() -> u32 {{
                COUNT.fetch_add({step}, std::sync::atomic::Ordering::SeqCst) + {step}
            }}
            "
        )
    };
    let project = Project::new();
    project.plugin("counter", &counter(1));
    let mut dev = project.dev();
    assert_eq!(dev.call("count", ""), "1");
    assert_eq!(dev.call("count", ""), "2");
    project.source("counter", &counter(10));
    assert_eq!(dev.call("count", ""), "10");
    project.source("counter", &counter(1));
    assert_eq!(dev.call("count", ""), "1");
}

/// An edit during a build ends that build: the newest source is what is built.
#[test]
fn newest_edit_overtakes_a_running_build() {
    let project = Project::new();
    project.plugin("slow", &greeter("old"));
    let mut dev = project.dev();
    assert_eq!(dev.call("greet", r#"{"name": "Ada"}"#), "old, Ada");

    let started = project.path().join("started");
    let script = format!(
        "fn main() {{ std::fs::write({started:?}, \"\").unwrap(); loop {{ std::thread::park() }} }}"
    );
    project.write("plugins/slow/build.rs", &script);
    let begin = Instant::now();
    while !started.exists() {
        assert!(
            begin.elapsed() < DEADLINE,
            "the endless build does not start"
        );
        std::thread::yield_now();
    }
    fs_err::remove_file(project.plugins().join("slow/build.rs")).unwrap();
    project.source("slow", &greeter("new"));
    assert_eq!(dev.call("greet", r#"{"name": "Ada"}"#), "new, Ada");
    let (code, shown) = dev.finish_with_complaints();
    assert_eq!(code, Some(0));
    assert!(
        shown.iter().all(|line| !line.contains("was not built")),
        "{shown:#?}"
    );
}

/// R29: a manifest that breaks while the host runs takes no tool away.
#[test]
fn r29_broken_manifest_keeps_what_served() {
    let project = Project::new();
    project.plugin("one", &greeter("Hello"));
    let manifest = project.plugins().join("one/Cargo.toml");
    let good = fs_err::read_to_string(&manifest).unwrap();
    let mut dev = project.dev();
    assert_eq!(dev.call("greet", r#"{"name": "Ada"}"#), "Hello, Ada");
    fs_err::write(&manifest, "broken [").unwrap();
    let list = dev.ask_until("list", |list| plugin(list, "one")["state"] == "failed");
    assert_eq!(list["plugins"].as_array().unwrap().len(), 1, "{list}");
    assert_eq!(dev.call("greet", r#"{"name": "Ada"}"#), "Hello, Ada");
    dev.complaint(|line| line.contains("Cargo.toml"));
    fs_err::write(&manifest, good).unwrap();
    project.source("one", &greeter("Salut"));
    assert_eq!(dev.call("greet", r#"{"name": "Ada"}"#), "Salut, Ada");
    assert_eq!(plugin(&dev.ask("list"), "one")["state"], "live");
}

/// R29: a broken edit does no more harm at the start than while the host runs.
#[test]
fn r29_last_version_that_compiled_serves_after_a_restart() {
    let project = Project::new();
    project.plugin("one", &greeter("Hello"));
    let call = || project.run(&["call", "greet", r#"{"name": "Ada"}"#]);
    assert_eq!(call().stdout, "Hello, Ada\n");
    project.source("one", "fn broken( {");
    let ran = call();
    assert_eq!((ran.stdout.as_str(), ran.code), ("Hello, Ada\n", Some(0)));
    assert!(ran.stderr.contains("was not built"), "{}", ran.stderr);
    assert_eq!(
        plugin(&project.run(&["list", "--json"]).json(), "one")["state"],
        "failed"
    );
}

/// A tool whose crate can't be built is not unknown: the failure is told, with exit code 1.
#[test]
fn tool_of_a_crate_that_was_never_built_is_unavailable() {
    let project = Project::new();
    project.plugin(
        "one",
        "/// Greets.\n#[tool]\nfn greet() -> String { broken }",
    );
    let ran = project.run(&["--json", "call", "greet"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let error = &ran.json()["error"];
    assert_eq!(error["kind"], "unavailable", "{error}");
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("does not compile"),
        "{error}"
    );
}

/// The newest source that compiles counts, also when it declares no tool any more.
#[test]
fn tools_of_a_crate_that_declares_none_any_more_go() {
    let project = Project::new();
    project.plugin("one", &greeter("Hello"));
    let mut dev = project.dev();
    assert_eq!(tools(&dev.ask("list")), ["greet"]);
    project.source("one", "");
    let list = dev.ask("list");
    assert_eq!(tools(&list), Vec::<&str>::new());
    assert_eq!(plugin(&list, "one")["state"], "live");
    project.source("one", &greeter("Hello"));
    assert_eq!(tools(&dev.ask("list")), ["greet"]);
}

/// What a file holds counts, wherever a link leads and whatever cargo knows of it.
#[test]
fn edits_that_cargo_does_not_see_are_built_too() {
    let project = Project::new();
    project.plugin("one", &greeter("a"));
    let folder = project.plugins().join("one");
    let call = || project.run(&["call", "greet", r#"{"name": "Ada"}"#]).stdout;
    fs_err::rename(folder.join("src"), folder.join("a")).unwrap();
    std::os::unix::fs::symlink("a", folder.join("src")).unwrap();
    assert_eq!(call(), "a, Ada\n");
    let source = fs_err::read_to_string(folder.join("a/lib.rs")).unwrap();
    project.write("plugins/one/b/lib.rs", &source.replace("\"a, ", "\"b, "));
    for target in ["b", "a", "b"] {
        fs_err::remove_file(folder.join("src")).unwrap();
        std::os::unix::fs::symlink(target, folder.join("src")).unwrap();
        assert_eq!(call(), format!("{target}, Ada\n"));
    }

    // A file that only the build script reads, restored with an older time.
    fs_err::remove_file(folder.join("src")).unwrap();
    project.write(
        "plugins/one/src/lib.rs",
        &source.replace("a, ", "{}, ").replace(
            "format!(\"{}, {name}\")",
            "format!(\"{}, {name}\", env!(\"WORD\"))",
        ),
    );
    project.write(
        "plugins/one/build.rs",
        "fn main() { println!(\"cargo::rustc-env=WORD={}\", std::fs::read_to_string(\"words/w\").unwrap()) }",
    );
    project.write("plugins/one/words/w", "new");
    assert_eq!(call(), "new, Ada\n");
    project.write("plugins/one/words/w", "old");
    let file = fs_err::File::options()
        .write(true)
        .open(folder.join("words/w"))
        .unwrap();
    file.set_modified(std::time::UNIX_EPOCH).unwrap();
    assert_eq!(call(), "old, Ada\n");
}

/// A crate that takes long to build holds up the calls of no other plugin.
#[test]
fn calls_do_not_wait_for_the_build_of_another_plugin() {
    let project = Project::new();
    project.plugin("fast", &greeter("Hello"));
    let mut dev = project.dev();
    assert_eq!(dev.call("greet", r#"{"name": "Ada"}"#), "Hello, Ada");

    let go = project.path().join("go");
    // Ends by itself if this test does not come so far.
    let script = format!(
        "fn main() {{\n    for _ in 0..6000 {{\n        if std::fs::exists({go:?}).unwrap() {{ return; }}\n\
         \x20       std::thread::sleep(std::time::Duration::from_millis(10));\n    }}\n}}\n"
    );
    project.write("plugins/slow/build.rs", &script);
    project.plugin("slow", "/// Comes late.\n#[tool]\nfn late() -> u8 { 1 }\n");
    dev.complaint(|line| line.starts_with("building slow"));
    for _ in 0..20 {
        assert_eq!(dev.call("greet", r#"{"name": "Ada"}"#), "Hello, Ada");
    }
    assert!(!go.exists());
    fs_err::write(go, "").unwrap();
    dev.ask_until("list", |list| tools(list) == ["greet", "late"]);
}

/// g4.dup-name, R26: the plugin that comes first by name keeps a tool's name; the other's is shown as
/// conflicted, and is there when the first goes.
#[test]
fn r26_name_that_two_plugins_want_is_handed_on_when_the_first_goes() {
    let project = Project::new();
    let convert = |unit: &str| {
        format!("/// Converts.\n#[tool]\nfn convert() -> String {{ {unit:?}.into() }}")
    };
    project.plugin("a-first", &convert("first"));
    project.plugin("b-second", &convert("second"));
    let mut dev = project.dev();
    assert_eq!(dev.call("convert", ""), "first");
    let list = dev.ask("list");
    assert_eq!(list["tools"][1]["state"], "conflicted", "{list}");
    let reason = list["tools"][1]["reason"].as_str().unwrap();
    assert!(reason.contains("a-first"), "{reason}");
    fs_err::remove_dir_all(project.plugins().join("a-first")).unwrap();
    assert_eq!(dev.call("convert", ""), "second");
    let list = dev.ask("list");
    assert_eq!(tools(&list), ["convert"]);
    assert_eq!(list["tools"][0]["state"], "ready", "{list}");
    // And back.
    project.plugin("a-first", &convert("third"));
    dev.ask_until("call convert", |answer| text(answer) == "third");
}

/// g4.tls-unload: thread-locals with destructors are used on many threads of replaced versions; a new
/// version has its own, and neither the end of a thread nor of the process runs into old code.
#[test]
fn thread_locals_of_replaced_versions_hurt_nobody() {
    let project = Project::new();
    let source = |version: u32| {
        format!(
            r#"
            use std::cell::RefCell;

            struct Noisy(Vec<String>);

            impl Drop for Noisy {{
                fn drop(&mut self) {{
                    println!("dropped {{}}", self.0.len());
                }}
            }}

            thread_local! {{
                static KEPT: RefCell<Noisy> = RefCell::new(Noisy(vec!["v{version}".to_owned()]));
            }}

            /// Remembers on its thread, and on one that ends at once.
            #[tool]
            fn keep() -> String {{
                let remember = || KEPT.with_borrow_mut(|kept| {{
                    let first = kept.0[0].clone();
                    kept.0.push("more".into());
                    first
                }});
                let other = std::thread::spawn(remember).join().unwrap();
                let own = remember();
                assert_eq!(own, other);
                own
            }}
            "#
        )
    };
    project.plugin("locals", &source(0));
    let mut dev = project.dev();
    for version in 0..4 {
        project.source("locals", &source(version));
        for _ in 0..5 {
            assert_eq!(dev.call("keep", ""), format!("v{version}"));
        }
    }
    assert_eq!(dev.finish(), Some(0));
}
