//! Private copies of library files under their content's hash, with what is known of them.
//!
//! `STATE/store/HASH.so` is read-only and never changes; `HASH.json` beside it is the judgement.
//! Both survive restarts, so a file that was judged once is not copied, hashed or judged again:
//! `STATE/store/seen.json` remembers which bytes a path held when it was last looked at.

mod prune;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use fs_err as fs;
use serde::{Deserialize, Serialize};

use super::judge::{Judgement, judge};
use super::{LibrarySource, PluginError};
use crate::fingerprint::{Fingerprint, now};
use crate::ids::ContentHash;

/// A library that was judged and copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredLibrary {
    /// Hash of its bytes.
    pub hash: ContentHash,
    /// The private copy.
    pub path: PathBuf,
    /// Size of the file in bytes.
    pub size: u64,
    /// What was read from it.
    pub judgement: Judgement,
}

/// The store of one state folder.
#[derive(Debug)]
pub struct Store {
    dir: PathBuf,
    /// A mutex, since a scan and a command may ask at once; held for map operations only.
    seen: Mutex<BTreeMap<PathBuf, Seen>>,
}

/// What a path held when it was last looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Seen {
    fingerprint: Fingerprint,
    /// When the look began.
    taken: i64,
    hash: ContentHash,
    /// What served from here last, which may be older.
    #[serde(default)]
    served: Option<ContentHash>,
}

impl Store {
    /// Opens the store below this state folder, making it where there is none.
    pub fn open(state: &Path) -> Result<Self, PluginError> {
        let dir = state.join("store");
        fs::create_dir_all(&dir).map_err(PluginError::io("could not make the store"))?;
        fs::set_permissions(&dir, PermissionsExt::from_mode(0o700))
            .map_err(PluginError::io("could not protect the store"))?;
        let seen: BTreeMap<PathBuf, Seen> = fs::read(dir.join("seen.json"))
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default();
        // What lay at a path that is gone will hardly come back.
        let held = seen.iter().filter(|(path, _)| path.exists());
        let held = held.flat_map(|(_, seen)| [seen.hash].into_iter().chain(seen.served));
        prune::prune(&dir, &held.collect());
        Ok(Self {
            dir,
            seen: Mutex::new(seen),
        })
    }

    /// Judges a file and keeps a private copy of it.
    pub fn admit(&self, source: &LibrarySource) -> Result<StoredLibrary, PluginError> {
        let path = &source.path;
        let taken = now();
        let metadata =
            fs::metadata(path).map_err(PluginError::io("could not look at the library"))?;
        if !metadata.is_file() {
            return Err(PluginError::NotALibrary {
                reason: "it is no regular file".to_owned(),
            });
        }
        let fingerprint = Fingerprint::of(&metadata);
        if let Some(known) = self.known(path, fingerprint) {
            return Ok(known);
        }
        let bytes = fs::read(path).map_err(PluginError::io("could not read the library"))?;
        let hash = ContentHash::of(&bytes);
        let stored = match self.read(hash) {
            Some(stored) => stored,
            None => self.write(hash, path, &bytes, judge(&bytes)?)?,
        };
        self.remember(
            path,
            Seen {
                fingerprint,
                taken,
                hash,
                served: self.seen(path).and_then(|seen| seen.served),
            },
        )?;
        Ok(stored)
    }

    fn known(&self, path: &Path, fingerprint: Fingerprint) -> Option<StoredLibrary> {
        let seen = self.seen(path)?;
        if seen.fingerprint == fingerprint && !fingerprint.is_fresh_at(seen.taken) {
            self.read(seen.hash)
        } else {
            None
        }
    }

    fn seen(&self, path: &Path) -> Option<Seen> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.get(path).copied()
    }

    /// Remembers that what the path held when it was last looked at serves now.
    pub fn serves(&self, path: &Path) -> Result<(), PluginError> {
        match self.seen(path) {
            Some(seen) if seen.served != Some(seen.hash) => {
                let served = Some(seen.hash);
                self.remember(path, Seen { served, ..seen })
            }
            _ => Ok(()),
        }
    }

    /// What served from a path last, whatever it holds now.
    pub fn served(&self, path: &Path) -> Option<StoredLibrary> {
        self.read(self.seen(path)?.served?)
    }

    /// What is stored under this hash, if it is whole.
    fn read(&self, hash: ContentHash) -> Option<StoredLibrary> {
        let path = self.dir.join(format!("{hash}.so"));
        let size = fs::metadata(&path).ok()?.len();
        let record: Record =
            serde_json::from_slice(&fs::read(self.dir.join(format!("{hash}.json"))).ok()?).ok()?;
        let whole = record.size == size && record.judgement.abi == tool_sdk::abi::REVISION;
        whole.then_some(StoredLibrary {
            hash,
            path,
            size,
            judgement: record.judgement,
        })
    }

    fn write(
        &self,
        hash: ContentHash,
        original: &Path,
        bytes: &[u8],
        judgement: Judgement,
    ) -> Result<StoredLibrary, PluginError> {
        let path = self.dir.join(format!("{hash}.so"));
        let size = bytes.len() as u64;
        self.place(&path, original, hash, bytes)?;
        let record = Record { size, judgement };
        let json = serde_json::to_vec_pretty(&record).unwrap_or_default();
        replace(&self.dir.join(format!("{hash}.json")), &json)?;
        Ok(StoredLibrary {
            hash,
            path,
            size,
            judgement: record.judgement,
        })
    }

    /// Puts the bytes in place in one step. A reflink shares the disk's blocks where the file
    /// system can; the file may have been overwritten since it was read, so the copy is hashed.
    fn place(
        &self,
        path: &Path,
        original: &Path,
        hash: ContentHash,
        bytes: &[u8],
    ) -> Result<(), PluginError> {
        let failed = || PluginError::io(format!("could not write {}", path.display()));
        let temporary = unused_name(&self.dir);
        let linked = reflink_copy::reflink(original, &temporary).is_ok()
            && fs::read(&temporary).is_ok_and(|copy| ContentHash::of(&copy) == hash);
        if !linked {
            drop(fs::remove_file(&temporary));
            fs::write(&temporary, bytes).map_err(failed())?;
        }
        fs::set_permissions(&temporary, PermissionsExt::from_mode(0o500)).map_err(failed())?;
        fs::rename(&temporary, path).map_err(failed())
    }

    fn remember(&self, path: &Path, seen: Seen) -> Result<(), PluginError> {
        let json = {
            let mut all = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            all.insert(path.to_owned(), seen);
            serde_json::to_vec(&*all).unwrap_or_default()
        };
        replace(&self.dir.join("seen.json"), &json)
    }
}

/// A file of a stored library that this process has not mapped yet.
///
/// The system's loader answers a file that is mapped already with the same image, and with it the
/// same statics: a version that returns would share them with its earlier self.
#[derive(Debug)]
pub struct Unshared {
    path: PathBuf,
    temporary: bool,
}

impl Unshared {
    /// The stored file itself for the first time, a copy of it after that.
    pub fn of(library: &StoredLibrary) -> Result<Self, PluginError> {
        static MAPPED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
        let mut mapped = MAPPED.lock().unwrap_or_else(PoisonError::into_inner);
        if mapped.insert(library.path.clone()) {
            return Ok(Self {
                path: library.path.clone(),
                temporary: false,
            });
        }
        let dir = library.path.parent().unwrap_or(Path::new("."));
        let path = unused_name(dir);
        reflink_copy::reflink_or_copy(&library.path, &path)
            .map_err(PluginError::io("could not copy a stored library"))?;
        Ok(Self {
            path,
            temporary: true,
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Unshared {
    /// What is mapped needs no name.
    fn drop(&mut self) {
        if self.temporary {
            drop(fs::remove_file(&self.path));
        }
    }
}

fn unused_name(dir: &Path) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    dir.join(format!(".new-{}-{number}", std::process::id()))
}

/// `HASH.json`.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    size: u64,
    judgement: Judgement,
}

/// Replaces a file's content in one step.
fn replace(path: &Path, content: &[u8]) -> Result<(), PluginError> {
    let failed = |source| PluginError::Io {
        context: format!("could not write {}", path.display()),
        source,
    };
    let dir = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(dir).map_err(failed)?;
    file.write_all(content).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}
