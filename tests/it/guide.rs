//! The guide for people who use the agent says what is so: its events are those of the snapshot, and
//! it names every flag of the chat and every key of its sections.
//!
//! Its code is compiled with the documentation tests.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;
use toolsmith_tests::{repository, toolsmith};

fn guide() -> String {
    fs_err::read_to_string(repository().join("docs/agents.md")).unwrap()
}

fn kind(line: &str) -> String {
    let event: Value = serde_json::from_str(line).unwrap();
    event["type"].as_str().unwrap().to_owned()
}

/// Every event is shown once, as programs read it.
#[test]
fn guide_shows_every_event_as_it_is() {
    let snapshot = repository().join("tests/it/snapshots/it__contract__events.snap");
    let snapshot = fs_err::read_to_string(snapshot).unwrap();
    let is_event = |line: &&str| line.starts_with("{\"type\":");
    let real: Vec<&str> = snapshot.lines().filter(is_event).collect();
    let guide = guide();
    let shown: Vec<&str> = guide.lines().filter(is_event).collect();
    for line in &shown {
        assert!(real.contains(line), "{line} is not in the snapshot");
    }
    let kinds = |lines: &[&str]| lines.iter().map(|line| kind(line)).collect::<BTreeSet<_>>();
    assert_eq!(kinds(&shown), kinds(&real));
    assert_eq!(shown.len(), kinds(&shown).len(), "one line of each");
    for kind in kinds(&real) {
        let is_row = |line: &str| line.starts_with("| `") && line.contains(&format!("`{kind}`"));
        assert!(guide.lines().any(is_row), "`{kind}` has no row");
    }
}

/// A flag that is new has its row, and one that is gone has none.
#[test]
fn guide_lists_the_flags_of_chat() {
    let help = Command::new(toolsmith()).args(["chat", "--help"]).output();
    let help = String::from_utf8(help.unwrap().stdout).unwrap();
    let guide = guide();
    let (_, chat) = guide.split_once("\n## `toolsmith chat`").unwrap();
    let (chat, _) = chat.split_once("\n## ").unwrap();
    let flags = |text: &str| -> BTreeSet<String> {
        let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-');
        let is_flag = |word: &&str| {
            let name = word.strip_prefix("--").unwrap_or_default();
            name.starts_with(|first: char| first.is_ascii_alphabetic())
        };
        words.filter(is_flag).map(str::to_owned).collect()
    };
    // Help and version are of no interest to a reader of a guide.
    let mut real = flags(&help);
    real.remove("--help");
    real.remove("--version");
    assert!(real.len() > 10, "{help}");
    assert_eq!(flags(chat), real);
}
