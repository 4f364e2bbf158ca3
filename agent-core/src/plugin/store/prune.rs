//! Takes out of the store what nobody is likely to ask for again.
//!
//! Every edit of a plugin leaves a library behind. What a path held when it was last looked at
//! stays; of the rest, the oldest goes when it is old or when there is too much. A file that is
//! still mapped somewhere may go too: the mapping keeps its content.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use fs_err as fs;

use super::mark::EXTENSION;
use crate::ids::ContentHash;
use crate::limits;

/// How long a file is safe from pruning, whoever made it: it may be about to be loaded.
const GRACE: Duration = Duration::from_mins(10);

/// One stored library.
struct Stored {
    path: PathBuf,
    size: u64,
    modified: SystemTime,
}

/// Removes old libraries that are not `wanted`, and what interrupted writes left behind. A file
/// that can't be removed stays; there is nobody to tell.
pub(super) fn prune(dir: &Path, wanted: &BTreeSet<ContentHash>) {
    let now = SystemTime::now();
    let age = |modified| now.duration_since(modified).unwrap_or_default();
    let mut unwanted: Vec<Stored> = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(metadata) = entry.metadata() else {
            continue;
        };
        let modified = metadata.modified().unwrap_or(now);
        if age(modified) < GRACE {
            continue;
        }
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if name.starts_with('.') {
            drop(fs::remove_file(path));
        } else if let Some(hash) = name.strip_suffix(".so").and_then(ContentHash::from_hex)
            && !wanted.contains(&hash)
        {
            unwanted.push(Stored {
                path,
                size: metadata.len(),
                modified,
            });
        }
    }
    unwanted.sort_by_key(|stored| std::cmp::Reverse(stored.modified));
    let mut kept = 0;
    for Stored {
        path,
        size,
        modified,
    } in unwanted
    {
        kept += size;
        if kept > limits::STORE_BYTES || age(modified) > limits::STORE_AGE {
            drop(fs::remove_file(&path));
            drop(fs::remove_file(path.with_extension("json")));
            drop(fs::remove_file(path.with_extension(EXTENSION)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(dir: &Path, content: &[u8], days: u64) -> PathBuf {
        let path = dir.join(format!("{}.so", ContentHash::of(content)));
        fs::write(&path, content).unwrap();
        fs::write(path.with_extension("json"), "{}").unwrap();
        let then = SystemTime::now() - Duration::from_hours(24 * days);
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(then).unwrap();
        path
    }

    #[test]
    fn only_old_and_unwanted_libraries_go() {
        let dir = tempfile::tempdir().unwrap();
        let young = store(dir.path(), b"young", 0);
        let middle = store(dir.path(), b"middle", 1);
        let old = store(dir.path(), b"old", 100);
        let wanted = store(dir.path(), b"wanted", 100);
        prune(dir.path(), &[ContentHash::of(b"wanted")].into());
        let there = [&young, &middle, &old, &wanted].map(|path| path.exists());
        assert_eq!(there, [true, true, false, true]);
        assert!(!old.with_extension("json").exists());
    }
}
