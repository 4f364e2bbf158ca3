//! How a crate's build is told: as events, and as a sentence.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use super::super::Inner;
use crate::build::{BuildError, BuildProgress, Builder, CrateManifest};
use crate::event::EventKind;
use crate::ids::PluginName;

/// Reports one crate's build as events, and passes its progress on.
pub(super) struct Reporter<'a> {
    registry: &'a Inner,
    name: &'a PluginName,
    progress: &'a dyn BuildProgress,
    begin: Instant,
    /// The hash of what is built, set when cargo starts: a look that finds everything as it was is no
    /// build.
    building: OnceLock<String>,
}

impl<'a> Reporter<'a> {
    pub(super) fn new(
        registry: &'a Inner,
        name: &'a PluginName,
        progress: &'a dyn BuildProgress,
    ) -> Self {
        Self {
            registry,
            name,
            progress,
            begin: Instant::now(),
            building: OnceLock::new(),
        }
    }

    /// The hash of what is built, once cargo has started.
    pub(super) fn content(&self) -> Option<&String> {
        self.building.get()
    }

    /// Waits until the crate's inputs are no longer what is being built.
    pub(super) async fn overtaken(&self, builder: &Arc<Builder>, manifest: &CrateManifest) {
        let mut events = self.registry.events_seen.subscribe();
        loop {
            if events.changed().await.is_err() {
                return std::future::pending().await;
            }
            // Before cargo starts the builder looks again by itself.
            let building = self.content();
            if building.is_some() && builder.inputs_hash(manifest).await.as_ref() != building {
                return;
            }
        }
    }

    /// The build ended: with a library, with an error, or because a newer one takes its place.
    pub(super) fn ended(&self, outcome: BuildOutcome<'_>) {
        let failed = !matches!(outcome, BuildOutcome::Built);
        if self.content().is_none() && !failed {
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

impl Drop for Reporter<'_> {
    fn drop(&mut self) {
        self.registry.building().remove(self.name);
    }
}

impl BuildProgress for Reporter<'_> {
    fn started(&self, package: &str, inputs_hash: &str) {
        self.building.get_or_init(|| inputs_hash.to_owned());
        self.registry.building().insert(self.name.clone());
        self.registry.events.emit(|| EventKind::BuildStart {
            plugin: self.name.clone(),
        });
        self.progress.started(package, inputs_hash);
    }

    fn compiling(&self, package: &str) {
        self.progress.compiling(package);
    }

    fn line(&self, line: &str) {
        // Another cargo has the target folder; it may be one that was left behind. Other locks are held
        // for moments.
        if line.trim_start().starts_with("Blocking waiting") && line.contains("directory") {
            tracing::warn!(
                "`{}`: another cargo holds the build folder; the build goes on when it ends",
                self.name
            );
        }
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
