//! What a run has said: the library, the compiler's messages, cargo's last words.
//!
//! Owns the meaning of cargo's output. Does not own the process that it comes from.

use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use cargo_metadata::{Artifact, Message, TargetKind};
use tokio::process::Child;

use super::process::each_line;
use super::{Finished, Run};
use crate::build::BuildProgress;
use crate::build::diagnostics::{Diagnostic, Level};
use crate::build::error::BuildError;
use crate::build::manifest::CrateManifest;
use crate::limits::{BUILD_OUTPUT_GRACE, BUILD_OUTPUT_LINES};

/// What a run has said.
pub(super) struct Output<'a> {
    manifest: &'a CrateManifest,
    artifacts: Vec<Artifact>,
    diagnostics: Vec<Diagnostic>,
    warnings: usize,
    pub(super) last: Vec<String>,
}

/// The part of it that comes as messages.
struct Messages<'a> {
    manifest: &'a CrateManifest,
    artifacts: &'a mut Vec<Artifact>,
    diagnostics: &'a mut Vec<Diagnostic>,
    warnings: &'a mut usize,
}

impl Messages<'_> {
    /// Takes in a line of cargo's standard output, which build tools may write to as well.
    fn take(&mut self, line: &str) {
        if !line.starts_with('{') {
            return;
        }
        match serde_json::from_str(line) {
            Ok(Message::CompilerArtifact(artifact)) if self.is_ours(&artifact) => {
                self.artifacts.push(artifact);
            }
            Ok(Message::CompilerMessage(message)) => {
                let ours = message.target.src_path.as_std_path() == self.manifest.source;
                match Diagnostic::from_message(message.message) {
                    Some(diagnostic) if diagnostic.level == Level::Error => {
                        self.diagnostics.push(diagnostic);
                    }
                    Some(diagnostic) if diagnostic.level == Level::Warning && ours => {
                        *self.warnings += 1;
                    }
                    _ => {}
                }
            }
            // Other messages are of no use here, and later versions of cargo may have more.
            _ => {}
        }
    }

    fn is_ours(&self, artifact: &Artifact) -> bool {
        artifact.target.kind.contains(&TargetKind::CDyLib)
            && is_same_file(artifact.manifest_path.as_std_path(), &self.manifest.file())
    }
}

fn is_same_file(left: &Path, right: &Path) -> bool {
    left == right
        || matches!((left.canonicalize(), right.canonicalize()), (Ok(left), Ok(right)) if left == right)
}

impl<'a> Output<'a> {
    pub(super) fn new(manifest: &'a CrateManifest) -> Self {
        Self {
            manifest,
            artifacts: Vec::new(),
            diagnostics: Vec::new(),
            warnings: 0,
            last: Vec::new(),
        }
    }

    /// Reads what cargo says until it has ended.
    pub(super) async fn follow(
        &mut self,
        child: &mut Child,
        progress: &dyn BuildProgress,
    ) -> std::io::Result<ExitStatus> {
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let Self {
            manifest,
            artifacts,
            diagnostics,
            warnings,
            last,
        } = self;
        let mut messages = Messages {
            manifest,
            artifacts,
            diagnostics,
            warnings,
        };
        let reading = async {
            tokio::join!(
                each_line(stdout, |line| messages.take(line)),
                each_line(stderr, |line| {
                    if let Some(name) = compiled_crate(line) {
                        progress.compiling(name);
                    }
                    progress.line(line);
                    remember(last, line);
                }),
            )
        };
        tokio::pin!(reading);
        tokio::select! {
            biased;
            _ = &mut reading => child.wait().await,
            status = child.wait() => {
                // A process that a build script left behind may hold the pipes open for ever.
                // What cargo has said is in them already.
                _ = tokio::time::timeout(BUILD_OUTPUT_GRACE, &mut reading).await;
                status
            }
        }
    }

    pub(super) fn finished(self, package: &str) -> Result<Finished, BuildError> {
        let expected = std::env::consts::DLL_SUFFIX;
        let is_library = |file: &PathBuf| file.to_string_lossy().ends_with(expected);
        let mut found = Vec::new();
        for artifact in self.artifacts {
            let files: Vec<PathBuf> = artifact
                .filenames
                .into_iter()
                .map(cargo_metadata::camino::Utf8PathBuf::into_std_path_buf)
                .collect();
            if let Some(library) = files.iter().find(|file| is_library(file)) {
                return Ok(Finished {
                    library: library.clone(),
                    fresh: artifact.fresh,
                    source: artifact.target.src_path.into_std_path_buf(),
                    warnings: self.warnings,
                });
            }
            found.extend(files);
        }
        Err(BuildError::NoArtifact {
            package: package.to_owned(),
            expected,
            found,
        })
    }

    pub(super) fn failure(self, run: &Run<'_>, status: ExitStatus) -> BuildError {
        let package = run.manifest.package.clone();
        if !self.diagnostics.is_empty() {
            return BuildError::Compile {
                package,
                errors: self.diagnostics,
                warnings: self.warnings,
                inputs_hash: run.inputs_hash.to_owned(),
            };
        }
        let complaint = self
            .last
            .iter()
            .find_map(|line| line.strip_prefix("error: "));
        let reason = complaint.map_or_else(|| format!("cargo ended with {status}"), str::to_owned);
        if self.last.iter().any(|line| is_about_network(line)) {
            return BuildError::Dependencies {
                package,
                reason,
                output: self.last,
            };
        }
        BuildError::Cargo {
            package,
            reason,
            output: self.last,
        }
    }
}

/// The crate of a line such as `   Compiling serde v1.0.0 (/path)`.
fn compiled_crate(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    match words.next() {
        Some("Compiling") => words.next(),
        _ => None,
    }
}

fn remember(last: &mut Vec<String>, line: &str) {
    if last.len() == BUILD_OUTPUT_LINES {
        last.remove(0);
    }
    last.push(line.to_owned());
}

/// Whether cargo complains about something that it could not fetch.
fn is_about_network(line: &str) -> bool {
    [
        "spurious network error",
        "failed to download",
        "download of ",
        "Could not resolve host",
        "Could not connect to server",
        "but --offline was specified",
        "you're using offline mode",
        "unable to update registry",
        "failed to fetch",
        "network failure",
    ]
    .iter()
    .any(|words| line.contains(words))
}

#[cfg(test)]
mod tests;
