//! The rules of the house that no compiler checks: which rung of the ladder uses which, where
//! `unsafe` may stand, how files look, and how crates depend on each other.

mod crates;
mod security;
mod source;

use std::collections::BTreeMap;

use source::{Source, sources};

/// The ladder of the design: what these modules are, wherever else a module finds its place.
const DESIGN: [(u32, &[&str]); 12] = [
    (1, &["ids", "limits", "abort", "config"]),
    (2, &["tool"]),
    (3, &["plugin"]),
    (4, &["worker"]),
    (5, &["build"]),
    (6, &["registry"]),
    (7, &["call"]),
    (8, &["format"]),
    (9, &["mcp"]),
    (10, &["agent"]),
    (11, &["builtin"]),
    (12, &["error", "cli"]),
];

/// The ladder as the front page of `agent-core` shows it: the rung of each module.
struct Ladder(BTreeMap<String, u32>);

impl Ladder {
    fn read() -> Self {
        let front = core_sources()
            .into_iter()
            .find(|source| source.path == FRONT)
            .unwrap();
        // `lib.rs` and `main.rs` stand above all.
        let mut rungs = BTreeMap::from([("lib".to_owned(), 12)]);
        for line in front.text.lines() {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let [_, rung, modules, ..] = cells.as_slice() else {
                continue;
            };
            let Ok(rung) = rung.parse::<u32>() else {
                continue;
            };
            for module in modules.split(',') {
                let module = module
                    .trim()
                    .trim_start_matches("[`")
                    .trim_end_matches("`]")
                    .trim_start_matches("mod@");
                rungs.insert(module.to_owned(), rung);
            }
        }
        Self(rungs)
    }

    /// What is wrong with the uses in a file, one line each.
    fn climbs(&self, source: &Source) -> Vec<String> {
        let (path, own) = (&source.path, source.top_module());
        let Some(from) = self.0.get(&own) else {
            return vec![format!(
                "{path}: module `{own}` is not in the table of {FRONT}"
            )];
        };
        let climbs = source
            .uses()
            .into_iter()
            .filter_map(|(line, used)| match self.0.get(&used) {
                Some(to) if to > from => Some(format!(
                    "{path}:{line}: `{own}` (rung {from}) uses `{used}` (rung {to}); a module uses \
                 only lower rungs"
                )),
                // What else the root has are re-exports of modules, which are looked at themselves.
                _ => None,
            });
        climbs.collect()
    }
}

const FRONT: &str = "agent-core/src/lib.rs";

fn core_sources() -> Vec<Source> {
    let sources = sources()
        .into_iter()
        .filter(|source| source.path.starts_with("agent-core/src/"));
    let sources: Vec<Source> = sources.collect();
    assert!(sources.len() > 20, "{}", sources.len());
    sources
}

#[test]
fn no_module_uses_a_higher_rung() {
    let ladder = Ladder::read();
    let wrong: Vec<String> = core_sources()
        .iter()
        .flat_map(|source| ladder.climbs(source))
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// The test above must see every way to name a module.
#[test]
fn every_way_to_climb_is_seen() {
    let ladder = Ladder::read();
    let check = |path: &str, text: &str, expected: &[&str]| {
        let source = Source::new(&format!("agent-core/src/{path}"), text);
        assert_eq!(ladder.climbs(&source), expected, "{text}");
    };
    let climbs = |path: &str, line: u32, own: &str, from: u32, used: &str, to: u32| {
        format!(
            "agent-core/src/{path}:{line}: `{own}` (rung {from}) uses `{used}` (rung {to}); a \
             module uses only lower rungs"
        )
    };
    let call = climbs("tool.rs", 2, "tool", 2, "call", 7);
    check("tool.rs", "//! x\nuse crate::call::Caller;", &[&call]);
    check(
        "tool.rs",
        "//! x\nuse crate::{ids, call::{Caller, After}, event};",
        &[&call],
    );
    check(
        "tool.rs",
        "//! x\nfn f(caller: &crate::call::Caller) {}",
        &[&call],
    );
    check(
        "tool.rs",
        "//! x\nfn f() { println!(\"{}\", crate::call::X); }",
        &[&call],
    );
    check(
        "tool.rs",
        "//! x\npub(crate) use crate :: call as other;",
        &[&call],
    );
    check("tool.rs", "//! x\nuse super::call::Caller;", &[&call]);
    check("tool.rs", "//! x\nuse super::{event, call};", &[&call]);
    let deep = climbs("tool/schema.rs", 2, "tool", 2, "call", 7);
    check(
        "tool/schema.rs",
        "//! x\nuse super::super::call::Caller;",
        &[&deep],
    );
    check(
        "tool/schema.rs",
        "//! x\nmod tests { use super::super::super::call; }",
        &[&deep],
    );
    check(
        "tool/schema.rs",
        "//! x\nuse super::call::Caller; mod tests { use super::super::call; }",
        &[],
    );
    check(
        "call/prepare.rs",
        "//! x\nuse crate::{tool, registry::Table, plugin::Lease, call::Caller};",
        &[],
    );
    check(
        "tool.rs",
        "//! crate::call\n/* crate::call */ const X: &str = \"crate::call\";",
        &[],
    );
    let config = climbs("config/read.rs", 1, "config", 1, "event", 2);
    check("config/read.rs", "use crate::event::Event;", &[&config]);
    let stranger = "agent-core/src/stranger/x.rs: module `stranger` is not in the table of agent-core/src/lib.rs";
    check("stranger/x.rs", "", &[stranger]);
}

/// The front page shows every module that there is, where the design puts it.
#[test]
fn front_page_shows_the_ladder() {
    let Ladder(rungs) = Ladder::read();
    for (rung, modules) in DESIGN {
        for module in modules {
            assert!(
                rungs.get(*module).is_none_or(|shown| *shown == rung),
                "{module}"
            );
        }
    }
    let front = core_sources()
        .into_iter()
        .find(|source| source.path == FRONT)
        .unwrap();
    let mut declared = front
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    assert!(
        declared.all(|module| rungs.contains_key(module)),
        "{rungs:?}"
    );
}

/// Only where the border is: its types, and the loader on the host's side. What the macros emit
/// is allowed by what they emit it for.
#[test]
fn unsafe_stands_at_the_border_only() {
    let at_the_border = |path: &str| {
        path == "tool-sdk/src/abi.rs"
            || path.starts_with("tool-sdk/src/abi/")
            || path == "agent-core/src/plugin.rs"
            || path.starts_with("agent-core/src/plugin/")
    };
    let mut wrong = Vec::new();
    for source in sources()
        .iter()
        .filter(|source| !at_the_border(&source.path))
    {
        let emits = source.path.starts_with("tool-macros/src/");
        let ignored: &[&str] = if emits {
            &["quote", "quote_spanned", "parse_quote", "Token"]
        } else {
            &[]
        };
        let lines = source.words("unsafe", ignored);
        wrong.extend(
            lines
                .into_iter()
                .map(|line| format!("{}:{line}", source.path)),
        );
    }
    assert!(
        wrong.is_empty(),
        "`unsafe` outside the border:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn unsafe_is_found_where_it_stands() {
    let source = Source::new(
        "a.rs",
        "//! unsafe\nfn f() { unsafe { g() } }\n#[unsafe(no_mangle)]\nfn h() { quote! { unsafe fn x() {} } }\n\
         const S: &str = \"unsafe\";\nfn i() { other!(unsafe {}) }",
    );
    assert_eq!(source.words("unsafe", &["quote"]), [2, 3, 6]);
    assert_eq!(source.words("unsafe", &[]), [2, 3, 4, 6]);
}

/// Nobody but `mcp` knows the MCP library.
#[test]
fn rmcp_is_named_in_mcp_only() {
    for source in core_sources()
        .iter()
        .filter(|source| source.top_module() != "mcp")
    {
        assert_eq!(
            source.words("rmcp", &[]),
            Vec::<u32>::new(),
            "{}",
            source.path
        );
    }
}

/// Longest source file, in lines.
const MOST_LINES: usize = 500;

#[test]
fn files_are_short_and_say_what_they_own() {
    let mut wrong = Vec::new();
    for Source { path, text, .. } in sources() {
        let lines = text.lines().count();
        if lines > MOST_LINES {
            wrong.push(format!("{path}: {lines} lines, more than {MOST_LINES}"));
        }
        if !text.trim_start_matches('\u{feff}').starts_with("//!") {
            wrong.push(format!("{path}: does not begin with `//!`"));
        }
        if path.ends_with("/mod.rs") {
            wrong.push(format!(
                "{path}: `foo.rs` beside `foo/` is used, not `mod.rs`"
            ));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn nothing_is_left_to_do_and_no_test_is_left_out() {
    let mut wrong = Vec::new();
    for source in sources() {
        for (name, what) in [
            ("todo", "macro"),
            ("unimplemented", "macro"),
            ("ignore", "attribute"),
        ] {
            let lines = match what {
                "macro" => source.macros(name),
                _ => source.attributes(name),
            };
            wrong.extend(
                lines
                    .into_iter()
                    .map(|line| format!("{}:{line}: {name}", source.path)),
            );
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn what_is_left_to_do_is_found() {
    let source = Source::new(
        "a.rs",
        "//! todo!()\nfn f() { todo!() }\n#[ignore]\n#[test]\nfn g() {}\n#[ignore = \"slow\"]\n#[test]\nfn h() {}\n\
         #[cfg_attr(x, ignore)]\nfn i() { if ignore { todo() } }",
    );
    assert_eq!(source.macros("todo"), [2]);
    assert_eq!(source.attributes("ignore"), [3, 6, 9]);
}
