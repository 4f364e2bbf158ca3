//! Which names a plugin crate may have.
//!
//! Owns the rules and the suggestions. A name becomes a package, a folder, a library file and the
//! function of the example tool, and must be fit for all of them.

use super::{LOCK_ROOT, NewCrateError, package_name};
use crate::limits::NAME_LENGTH;

/// Words of the language, those of all editions, and those that are kept for later.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
    "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
    "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "union", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Crates that come with the compiler.
const COMPILER: &[&str] = &["alloc", "core", "proc_macro", "std", "test"];

/// Files that Windows takes for devices.
const DEVICES: &[&str] = &["aux", "con", "nul", "prn"];

/// Our own crates.
const OURS: &[&str] = &["agent_core", "tool_macros", "tool_sdk", "toolsmith"];

/// Folders that cargo makes beside the libraries it builds.
const CARGO: &[&str] = &["build", "deps", "examples", "incremental"];

/// Refuses a name that is not usable, with one that is. `lock` is the lock file that the crate
/// will have: the name of a crate in it would be ambiguous there.
pub(super) fn check(name: &str, lock: &str) -> Result<(), NewCrateError> {
    let Some(reason) = objection(name, lock) else {
        return Ok(());
    };
    Err(NewCrateError::Name {
        name: name.to_owned(),
        reason,
        suggestion: suggestion(name, lock),
    })
}

fn objection(name: &str, lock: &str) -> Option<&'static str> {
    let is_word = |word: &str| {
        !word.is_empty()
            && word
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    if name.len() > NAME_LENGTH {
        return Some("it is longer than 64 letters");
    }
    if !name.starts_with(|first: char| first.is_ascii_lowercase()) || !name.split('-').all(is_word)
    {
        return Some("it must be lower-case words joined by `-`, beginning with a letter");
    }
    let plain = name.replace('-', "_");
    let is_one_of = |words: &[&str]| words.contains(&plain.as_str());
    let is_port = ["com", "lpt"].iter().any(|port| {
        let digit = plain.strip_prefix(port);
        digit.is_some_and(|digit| {
            digit.len() == 1 && digit.bytes().all(|byte| byte.is_ascii_digit())
        })
    });
    if is_one_of(KEYWORDS) {
        Some("it is a word of the language")
    } else if is_one_of(COMPILER) {
        Some("a crate of the compiler has this name")
    } else if is_one_of(OURS) || name == LOCK_ROOT {
        Some("a crate of toolsmith has this name")
    } else if is_one_of(CARGO) {
        Some("cargo makes a folder of this name")
    } else if is_one_of(DEVICES) || is_port {
        Some("Windows takes it for a device")
    } else if lock
        .lines()
        .filter_map(package_name)
        .any(|other| other.replace('-', "_") == plain)
    {
        Some("a crate that every plugin depends on has this name")
    } else {
        None
    }
}

/// The nearest usable name.
fn suggestion(name: &str, lock: &str) -> String {
    let words = kebab_case(name);
    let fits = |name: &str| objection(name, lock).is_none();
    if fits(&words) {
        return words;
    }
    let words = if words.is_empty() {
        "new".to_owned()
    } else {
        words
    };
    let longer = format!("tool-{words}");
    let shorter = longer
        .get(..NAME_LENGTH)
        .unwrap_or(&longer)
        .trim_end_matches('-')
        .to_owned();
    if fits(&shorter) {
        shorter
    } else {
        "my-tool".to_owned()
    }
}

/// Words in lower case joined by `-`, broken at camel humps and at everything else.
fn kebab_case(name: &str) -> String {
    let mut words = String::new();
    let mut after_small = false;
    for letter in name.chars() {
        let is_plain = letter.is_ascii_alphanumeric();
        if (!is_plain || (letter.is_ascii_uppercase() && after_small)) && !words.ends_with('-') {
            words.push('-');
        }
        if is_plain {
            words.push(letter.to_ascii_lowercase());
        }
        after_small = letter.is_ascii_lowercase() || letter.is_ascii_digit();
    }
    words.trim_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_are_good() {
        for name in [
            "a",
            "get-time",
            "a1",
            "x86-64",
            "word-count-2",
            "tests",
            "com10",
            "tool",
        ] {
            assert!(check(name, "").is_ok(), "{name}");
        }
    }

    #[test]
    fn other_names_are_refused_with_one_that_would_do() {
        let words = "it must be lower-case words joined by `-`, beginning with a letter";
        let long = "x".repeat(65);
        for (name, reason, suggestion) in [
            ("", words, "tool-new"),
            ("GetTime", words, "get-time"),
            ("get_time", words, "get-time"),
            ("get--time", words, "get-time"),
            ("-a", words, "a"),
            ("../x", words, "x"),
            ("a/b", words, "a-b"),
            ("2fast", words, "tool-2fast"),
            ("größe", words, "gr-e"),
            ("fn", "it is a word of the language", "tool-fn"),
            ("Self", words, "tool-self"),
            ("std", "a crate of the compiler has this name", "tool-std"),
            (
                "proc-macro",
                "a crate of the compiler has this name",
                "tool-proc-macro",
            ),
            ("con", "Windows takes it for a device", "tool-con"),
            ("lpt1", "Windows takes it for a device", "tool-lpt1"),
            (
                "tool-sdk",
                "a crate of toolsmith has this name",
                "tool-tool-sdk",
            ),
            (
                "template",
                "a crate of toolsmith has this name",
                "tool-template",
            ),
            ("deps", "cargo makes a folder of this name", "tool-deps"),
            (
                "serde-json",
                "a crate that every plugin depends on has this name",
                "tool-serde-json",
            ),
            (
                &long,
                "it is longer than 64 letters",
                &format!("tool-{}", "x".repeat(59)),
            ),
        ] {
            let lock = "[[package]]\nname = \"serde_json\"\n";
            match check(name, lock) {
                Err(NewCrateError::Name {
                    name: named,
                    reason: found,
                    suggestion: other,
                }) => {
                    assert_eq!(
                        (named.as_str(), found, other.as_str()),
                        (name, reason, suggestion)
                    );
                }
                other => panic!("{name}: {other:?}"),
            }
        }
    }
}
