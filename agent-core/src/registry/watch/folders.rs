//! Keeps watches on the folders that are wanted, whatever happens to folders and watches.
//!
//! A path says nothing of what lies there: a folder may be deleted and made again, moved away, or
//! reached through a link that leads elsewhere now. So each watch is remembered with the folder's
//! identity, and set anew where that has changed. Each folder is watched under one path only: the
//! system knows one watch for it, and whoever ends it under one path ends it under all.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::time::{Duration, Instant};

use super::SWEEP;
use super::backend::{Backend, Live};
use super::events::Rules;
use super::intake::{Doubt, Intake};
use super::tree::{FOLDERS, Trees, Wanted, Wish};

/// How long after a watcher was started, or could not be, another one may be.
const RETRY: Duration = Duration::from_secs(10);

/// Device and inode.
type Identity = (u64, u64);

/// The folders that are watched.
pub(super) struct Folders {
    backend: Box<dyn Backend>,
    intake: Arc<Intake>,
    live: Option<Live>,
    started: Option<Instant>,
    /// Why there is no watcher.
    failed: Option<String>,
    watched: BTreeSet<(Identity, PathBuf)>,
    trees: Trees,
}

/// What came of an attempt to cover folders.
#[derive(Debug, Default)]
pub(super) struct Covered {
    /// Folders that were not watched before: what happened in them until now made no event.
    pub(super) new: Vec<PathBuf>,
    /// What can't be watched, a sentence each.
    pub(super) problems: Vec<String>,
}

impl Folders {
    pub(super) fn new(backend: Box<dyn Backend>, intake: Arc<Intake>) -> Self {
        Self {
            backend,
            intake,
            live: None,
            started: None,
            failed: None,
            watched: BTreeSet::new(),
            trees: Trees::default(),
        }
    }

    /// Watches what is wished for.
    pub(super) fn cover(&mut self, wish: &Wish<'_>) -> Covered {
        let wanted = self.trees.wanted(wish);
        let mut covered = Covered::default();
        if wanted.too_many {
            covered.problems.push(format!(
                "more than {FOLDERS} folders lie in the crates of `{}`: those beyond are not watched but looked at every {SWEEP:?}; move out of the crates what is no source",
                wish.plugins.display(),
            ));
        }
        self.revive();
        if let Some(reason) = &self.failed {
            covered.problems.push(reason.clone());
        }
        if self.live.is_some() {
            self.watch(wanted, &mut covered);
        }
        covered
    }

    /// Makes a watcher where there is none, or where its thread has ended.
    fn revive(&mut self) {
        if self.live.as_ref().is_some_and(|live| !live.has_ended()) {
            return;
        }
        if self.live.take().is_some() {
            self.watched.clear();
            self.failed = Some(format!(
                "the thread that watches folders has ended; they are looked at every {SWEEP:?} until it runs again"
            ));
        }
        if self.started.is_some_and(|at| at.elapsed() < RETRY) {
            return;
        }
        self.started = Some(Instant::now());
        match Live::start(&*self.backend, &self.intake) {
            Ok(live) => {
                self.live = Some(live);
                self.failed = None;
            }
            Err(error) => self.failed = Some(not_started(&error)),
        }
    }

    fn watch(&mut self, wanted: Wanted, covered: &mut Covered) {
        let Some(live) = &mut self.live else { return };
        let (folders, rules) = identified(wanted);
        let doubt = self.intake.take_doubt();
        let kept: BTreeSet<(Identity, PathBuf)> = folders
            .iter()
            .filter(|one| self.watched.contains(*one) && !doubt.covers(&one.1))
            .cloned()
            .collect();
        // First all that goes: a path may come back with another folder.
        for (_, gone) in self.watched.difference(&kept) {
            // The system ends the watch of a deleted folder by itself.
            drop(live.unwatch(gone));
        }
        // Before the watches, so that no event meets a folder without a rule.
        self.intake.set_rules(rules);
        let missing = folders.into_iter().filter(|one| !kept.contains(one));
        let mut watched = kept.clone();
        let mut refused = Refused::default();
        for (identity, folder) in missing {
            match live.watch(&folder) {
                Ok(()) => {
                    covered.new.push(folder.clone());
                    watched.insert((identity, folder));
                }
                Err(_) if live.has_ended() => break,
                Err(error) if is_gone(&error) => {}
                Err(error) => {
                    let full = matches!(error.kind, notify::ErrorKind::MaxFilesWatch);
                    refused.add(folder, &error);
                    if full {
                        // Every further one would be refused too.
                        break;
                    }
                }
            }
        }
        self.watched = watched;
        covered.problems.extend(refused.sentence());
    }
}

/// The folders that exist, each under one path, with the rules under that path.
fn identified(wanted: Wanted) -> (Vec<(Identity, PathBuf)>, Rules) {
    let mut paths: BTreeMap<Identity, PathBuf> = BTreeMap::new();
    let mut folders = Vec::new();
    let mut rules = Rules::new();
    for folder in wanted.folders {
        let Some(identity) = identity(&folder) else {
            continue;
        };
        let Some(rule) = wanted.rules.get(&folder) else {
            continue;
        };
        let path = paths.entry(identity).or_insert_with(|| {
            folders.push((identity, folder.clone()));
            folder
        });
        let merged = rules.entry(path.clone()).or_default();
        merged.others = merged.others.max(rule.others);
        merged.names.extend(rule.names.iter().cloned());
    }
    (folders, rules)
}

fn identity(folder: &Path) -> Option<Identity> {
    let metadata = fs_err::metadata(folder).ok()?;
    metadata.is_dir().then(|| (metadata.dev(), metadata.ino()))
}

fn is_gone(error: &notify::Error) -> bool {
    match &error.kind {
        notify::ErrorKind::PathNotFound => true,
        notify::ErrorKind::Io(error) => matches!(
            error.kind(),
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
        ),
        _ => false,
    }
}

impl Doubt {
    fn covers(&self, folder: &Path) -> bool {
        self.all || self.below.iter().any(|path| folder.starts_with(path))
    }
}

fn not_started(error: &notify::Error) -> String {
    format!(
        "changes can't be watched: {}; folders are looked at every {SWEEP:?} instead; if too many programs watch files, end some or raise `fs.inotify.max_user_instances`",
        without_paths(error),
    )
}

/// What the error says, without the paths, which the sentence has already.
fn without_paths(error: &notify::Error) -> String {
    match &error.kind {
        notify::ErrorKind::Io(error) => error.to_string(),
        notify::ErrorKind::Generic(text) => text.clone(),
        _ => error.to_string(),
    }
}

/// Folders that could not be watched: one sentence for all, however many they are.
#[derive(Default)]
struct Refused {
    first: Option<(PathBuf, String)>,
    more: bool,
    limit: bool,
}

impl Refused {
    fn add(&mut self, folder: PathBuf, error: &notify::Error) {
        self.limit |= matches!(error.kind, notify::ErrorKind::MaxFilesWatch);
        self.more |= self.first.is_some();
        self.first
            .get_or_insert_with(|| (folder, without_paths(error)));
    }

    fn sentence(self) -> Option<String> {
        let (folder, reason) = self.first?;
        if self.limit {
            return Some(format!(
                "not every folder can be watched: the system's limit of watches is reached; folders without a watch are looked at every {SWEEP:?}; raise `fs.inotify.max_user_watches` (now {}) to have changes seen at once",
                limit_of_watches(),
            ));
        }
        let others = if self.more { " and others" } else { "" };
        Some(format!(
            "`{}`{others} can't be watched: {reason}; looked at every {SWEEP:?} instead; allow this user to read it",
            folder.display(),
        ))
    }
}

fn limit_of_watches() -> String {
    fs_err::read_to_string("/proc/sys/fs/inotify/max_user_watches")
        .map_or_else(|_| "unknown".to_owned(), |text| text.trim().to_owned())
}

#[cfg(test)]
mod tests;
