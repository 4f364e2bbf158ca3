//! Shows a build's progress: one line on a terminal, nothing elsewhere.

use std::io::Write;
use std::sync::{Mutex, PoisonError};

use crate::build::BuildProgress;

/// One line on stderr that is written over.
#[derive(Debug)]
pub(super) struct Bar {
    shown: bool,
    /// A mutex, since cargo's lines arrive on another thread.
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    package: String,
    compiled: usize,
    visible: bool,
}

impl Bar {
    /// A bar, or nothing where nobody would see it.
    pub(super) fn new(shown: bool) -> Self {
        Self {
            shown,
            state: Mutex::default(),
        }
    }

    /// Takes the line away.
    pub(super) fn clear(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::take(&mut state.visible) {
            write("\r\x1b[K");
        }
    }

    fn draw(&self, change: impl FnOnce(&mut State) -> String) {
        if !self.shown {
            return;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let text = change(&mut state);
        state.visible = true;
        write(&format!("\r\x1b[K{text}"));
    }
}

fn write(text: &str) {
    let mut stderr = std::io::stderr().lock();
    // A terminal that went away shows nothing.
    drop(
        stderr
            .write_all(text.as_bytes())
            .and_then(|()| stderr.flush()),
    );
}

impl BuildProgress for Bar {
    fn started(&self, package: &str, _: &str) {
        self.draw(|state| {
            *state = State {
                package: package.to_owned(),
                compiled: 0,
                visible: true,
            };
            format!("building {package} …")
        });
    }

    fn compiling(&self, crate_name: &str) {
        self.draw(|state| {
            state.compiled += 1;
            format!(
                "building {}: {} crates, now {crate_name}",
                state.package, state.compiled
            )
        });
    }

    fn line(&self, line: &str) {
        if self.shown && line.contains("Blocking") {
            self.draw(|_| line.to_owned());
        }
    }
}

/// For builds that nobody waits for at a prompt.
#[derive(Debug)]
pub(super) struct Quiet;

impl BuildProgress for Quiet {}
