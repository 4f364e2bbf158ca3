//! Bytes that are cut, changed, foreign or random: judged without a panic, and what is accepted is
//! mapped in a helper process only.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use agent_core::ids::PluginName;
use agent_core::plugin::judge::judge;
use agent_core::plugin::{LibrarySource, Store};
use agent_core::worker::{Candidate, Helpers, Prober};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, TestRunner};
use toolsmith_tests::{Project, exchanged, toolsmith};

use super::fixture::{Host, assert_state, compiled, libraries, stamped};

fn is_long() -> bool {
    std::env::var_os("TOOLSMITH_LONG").is_some()
}

/// A number of the file's header or of its tables.
fn number(bytes: &[u8], at: usize, size: usize) -> usize {
    let mut wide = [0; 8];
    wide[..size].copy_from_slice(&bytes[at..at + size]);
    usize::try_from(u64::from_le_bytes(wide)).unwrap()
}

/// The places of the entries of the tables of segments and of sections, with where each says that
/// its content begins and how long that is.
fn tables(bytes: &[u8]) -> [Vec<(usize, usize, usize)>; 2] {
    let entries = |table: usize, size: usize, count: usize, offset: usize, length: usize| {
        let (start, size, count) = (
            number(bytes, table, 8),
            number(bytes, size, 2),
            number(bytes, count, 2),
        );
        let places = (0..count).map(|index| start + index * size);
        let entries = places.map(|at| {
            (
                at,
                number(bytes, at + offset, 8),
                number(bytes, at + length, 8),
            )
        });
        entries.collect()
    };
    [entries(32, 54, 56, 8, 32), entries(40, 58, 60, 24, 32)]
}

/// Where headers, segments, sections and the entries of their tables begin and end.
fn boundaries(bytes: &[u8]) -> BTreeSet<usize> {
    let mut all = BTreeSet::from([0, 4, 16, 64, bytes.len()]);
    for (size, entries) in [56, 64].into_iter().zip(tables(bytes)) {
        for (at, offset, length) in entries {
            all.extend([at, at + size, offset, offset + length]);
        }
    }
    all.into_iter().filter(|at| *at <= bytes.len()).collect()
}

#[track_caller]
fn assert_refused(bytes: &[u8], what: &str) {
    let Err(error) = judge(bytes) else {
        panic!("accepted: {what}");
    };
    let reason = error.to_string();
    assert!(!reason.contains(char::is_control), "{what}: {reason}");
}

/// A library is refused at every length but its own.
#[test]
fn cut_libraries_are_refused_at_every_boundary() {
    let good = &libraries().good;
    judge(good).unwrap();
    let boundaries = boundaries(good);
    assert!(boundaries.len() > 60, "{}", boundaries.len());
    let near = boundaries
        .iter()
        .flat_map(|at| [at.saturating_sub(1), *at, at + 1]);
    let mut lengths: BTreeSet<usize> = near.filter(|length| *length < good.len()).collect();
    if is_long() {
        lengths.extend(0..good.len());
    } else {
        let mut runner = TestRunner::default();
        for _ in 0..64 {
            let length = (0..good.len()).new_tree(&mut runner).unwrap().current();
            lengths.insert(length);
        }
    }
    for length in lengths {
        assert_refused(&good[..length], &format!("{length} of {}", good.len()));
    }
    judge(&[good, &b"and more"[..]].concat()).unwrap();
}

#[test]
fn random_bytes_are_refused() {
    let config = Config::with_cases(if is_long() { 100_000 } else { 500 });
    let random = proptest::collection::vec(any::<u8>(), 0..600);
    let head = libraries().good[..64].to_vec();
    TestRunner::new(config)
        .run(&(random, 0..head.len()), |(random, kept)| {
            assert_refused(&random, "random");
            assert_refused(&[&head[..kept], &random].concat(), "a head and random");
            Ok(())
        })
        .unwrap();
}

/// Where changes of few bytes may do most: the first page and the tables.
fn places(good: &[u8]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..4096).collect();
    for (size, entries) in [56, 64].into_iter().zip(tables(good)) {
        places.extend(entries.iter().flat_map(|(at, ..)| *at..at + size));
    }
    places
}

type Changes = Vec<(prop::sample::Index, u8)>;

fn changed(bytes: &mut [u8], places: &[usize], changes: &Changes) {
    for (index, value) in changes {
        bytes[*index.get(places)] = *value;
    }
}

#[test]
fn changed_headers_make_no_judge_panic_and_are_mapped_in_a_helper_only() {
    let good = &libraries().good;
    let places = places(good);
    let bytes = RefCell::new(good.clone());
    let accepted: RefCell<Vec<Changes>> = RefCell::default();
    let value = prop_oneof![any::<u8>(), Just(0), Just(0xff), Just(1), Just(0x7f)];
    let change = (any::<prop::sample::Index>(), value);
    let config = Config {
        cases: if is_long() { 20_000 } else { 1000 },
        failure_persistence: None,
        ..Config::default()
    };
    TestRunner::new(config)
        .run(&proptest::collection::vec(change, 1..8), |changes| {
            let mut bytes = bytes.borrow_mut();
            // A case before this one may have ended early.
            for place in &places {
                bytes[*place] = good[*place];
            }
            changed(&mut bytes, &places, &changes);
            match judge(&bytes) {
                Ok(_) => accepted.borrow_mut().push(changes),
                Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
            }
            Ok(())
        })
        .unwrap();
    let accepted = accepted.into_inner();
    let most = if is_long() { 300 } else { 12 };
    assert!(accepted.len() >= 12, "{}", accepted.len());
    let libraries = accepted.iter().take(most).map(|changes| {
        let mut bytes = good.clone();
        changed(&mut bytes, &places, changes);
        bytes
    });
    try_out(libraries);
}

/// Has helper processes map libraries. This process must survive that, and so must a whole one.
fn try_out(libraries: impl Iterator<Item = Vec<u8>>) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let candidate = |name: String, bytes: &[u8]| {
        let path: PathBuf = folder.path().join(format!("{name}.so"));
        fs_err::write(&path, bytes).unwrap();
        let package = name.clone();
        Candidate {
            plugin: PluginName::new(name),
            restriction: None,
            library: store
                .admit(&LibrarySource {
                    path,
                    package: package.clone(),
                })
                .unwrap(),
            package,
        }
    };
    let mut candidates: Vec<Candidate> = libraries
        .enumerate()
        .map(|(number, bytes)| candidate(format!("changed{number}"), &bytes))
        .collect();
    candidates.push(candidate(
        "whole".to_owned(),
        &super::fixture::libraries().good,
    ));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let outcomes = runtime.block_on(async {
        let prober = Prober::new(Helpers::new(Some(&toolsmith()), std::env::temp_dir()));
        prober.probe(&candidates).await
    });
    assert_eq!(outcomes.len(), candidates.len());
    let verdicts: Vec<_> = outcomes.into_iter().map(Result::unwrap).collect();
    verdicts.last().unwrap().introduced().unwrap();
    for verdict in verdicts {
        if let Err(error) = verdict.introduced() {
            assert!(!error.to_string().contains(char::is_control), "{error}");
        }
    }
}

/// The bytes with one of them changed.
fn with(bytes: &[u8], at: usize, value: u8) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at] = value;
    bytes
}

/// A name, the bytes, and what the reason holds.
type Case = (&'static str, Vec<u8>, &'static [&'static str]);

/// What is refused by its bytes.
fn refused_unmapped(good: &[u8]) -> Vec<Case> {
    let arm = if cfg!(target_arch = "aarch64") {
        62
    } else {
        183
    };
    let stamp = exchanged(good, b"stamp\nabi=1\nsdk=0.1", b"stamp\nabi=9\nsdk=\x1b[3");
    let no_stamp = exchanged(good, b"__toolsmith_stamp", b"__toolsmith_stomp");
    vec![
        (
            "cut-head",
            good[..40].to_vec(),
            &["incomplete", "file header", "64", "40"],
        ),
        (
            "cut-page",
            good[..4096].to_vec(),
            &["incomplete", "ends at byte", "4096"],
        ),
        ("cut-last", good[..good.len() - 1].to_vec(), &["incomplete"]),
        (
            "machine",
            with(good, 18, arm),
            &["ELF machine", "expected ", std::env::consts::ARCH],
        ),
        ("class", with(good, 4, 1), &["32-bit", "expected a 64-bit"]),
        (
            "order",
            with(good, 5, 2),
            &["big-endian", "expected a little-endian"],
        ),
        ("system", with(good, 7, 9), &["FREEBSD", "expected linux"]),
        ("object", with(good, 16, 1), &["object file", "cdylib"]),
        ("exec", with(good, 16, 2), &["a program", "cdylib"]),
        ("core", with(good, 16, 4), &["crashed"]),
        (
            "macho",
            b"\xcf\xfa\xed\xfe\x07\0\0\x01".to_vec(),
            &["Mach-O"],
        ),
        ("windows", b"MZ\x90\0\x03\0\0\0".to_vec(), &["Windows"]),
        ("archive", b"!<arch>\nlib.o/  ".to_vec(), &["archive"]),
        ("text", "Grüße, Welt\n".into(), &["it is a text"]),
        ("zeros", vec![0; 9000], &["zeros"]),
        (
            "revision",
            stamp,
            &["abi 9", "\u{fffd}[3", "expected abi 1"],
        ),
        ("nostamp", no_stamp, &["no stamp", "__toolsmith_stamp"]),
    ]
}

/// What has a stamp, and is refused by the loader or by what it says of itself.
fn refused_mapped(good: &[u8], project: &Project) -> Vec<Case> {
    let (marker, other) = (
        b"__toolsmith_tool__fine_slow",
        b"__toolsmith_tool__fine_sloe",
    );
    let lost = exchanged(good, marker, other);
    let tls = "static __thread char block[1 << 20] __attribute__((tls_model(\"initial-exec\")));\n\
               char *touch(void) { return block; }";
    let undefined =
        "extern int no_such_function(void);\nint call(void) { return no_such_function(); }";
    vec![
        ("lost", lost, &["fine_sloe", "fine_slow", "dropped"]),
        (
            "tls",
            stamped(project, tls),
            &["could not be loaded", "static TLS", "initial-exec"],
        ),
        (
            "undefined",
            stamped(project, undefined),
            &["undefined symbol: no_such_function"],
        ),
        (
            "nomodule",
            stamped(project, "int nothing;"),
            &["could not be loaded", "undefined symbol"],
        ),
    ]
}

/// g4.abi and others, through a host, with all of them beside the good one in the first scan.
#[test]
fn foreign_and_changed_libraries_are_refused_by_name() {
    let host = Host::new();
    let good = &libraries().good;
    let mut cases = refused_unmapped(good);
    cases.extend(refused_mapped(good, &host.project));
    let foreign = compiled(&host.project, "int answer(void) { return 42; }");
    cases.push(("foreign", foreign, &["no stamp"]));
    for (name, bytes, _) in &cases {
        host.put(name, bytes);
    }
    let mut dev = host.dev();
    assert_eq!(dev.call("fine", ""), "fine");
    let list = dev.ask("list");
    assert_state(&list, "good", "live", &[]);
    for (name, _, parts) in &cases {
        assert_state(&list, name, "failed", parts);
    }
    assert_eq!(dev.finish(), Some(0));
    host.assert_nothing_left(Duration::from_secs(5));
}

/// Where the root module should be lies something else.
#[test]
fn a_root_module_of_garbage_is_refused() {
    let host = Host::new();
    let name = abi_stable_name();
    let garbage = format!("const char {name}[4096] = \"garbage\";");
    host.put("garbage", &stamped(&host.project, &garbage));
    let list = host.list();
    let state = list["plugins"][0]["state"].as_str().unwrap();
    assert!(["failed", "quarantined"].contains(&state), "{list}");
    assert_state(&list, "garbage", state, &["root module"]);
    assert_state(&list, "good", "live", &[]);
}

/// The symbol by which the host finds a root module: what a library without one is told to lack.
fn abi_stable_name() -> String {
    let host = Host::new();
    host.put("nomodule", &stamped(&host.project, "int nothing;"));
    let list = host.list();
    let reason = super::fixture::of(&list, "nomodule")["reason"].clone();
    let (_, name) = reason.as_str().unwrap().rsplit_once(' ').unwrap();
    name.to_owned()
}

/// Two tools of one name, as no compiler would let them pass.
#[test]
fn two_tools_of_one_name_are_told_as_that() {
    let host = Host::new();
    let twins = exchanged(&libraries().twins, b"twin_tool_b", b"twin_tool_a");
    host.put("twins", &twins);
    let list = host.list();
    assert_state(&list, "twins", "failed", &["twin_tool_a"]);
    assert_state(&list, "good", "live", &[]);
}
