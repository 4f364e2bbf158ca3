//! Ways out of a sandbox, tried by a real tool: each act succeeds in a process that is free, and in
//! the sandbox it is an error that the tool sees. What is outside stays as it was, and the next call
//! works.
//!
//! The tool is the crate in `escapes/plugin`, built once. Owns how an act is tried; which acts there
//! are and how they end stands in the files beside.

mod files;
mod grants;
mod limits;
mod network;
mod plugin;
mod processes;
mod site;
mod system;

use std::fmt::Write as _;

use agent_core::config::Isolation;
use rustix::process::getuid;

use self::site::Site;

/// One act, how it goes when the process is free, and how in the sandbox: `ok`, or what was the
/// error.
struct Attempt {
    act: &'static str,
    free: Free,
    confined: &'static str,
}

/// How an act goes in a process that is free.
#[derive(Clone, Copy)]
enum Free {
    /// So, whoever the user is.
    Always(&'static str),
    /// So for root. Another user may be refused by the system itself, so it is not compared then.
    Root(&'static str),
}

/// Everyone may do it outside.
const fn escape(act: &'static str, confined: &'static str) -> Attempt {
    Attempt {
        act,
        free: Free::Always("ok"),
        confined,
    }
}

/// Only root may do it outside.
const fn of_root(act: &'static str, confined: &'static str) -> Attempt {
    Attempt {
        act,
        free: Free::Root("ok"),
        confined,
    }
}

/// It can't be done for real without harm, so it is tried with arguments that the system finds fault
/// with, where it looks at them at all.
const fn faulty(act: &'static str, free: Free, confined: &'static str) -> Attempt {
    Attempt {
        act,
        free,
        confined,
    }
}

impl Attempt {
    /// What is expected of a free process.
    fn expected_free(&self) -> Option<&'static str> {
        match self.free {
            Free::Always(outcome) => Some(outcome),
            Free::Root(outcome) => getuid().is_root().then_some(outcome),
        }
    }
}

/// Tries all of them in a process of the plugin's own that is free, and in the sandbox.
async fn check(attempts: &[Attempt]) {
    let site = Site::new(Isolation::Worker, "").await;
    let expected = attempts
        .iter()
        .filter_map(|attempt| Some((attempt.act, attempt.expected_free()?)));
    try_all(&site, "in a free process", expected).await;

    let site = Site::new(Isolation::Sandbox, "").await;
    let before = site.outside();
    let expected = attempts
        .iter()
        .map(|attempt| (attempt.act, attempt.confined));
    try_all(&site, "in the sandbox", expected).await;
    assert_eq!(site.outside(), before, "what is outside");
    site.assert_alive().await;
}

/// Each act has to go as is said. What does not is shown all together.
async fn try_all(
    site: &Site,
    place: &str,
    expected: impl IntoIterator<Item = (&'static str, &'static str)>,
) {
    let mut wrong = String::new();
    for (act, expected) in expected {
        let outcome = site.attempt(act).await;
        if outcome != expected {
            writeln!(wrong, "{act}: {outcome}, expected {expected}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{place}:\n{wrong}");
}
