//! Private copies of library files under their content's hash, with what is known of them.
//!
//! `STATE/store/HASH.so` is read-only and never changes; `HASH.json` beside it is the judgement of
//! its bytes and the verdict of those who tried it out. Both survive restarts, so a file that was
//! judged once is not copied, hashed, judged or tried again: `STATE/store/seen.json` remembers which
//! bytes a path held when it was last looked at.

mod mark;
mod prune;
mod seen;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use fs_err as fs;
use serde::{Deserialize, Serialize};

use self::mark::MapMark;
use self::seen::Seen;
use super::judge::{self, Judgement, judge};
use super::verdict::{KeptVerdict, Tried, Verdict};
use super::{LibrarySource, PluginError};
use crate::fingerprint::{Fingerprint, now};
use crate::ids::ContentHash;

/// How many verdicts are kept of one library, which may be tried as several packages.
const KEPT_VERDICTS: usize = 8;

/// Bytes by which it is told what a file is.
const START: u64 = 512;

/// Largest library that is read; it is held in memory while it is judged.
const LIBRARY_BYTES: u64 = 1 << 30;

/// A library that was judged and copied.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredLibrary {
    /// Hash of its bytes.
    pub hash: ContentHash,
    /// The private copy.
    pub path: PathBuf,
    /// Size of the file in bytes.
    pub size: u64,
    /// What was read from it.
    pub judgement: Judgement,
    /// What came of trying it out freely, if it was.
    free: Option<Verdict>,
    /// The same in a sandbox.
    confined: Option<Verdict>,
}

impl StoredLibrary {
    /// What came of trying it out in this way, if it was.
    pub fn verdict(&self, tried: Tried) -> Option<&Verdict> {
        match tried {
            Tried::Free => self.free.as_ref(),
            Tried::Confined => self.confined.as_ref(),
        }
    }

    /// Marks it as being mapped by this host until the mark is dropped. An error if it has ended
    /// the hosts that mapped it before.
    pub(super) fn mark(&self) -> Result<MapMark, PluginError> {
        MapMark::set(self.path.with_extension(mark::EXTENSION))
    }

    /// Forgets that it has ended hosts, if it has.
    pub fn forgive(&self) {
        MapMark::forget(self.path.with_extension(mark::EXTENSION));
    }
}

/// The store of one state folder.
#[derive(Debug)]
pub struct Store {
    dir: PathBuf,
    /// A mutex, since a scan and a command may ask at once; held for map operations only.
    seen: Mutex<BTreeMap<PathBuf, Seen>>,
    /// Whether it differs from what is on disk.
    is_newer: AtomicBool,
}

impl Store {
    /// Opens the store below this state folder, making it where there is none.
    pub fn open(state: &Path) -> Result<Self, PluginError> {
        let dir = state.join("store");
        make(&dir)?;
        let seen = seen::read(&dir.join("seen.json"));
        // What lay at a path that is gone will hardly come back.
        let held = seen.iter().filter(|(path, _)| path.exists());
        let held = held.flat_map(|(_, seen)| [seen.hash].into_iter().chain(seen.served));
        prune::prune(&dir, &held.collect());
        Ok(Self {
            dir,
            seen: Mutex::new(seen),
            is_newer: AtomicBool::new(false),
        })
    }

    /// A store of nothing, for where no library will be admitted.
    pub fn empty() -> Self {
        Self {
            dir: PathBuf::new(),
            seen: Mutex::default(),
            is_newer: AtomicBool::new(false),
        }
    }

    /// Makes the folder again if it was taken away.
    fn provide(&self) -> Result<(), PluginError> {
        if self.dir.is_dir() {
            Ok(())
        } else {
            make(&self.dir)
        }
    }

    /// Judges a file and keeps a private copy of it.
    pub fn admit(&self, source: &LibrarySource) -> Result<StoredLibrary, PluginError> {
        let LibrarySource { path, package } = source;
        let taken = now();
        let metadata =
            fs::metadata(path).map_err(PluginError::io("could not look at the library"))?;
        if !metadata.is_file() {
            return Err(PluginError::NotALibrary {
                reason: "it is no regular file".to_owned(),
            });
        }
        let fingerprint = Fingerprint::of(&metadata);
        if let Some(known) = self.known(path, fingerprint, package) {
            return Ok(known);
        }
        let bytes = read_library(path, metadata.len())?;
        let hash = ContentHash::of(&bytes);
        let stored = match self.read(hash, package) {
            Some(stored) => stored,
            None => self.write(hash, path, &bytes, judge(&bytes)?)?,
        };
        let served = self.seen(path).and_then(|seen| seen.served);
        self.remember(
            path,
            Seen {
                fingerprint,
                taken,
                hash,
                served,
            },
        );
        Ok(stored)
    }

    fn known(&self, path: &Path, fingerprint: Fingerprint, package: &str) -> Option<StoredLibrary> {
        let seen = self.seen(path)?;
        if seen.fingerprint == fingerprint && !fingerprint.is_fresh_at(seen.taken) {
            self.read(seen.hash, package)
        } else {
            None
        }
    }

    fn seen(&self, path: &Path) -> Option<Seen> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.get(path).copied()
    }

    /// Remembers that what the path held when it was last looked at serves now.
    pub fn serves(&self, path: &Path) {
        if let Some(seen) = self.seen(path)
            && seen.served != Some(seen.hash)
        {
            let served = Some(seen.hash);
            self.remember(path, Seen { served, ..seen });
        }
    }

    /// What served from a path last, whatever it holds now.
    pub fn served(&self, source: &LibrarySource) -> Option<StoredLibrary> {
        let served = self.seen(&source.path)?.served?;
        self.read(served, &source.package)
    }

    /// Keeps what came of trying a library out as a package.
    pub fn keep_verdict(
        &self,
        hash: ContentHash,
        package: &str,
        tried: Tried,
        verdict: Verdict,
    ) -> Result<(), PluginError> {
        let Some(mut record) = self.record(hash) else {
            return Ok(());
        };
        let verdicts = &mut record.verdicts;
        verdicts.retain(|kept| kept.about(package, tried).is_none());
        verdicts.insert(0, KeptVerdict::new(package, tried, verdict));
        verdicts.truncate(KEPT_VERDICTS);
        self.write_record(hash, &record)
    }

    /// What is stored under this hash, if it is whole.
    fn read(&self, hash: ContentHash, package: &str) -> Option<StoredLibrary> {
        let path = self.dir.join(format!("{hash}.so"));
        let size = fs::metadata(&path).ok()?.len();
        let record = self.record(hash)?;
        let whole = record.size == size && record.judgement.abi == tool_sdk::abi::REVISION;
        whole.then(|| {
            let verdict = |tried| {
                let mut verdicts = record.verdicts.iter();
                let found = verdicts.find_map(|kept| kept.about(package, tried));
                found.cloned()
            };
            let (free, confined) = (verdict(Tried::Free), verdict(Tried::Confined));
            StoredLibrary {
                hash,
                path,
                size,
                judgement: record.judgement,
                free,
                confined,
            }
        })
    }

    fn record(&self, hash: ContentHash) -> Option<Record> {
        let text = fs::read(self.dir.join(format!("{hash}.json"))).ok()?;
        serde_json::from_slice(&text).ok()
    }

    fn write_record(&self, hash: ContentHash, record: &Record) -> Result<(), PluginError> {
        let path = self.dir.join(format!("{hash}.json"));
        let json = serde_json::to_vec(record).map_err(unwritable(&path))?;
        replace(&path, &json)
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
        let record = Record {
            size,
            judgement,
            verdicts: Vec::new(),
        };
        if let Err(error) = self.write_record(hash, &record) {
            // It serves all the same.
            tracing::warn!(%error, "it has to be judged again after a restart");
        }
        Ok(StoredLibrary {
            hash,
            path,
            size,
            judgement: record.judgement,
            free: None,
            confined: None,
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
        self.provide()?;
        let temporary = unused_name(&self.dir);
        let fill = || -> std::io::Result<()> {
            let linked = reflink_copy::reflink(original, &temporary).is_ok()
                && fs::read(&temporary).is_ok_and(|copy| ContentHash::of(&copy) == hash);
            if !linked {
                drop(fs::remove_file(&temporary));
                fs::write(&temporary, bytes)?;
            }
            fs::set_permissions(&temporary, PermissionsExt::from_mode(0o500))?;
            // An empty folder of that name is of no use to anybody; a full one is told.
            drop(fs::remove_dir(path));
            fs::rename(&temporary, path)
        };
        let placed = fill();
        if placed.is_err() {
            drop(fs::remove_file(&temporary));
        }
        placed.map_err(unwritable(path))
    }

    fn remember(&self, path: &Path, seen: Seen) {
        let mut all = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if all.insert(path.to_owned(), seen) != Some(seen) {
            self.is_newer.store(true, Ordering::Release);
        }
    }

    /// Writes what was seen, so that the next start need not look again. For the end of a scan:
    /// nothing is lost without it but time.
    pub fn save(&self) -> Result<(), PluginError> {
        if !self.is_newer.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        let path = self.dir.join("seen.json");
        let json = {
            let all = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen::to_json(&all).map_err(unwritable(&path))?
        };
        self.provide()?;
        let replaced = replace(&path, &json);
        if replaced.is_err() {
            // The disk may have room at the end of the next scan.
            self.is_newer.store(true, Ordering::Release);
        }
        replaced
    }
}

/// Makes a folder that only its owner may look into. A store on a disk that can't be written to may
/// be so already.
fn make(dir: &Path) -> Result<(), PluginError> {
    fs::create_dir_all(dir).map_err(PluginError::io("could not make the store"))?;
    let protect = || {
        let mode = fs::metadata(dir)?.permissions().mode();
        if mode & 0o777 == 0o700 {
            return Ok(());
        }
        fs::set_permissions(dir, PermissionsExt::from_mode(0o700))
    };
    protect().map_err(PluginError::io("could not protect the store"))
}

/// The bytes of a library; what is no ELF file, or too large, is refused by its start.
fn read_library(path: &Path, size: u64) -> Result<Vec<u8>, PluginError> {
    let failed = || PluginError::io("could not read the library");
    if size > LIBRARY_BYTES {
        return Err(PluginError::NotALibrary {
            reason: format!("it has {size} bytes, at most {LIBRARY_BYTES} are read"),
        });
    }
    let file = fs::File::open(path).map_err(failed())?;
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    let mut file = file.take(START);
    file.read_to_end(&mut bytes).map_err(failed())?;
    judge::check_kind(&bytes)?;
    // It may have grown since.
    file.set_limit(LIBRARY_BYTES);
    file.read_to_end(&mut bytes).map_err(failed())?;
    Ok(bytes)
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
    /// The newest first.
    #[serde(default)]
    verdicts: Vec<KeptVerdict>,
}

/// Replaces a file's content in one step.
fn replace(path: &Path, content: &[u8]) -> Result<(), PluginError> {
    let dir = path.parent().unwrap_or(Path::new("."));
    let write = || -> std::io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(dir)?;
        file.write_all(content)?;
        file.persist(path)?;
        Ok(())
    };
    write().map_err(unwritable(path))
}

fn unwritable<E: Into<std::io::Error>>(path: &Path) -> impl FnOnce(E) -> PluginError {
    let failed = PluginError::io(format!("could not write {}", path.display()));
    |error| failed(error.into())
}
