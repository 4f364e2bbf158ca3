//! Edits that start no cargo, and edits that do.

use std::sync::{Arc, Mutex};

use agent_core::build::{Builder, BuilderOptions};
use agent_core::call::Caller;
use agent_core::event::{Emitter, Event, EventKind};
use agent_core::registry::{Registry, RegistryOptions, Scope};
use serde_json::json;
use toolsmith_tests::{Dev, Project, target, toolsmith};

use super::{Counted, answer, answering};

/// The newest source answers, whoever compiled it.
#[test]
fn only_edits_of_the_crates_own_sources_start_no_cargo() {
    let counted = Counted::new();
    let project = &counted.project;
    project.plugin("edited", &answering("\"one\""));
    let mut dev = counted.dev();
    assert_eq!((answer(&mut dev), counted.starts()), ("one".to_owned(), 1));
    project.source("edited", &answering("\"two\""));
    assert_eq!((answer(&mut dev), counted.starts()), ("two".to_owned(), 0));
    // A new module, and a file beside the sources.
    project.write("plugins/edited/words/word.txt", "three");
    project.write(
        "plugins/edited/src/word.rs",
        "pub const WORD: &str = include_str!(\"../words/word.txt\");",
    );
    let source = format!("mod word;\n{}", answering("word::WORD"));
    project.source("edited", &source);
    assert_eq!(
        (answer(&mut dev), counted.starts()),
        ("three".to_owned(), 0)
    );
    project.write("plugins/edited/words/word.txt", "four");
    assert_eq!((answer(&mut dev), counted.starts()), ("four".to_owned(), 0));
    // The manifest.
    let manifest = counted.path("plugins/edited/Cargo.toml");
    let text = fs_err::read_to_string(&manifest).unwrap();
    let text = format!("{text}\n[features]\ndefault = [\"loud\"]\nloud = []\n");
    fs_err::write(&manifest, text).unwrap();
    let loud = answering("if cfg!(feature = \"loud\") { \"LOUD\" } else { \"quiet\" }");
    project.source("edited", &loud);
    assert_eq!((answer(&mut dev), counted.starts()), ("LOUD".to_owned(), 1));
    project.source("edited", &answering("\"five\""));
    assert_eq!((answer(&mut dev), counted.starts()), ("five".to_owned(), 0));
    assert_eq!(dev.finish(), Some(0));
}

/// Another value of a variable that the crate reads is cargo's, another variable is not.
#[test]
fn variables_that_the_crate_reads_are_followed_from_start_to_start() {
    let counted = Counted::new();
    let source = answering("option_env!(\"TOOLSMITH_TEST_WORD\").unwrap_or(\"none\")");
    counted.project.plugin("reading", &answering("\"first\""));
    let dev = |word: &str| {
        let mut command = counted.command(&["dev", "--json"]);
        command.env("TOOLSMITH_TEST_WORD", word);
        Dev::start(command)
    };
    assert_eq!(answer(&mut dev("one")), "first");
    counted.starts();
    counted.project.source("reading", &source);
    assert_eq!(
        (answer(&mut dev("one")), counted.starts()),
        ("one".to_owned(), 0)
    );
    assert_eq!(
        (answer(&mut dev("two")), counted.starts()),
        ("two".to_owned(), 1)
    );
    assert_eq!(
        (answer(&mut dev("two")), counted.starts()),
        ("two".to_owned(), 0)
    );
}

/// Places of panics are those of the source that runs, also without cargo.
#[test]
fn a_panic_after_an_edit_names_its_line() {
    let counted = Counted::new();
    let project = &counted.project;
    project.plugin("panicking", &answering("1"));
    let mut dev = counted.dev();
    answer(&mut dev);
    counted.starts();
    project.source(
        "panicking",
        "/// Panics.\n#[tool]\nfn answer() -> String {\n    panic!(\"here\")\n}\n",
    );
    let result = dev.ask("call answer {}");
    assert_eq!(result["error"]["kind"], "panic");
    let text = result.to_string();
    assert!(text.contains("src/lib.rs:5"), "{text}");
    assert_eq!(counted.starts(), 0);
}

/// A host that counts what it is told of builds.
async fn host(project: &Project) -> (Caller, Arc<Mutex<usize>>) {
    let begun = Arc::new(Mutex::new(0));
    let counter = Arc::clone(&begun);
    let events = Emitter::new(vec![Box::new(move |event: &Arc<Event>| {
        if matches!(event.kind, EventKind::BuildStart { .. }) {
            *counter.lock().unwrap() += 1;
        }
    })]);
    let state = project.path().join(".toolsmith");
    let trusted = target().join("trusted");
    let builder = BuilderOptions::new(project.plugins(), state.clone(), trusted);
    let builder = Builder::new(builder).unwrap();
    let mut options = RegistryOptions::new(project.plugins(), state);
    options.helper = Some(toolsmith());
    let registry = Registry::open(options, Some(builder), events.clone()).unwrap();
    registry.refresh(Scope::All, &()).await.unwrap();
    (Caller::new(registry, events), begun)
}

/// An undone edit, another branch and back: the library of then serves again, and nothing is built.
#[tokio::test(flavor = "multi_thread")]
async fn an_undone_edit_builds_nothing() {
    let project = Project::new();
    let module = "pub const WORD: &str = \"two\";";
    project.plugin("undone", &answering("\"one\""));
    let (caller, begun) = host(&project).await;
    let expect = async |word: &str, builds: usize| {
        caller.registry().refresh(Scope::All, &()).await.unwrap();
        let result = toolsmith_tests::call(&caller, "answer", json!({})).await;
        assert_eq!(result.text(), word);
        assert_eq!(
            std::mem::take(&mut *begun.lock().unwrap()),
            builds,
            "{word}"
        );
    };
    expect("one", 1).await;
    for builds in [1, 0, 0] {
        project.write("plugins/undone/src/word.rs", module);
        project.source("undone", &format!("mod word;\n{}", answering("word::WORD")));
        expect("two", builds).await;
        expect("two", 0).await;
        fs_err::remove_file(project.path().join("plugins/undone/src/word.rs")).unwrap();
        project.source("undone", &answering("\"one\""));
        expect("one", 0).await;
        expect("one", 0).await;
    }
    project.source("undone", &answering("\"three\""));
    expect("three", 1).await;
    // A store that was emptied costs a build.
    fs_err::remove_dir_all(project.path().join(".toolsmith/store")).unwrap();
    fs_err::create_dir(project.path().join(".toolsmith/store")).unwrap();
    project.source("undone", &answering("\"one\""));
    expect("one", 1).await;
}
