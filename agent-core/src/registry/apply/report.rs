//! How a crate's build is told: as events, and as a sentence.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::super::Inner;
use crate::build::{BuildError, BuildProgress};
use crate::event::EventKind;
use crate::ids::PluginName;

/// Reports one crate's build as events, and passes its progress on.
pub(super) struct Reporter<'a> {
    registry: &'a Inner,
    name: &'a PluginName,
    progress: &'a dyn BuildProgress,
    begin: Instant,
    /// Set when cargo starts: a look that finds everything as it was is no build.
    started: AtomicBool,
}

impl<'a> Reporter<'a> {
    pub(super) fn new(
        registry: &'a Inner,
        name: &'a PluginName,
        progress: &'a dyn BuildProgress,
    ) -> Self {
        let (begin, started) = (Instant::now(), AtomicBool::new(false));
        Self {
            registry,
            name,
            progress,
            begin,
            started,
        }
    }

    /// The build ended: with a library, with an error, or because a newer one takes its place.
    pub(super) fn ended(&self, outcome: BuildOutcome<'_>) {
        let failed = !matches!(outcome, BuildOutcome::Built);
        if !self.started.load(Ordering::Relaxed) && !failed {
            return;
        }
        self.registry.events.emit(|| EventKind::BuildEnd {
            plugin: self.name.clone(),
            ok: !failed,
            duration_ms: u64::try_from(self.begin.elapsed().as_millis()).unwrap_or(u64::MAX),
            diagnostics: match outcome {
                BuildOutcome::Failed(error) => Some(full_text(error)),
                BuildOutcome::Built | BuildOutcome::Superseded => None,
            },
        });
    }
}

/// How a build ended.
#[derive(Clone, Copy)]
pub(super) enum BuildOutcome<'a> {
    Built,
    Failed(&'a BuildError),
    Superseded,
}

impl BuildProgress for Reporter<'_> {
    fn started(&self, package: &str) {
        self.started.store(true, Ordering::Relaxed);
        self.registry.events.emit(|| EventKind::BuildStart {
            plugin: self.name.clone(),
        });
        self.progress.started(package);
    }

    fn compiling(&self, package: &str) {
        self.progress.compiling(package);
    }

    fn line(&self, line: &str) {
        self.progress.line(line);
    }
}

/// The first line that says what is wrong; the whole output is in the event.
pub(super) fn short_reason(error: &BuildError) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or_default().to_owned()
}

/// What the compiler or cargo said, else the error itself; then what to do.
fn full_text(error: &BuildError) -> String {
    let mut parts: Vec<String> = error.details().into_iter().map(str::to_owned).collect();
    if parts.is_empty() {
        parts.push(error.to_string());
    }
    parts.extend(error.hint());
    parts.join("\n")
}
