//! What a run has said: the library, the compiler's messages, cargo's last words.
//!
//! Owns the meaning of cargo's output. Does not own the process that it comes from.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use cargo_metadata::{Artifact, Message, TargetKind};

use super::verbose::Details;
use super::{Finished, LocalPackage, Run};
use crate::build::BuildProgress;
use crate::build::diagnostics::{Diagnostic, Level};
use crate::build::error::BuildError;
use crate::build::manifest::CrateManifest;
use crate::limits::BUILD_OUTPUT_LINES;

/// What a run has said.
pub(super) struct Output<'a> {
    messages: Messages<'a>,
    details: Option<Details<'a>>,
    last: Vec<String>,
}

/// What comes as messages.
pub(super) struct Messages<'a> {
    manifest: &'a CrateManifest,
    artifacts: Vec<Artifact>,
    local: Vec<LocalPackage>,
    diagnostics: Vec<Diagnostic>,
    warnings: usize,
}

/// What comes as lines for people.
pub(super) struct Words<'o, 'a> {
    progress: &'o dyn BuildProgress,
    details: Option<&'o mut Details<'a>>,
    last: &'o mut Vec<String>,
}

impl Words<'_, '_> {
    /// Takes in a line of cargo's standard error.
    pub(super) fn take(&mut self, line: &str) {
        let line = match &mut self.details {
            Some(details) => details.take(line),
            None => Some(Cow::Borrowed(line)),
        };
        let Some(line) = line else { return };
        if let Some(name) = compiled_crate(&line) {
            self.progress.compiling(name);
        }
        self.progress.line(&line);
        remember(self.last, &line);
    }
}

impl Messages<'_> {
    /// Takes in a line of cargo's standard output, which build tools may write to as well.
    pub(super) fn take(&mut self, line: &str) {
        if !line.starts_with('{') {
            return;
        }
        match serde_json::from_str(line) {
            Ok(Message::CompilerArtifact(artifact)) => {
                self.local.extend(local_package(&artifact));
                if self.is_ours(&artifact) {
                    self.artifacts.push(artifact);
                }
            }
            Ok(Message::CompilerMessage(message)) => {
                let ours = message.target.src_path.as_std_path() == self.manifest.source;
                match Diagnostic::from_message(message.message) {
                    Some(diagnostic) if diagnostic.level == Level::Error => {
                        self.diagnostics.push(diagnostic);
                    }
                    Some(diagnostic) if diagnostic.level == Level::Warning && ours => {
                        self.warnings += 1;
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

/// Registries and repositories have names of their own; a folder is a path. Build scripts are part
/// of the package.
fn local_package(artifact: &Artifact) -> Option<LocalPackage> {
    let id = &artifact.package_id.repr;
    let is_library = !artifact.target.kind.contains(&TargetKind::CustomBuild);
    (id.starts_with("path+") && is_library).then_some(())?;
    Some(LocalPackage {
        id: id.clone(),
        folder: artifact.manifest_path.as_std_path().parent()?.to_path_buf(),
        library: artifact.filenames.first()?.into(),
        fresh: artifact.fresh,
    })
}

impl<'a> Output<'a> {
    /// Of a run that tells how the crate is compiled, or does not.
    pub(super) fn new(manifest: &'a CrateManifest, follows_leaf: bool) -> Self {
        Self {
            messages: Messages {
                manifest,
                artifacts: Vec::new(),
                local: Vec::new(),
                diagnostics: Vec::new(),
                warnings: 0,
            },
            details: follows_leaf.then(|| Details::new(manifest)),
            last: Vec::new(),
        }
    }

    /// The two ends that take in what cargo says.
    pub(super) fn parts<'o>(
        &'o mut self,
        progress: &'o dyn BuildProgress,
    ) -> (&'o mut Messages<'a>, Words<'o, 'a>) {
        let words = Words {
            progress,
            details: self.details.as_mut(),
            last: &mut self.last,
        };
        (&mut self.messages, words)
    }

    /// Cargo's last words.
    pub(super) fn last(&self) -> &[String] {
        &self.last
    }

    pub(super) fn finished(self, package: &str) -> Result<Finished, BuildError> {
        let expected = std::env::consts::DLL_SUFFIX;
        let is_library = |file: &PathBuf| file.to_string_lossy().ends_with(expected);
        let mut found = Vec::new();
        let mut local = self.messages.local;
        local.dedup();
        for artifact in self.messages.artifacts {
            let files: Vec<PathBuf> = artifact
                .filenames
                .into_iter()
                .map(cargo_metadata::camino::Utf8PathBuf::into_std_path_buf)
                .collect();
            if let Some(library) = files.iter().find(|file| is_library(file)) {
                return Ok(Finished {
                    library: library.clone(),
                    fresh: artifact.fresh,
                    warnings: self.messages.warnings,
                    local,
                    leaf: self.details.and_then(Details::leaf),
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
        if !self.messages.diagnostics.is_empty() {
            return BuildError::Compile {
                package: run.manifest.package.clone(),
                errors: self.messages.diagnostics,
                warnings: self.messages.warnings,
                inputs_hash: run.inputs_hash.to_owned(),
            };
        }
        cargo_failure(run, status, self.last)
    }
}

/// A failure that only cargo's own words tell about.
pub(super) fn cargo_failure(run: &Run<'_>, status: ExitStatus, last: Vec<String>) -> BuildError {
    let package = run.manifest.package.clone();
    let complaint = last.iter().find_map(|line| line.strip_prefix("error: "));
    let reason = complaint.map_or_else(|| format!("cargo ended with {status}"), str::to_owned);
    let is_about_network = last.iter().any(|line| is_about_network(line));
    if is_about_network && run.confined.is_some() {
        return BuildError::Offline {
            package,
            manifest: run.manifest.file(),
            reason,
            output: last,
        };
    }
    if is_about_network {
        return BuildError::Dependencies {
            package,
            reason,
            output: last,
        };
    }
    BuildError::Cargo {
        package,
        reason,
        output: last,
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

pub(super) fn remember(last: &mut Vec<String>, line: &str) {
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
