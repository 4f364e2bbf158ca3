//! What the rest of the registry may know of the watcher: which libraries are being written just
//! now.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::super::scan::library_name;
use super::events::Writing;
use crate::ids::PluginName;

/// How long an empty new file is taken for one that will be written.
const EMPTY: Duration = Duration::from_secs(2);

/// How long after its last write a library is taken for unfinished where its writer keeps it open.
const UNFINISHED: Duration = Duration::from_secs(10);

/// What is known of the watcher.
#[derive(Debug, Default)]
pub(in super::super) struct Shared {
    /// A mutex, held for map operations only.
    writing: Mutex<BTreeMap<PathBuf, (Writing, Instant)>>,
}

impl Shared {
    /// Plugins whose library is not whole yet, because it is being written.
    pub(in super::super) fn writing(&self) -> BTreeSet<PluginName> {
        let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        writing.retain(|path, (state, since)| match state {
            Writing::Created(_) => since.elapsed() < EMPTY && is_empty(path),
            Writing::GoesOn(_) => since.elapsed() < UNFINISHED && path.exists(),
            Writing::Ended(_) => false,
        });
        let names = writing.keys().filter_map(|path| library_name(path));
        names.map(PluginName::new).collect()
    }

    pub(super) fn note(&self, writing: &Writing) {
        let mut all = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        match writing {
            Writing::Ended(path) => drop(all.remove(path)),
            Writing::Created(path) | Writing::GoesOn(path) => {
                all.insert(path.clone(), (writing.clone(), Instant::now()));
            }
        }
    }

    /// Events were lost, the end of a write maybe among them.
    pub(super) fn forget_writing(&self) {
        let mut all = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        all.clear();
    }
}

/// Whether it is a new file of which nothing was written: no link, and no second name of a file.
fn is_empty(path: &Path) -> bool {
    fs_err::symlink_metadata(path)
        .is_ok_and(|metadata| metadata.is_file() && metadata.len() == 0 && metadata.nlink() == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(shared: &Shared) -> Vec<String> {
        let names = shared.writing();
        names.iter().map(|name| name.as_str().to_owned()).collect()
    }

    #[test]
    fn library_is_being_written_until_its_writer_closes_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("libx.so");
        let shared = Shared::default();
        fs_err::write(&path, "").unwrap();
        shared.note(&Writing::Created(path.clone()));
        assert_eq!(names(&shared), ["x"]);
        fs_err::write(&path, "part").unwrap();
        assert!(names(&shared).is_empty(), "a file that came whole");
        shared.note(&Writing::GoesOn(path.clone()));
        assert_eq!(names(&shared), ["x"]);
        shared.note(&Writing::Ended(path.clone()));
        assert!(names(&shared).is_empty());
        shared.note(&Writing::GoesOn(path.clone()));
        shared.forget_writing();
        assert!(names(&shared).is_empty());
        shared.note(&Writing::GoesOn(path.clone()));
        fs_err::remove_file(path).unwrap();
        assert!(names(&shared).is_empty(), "a file that is gone");
    }

    #[tokio::test(start_paused = true)]
    async fn writer_that_keeps_a_library_open_keeps_it_back_for_a_while_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("libx.so");
        fs_err::write(&path, "").unwrap();
        let shared = Shared::default();
        for (writing, patience) in [
            (Writing::Created(path.clone()), EMPTY),
            (Writing::GoesOn(path.clone()), UNFINISHED),
        ] {
            shared.note(&writing);
            tokio::time::advance(patience / 2).await;
            assert_eq!(names(&shared), ["x"]);
            tokio::time::advance(patience).await;
            assert!(names(&shared).is_empty());
        }
    }
}
