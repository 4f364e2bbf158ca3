//! What a crate is made of, and whether that is still what it was.
//!
//! Owns the look at files: which ones count, and their hashes. Does not own what is remembered
//! between builds, which is [`super::record`]'s, nor what follows from a change, which is
//! [`super::Builder`]'s.
//!
//! Times lie: an older file may be restored with its time, a clock may be set back. So contents are
//! compared, by hash. A hash is only computed anew where the file's fingerprint has changed or is
//! too young to be trusted.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use fs_err as fs;
use serde::{Deserialize, Serialize};

use super::manifest::{CrateManifest, is_workspace, workspace_above};
use super::sdk;
use crate::fingerprint::{Fingerprint, now};
use crate::limits::BUILD_TREE_FILES;

/// Stands for the content of a file that can't be read.
const UNREADABLE: &str = "unreadable";

/// A file as it was when it was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Seen {
    #[serde(flatten)]
    fingerprint: Fingerprint,
    /// The content's hash; empty if the content is not known for sure.
    pub(super) hash: String,
}

impl Seen {
    /// Looks at a file, whose content is not read again if it is the one that is `known`.
    /// Nothing is seen where there is no file.
    pub(super) fn look(path: &Path, known: Option<&Self>, taken: i64) -> io::Result<Option<Self>> {
        let metadata = match fs::metadata(path) {
            Ok(metadata) if metadata.is_file() => metadata,
            Ok(_) => return Ok(None),
            Err(error) if is_absence(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        let fingerprint = Fingerprint::of(&metadata);
        if let Some(known) = known
            && known.fingerprint == fingerprint
            && !known.hash.is_empty()
            && !fingerprint.is_fresh_at(taken)
        {
            return Ok(Some(known.clone()));
        }
        let mut hasher = blake3::Hasher::new();
        let hash = match fs::File::open(path)
            .and_then(|file| hasher.update_reader(file).map(|_| ()))
        {
            Ok(()) => hasher.finalize().to_hex().to_string(),
            Err(error) if is_absence(&error) => return Ok(None),
            // Whether the file is needed is the compiler's to say.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => UNREADABLE.to_owned(),
            Err(error) => return Err(error),
        };
        Ok(Some(Self { fingerprint, hash }))
    }

    /// Whether the content is known.
    fn is_sure(&self) -> bool {
        !self.hash.is_empty() && self.hash != UNREADABLE
    }

    /// Whether the file was so young at `moment` that its fingerprint can't be trusted.
    pub(super) fn is_young_at(&self, moment: i64) -> bool {
        self.fingerprint.is_fresh_at(moment)
    }

    /// The same file with a content that nobody can vouch for.
    fn doubted(mut self) -> Self {
        self.hash.clear();
        self
    }
}

fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Which files count.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Sources {
    /// Single files, absent ones too: their appearance is a change.
    pub(super) files: BTreeSet<PathBuf>,
    /// Folders of which every file counts, files that appear later too.
    pub(super) trees: BTreeSet<PathBuf>,
}

impl Sources {
    /// What counts for every crate, whether it was ever built or not.
    pub(super) fn of(manifest: &CrateManifest, cargo_home: Option<&Path>) -> Self {
        let mut files = BTreeSet::from([
            manifest.file(),
            manifest.source.clone(),
            manifest.folder.join("build.rs"),
            manifest.lock_file(),
        ]);
        files.extend(manifest.build_script.clone());
        for folder in manifest.folder.ancestors() {
            files.extend(configuration_of(folder));
        }
        files.extend(cargo_home.map(|home| home.join("config.toml")));
        let mut trees = BTreeSet::from([manifest.folder.join("src")]);
        if manifest.build_script.is_some() {
            // Unless it says otherwise, a build script depends on the whole package.
            trees.insert(manifest.folder.clone());
        }
        let mut sources = Self { files, trees };
        sources.add_manifests_above(&manifest.folder, manifest.standalone);
        sources
    }

    /// The same with the SDK's sources, for a crate of which the compiler has said nothing yet: an
    /// SDK that was unpacked a moment ago would otherwise be doubted, and built a second time.
    pub(super) fn before_first_build(manifest: &CrateManifest, cargo_home: Option<&Path>) -> Self {
        let mut sources = Self::of(manifest, cargo_home);
        if let Some(sdk) = &manifest.sdk {
            sources.trees.insert(sdk.join("src"));
            sources
                .trees
                .insert(sdk.with_file_name(sdk::MACROS).join("src"));
        }
        sources
    }

    /// Adds what the compiler said it has read, and the manifests of the packages it lies in.
    /// What lies in `target` was made by the build itself.
    pub(super) fn add_compiled(
        &mut self,
        compiled: &BTreeSet<PathBuf>,
        target: &Path,
        manifest: &CrateManifest,
    ) {
        let sdk = manifest.sdk.as_deref().and_then(Path::parent);
        let mut packages = BTreeSet::new();
        for path in compiled.iter().filter(|path| !path.starts_with(target)) {
            if path.is_dir() {
                self.trees.insert(path.clone());
                continue;
            }
            self.files.insert(path.clone());
            packages.extend(package_of(path).map(Path::to_path_buf));
        }
        for package in packages {
            let script = package.join("build.rs");
            // Unless it says otherwise, a build script depends on the whole package. The SDK's does.
            let is_sdk = sdk.is_some() && package.parent() == sdk;
            if !is_sdk && package != manifest.folder && script.is_file() {
                self.trees.insert(package.clone());
            }
            self.files.insert(script);
            let standalone = is_workspace(&package.join("Cargo.toml"));
            self.add_manifests_above(&package, standalone);
        }
    }

    fn add_manifests_above(&mut self, package: &Path, standalone: bool) {
        self.files.insert(package.join("Cargo.toml"));
        if !standalone {
            self.files
                .extend(workspace_above(package).map(|folder| folder.join("Cargo.toml")));
        }
    }
}

/// The folder of the package that a file lies in.
pub(super) fn package_of(path: &Path) -> Option<&Path> {
    path.ancestors()
        .skip(1)
        .find(|folder| folder.join("Cargo.toml").is_file())
}

/// Files in a folder that change how cargo and rustup behave in it and below it.
fn configuration_of(folder: &Path) -> [PathBuf; 4] {
    [
        ".cargo/config.toml",
        ".cargo/config",
        "rust-toolchain.toml",
        "rust-toolchain",
    ]
    .map(|name| folder.join(name))
}

/// Every file that counts, as it was at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Snapshot {
    /// When the look began, in nanoseconds of the system's clock.
    pub(super) taken: i64,
    /// The files; nothing where there is none.
    pub(super) files: BTreeMap<PathBuf, Option<Seen>>,
    /// Whether anything differs from the known snapshot, be it a fingerprint alone.
    #[serde(skip)]
    pub(super) moved: bool,
}

impl Snapshot {
    /// Looks at every file that counts; only what differs from a `known` snapshot is read.
    pub(super) fn take(sources: &Sources, known: Option<&Self>) -> io::Result<Self> {
        let taken = now();
        let mut paths = sources.files.clone();
        for tree in &sources.trees {
            add_tree(tree, &mut paths)?;
        }
        let mut files = BTreeMap::new();
        let mut moved = false;
        for path in paths {
            let before = known.and_then(|known| known.files.get(&path)?.as_ref());
            let moment = known.map_or(i64::MIN, |known| known.taken);
            let seen = Seen::look(&path, before, moment)?;
            let young = |seen: &Seen| seen.is_young_at(moment);
            moved |= seen.as_ref() != before || seen.as_ref().is_some_and(young);
            files.insert(path, seen);
        }
        Ok(Self {
            taken,
            files,
            moved,
        })
    }

    /// The content of a file at that moment.
    pub(super) fn hash(&self, path: &Path) -> Option<&str> {
        self.files
            .get(path)?
            .as_ref()
            .map(|seen| seen.hash.as_str())
    }

    /// Whether two snapshots hold the same files with the same contents.
    pub(super) fn has_content_of(&self, other: &Self) -> bool {
        let contents = |snapshot: &Self| -> Vec<(PathBuf, Option<String>)> {
            let files = snapshot.files.iter();
            files
                .map(|(path, seen)| (path.clone(), seen.as_ref().map(|seen| seen.hash.clone())))
                .collect()
        };
        contents(self) == contents(other)
            && !self
                .files
                .values()
                .flatten()
                .any(|seen| seen.hash.is_empty())
    }

    /// Whether the content of every file is known.
    pub(super) fn is_sure(&self) -> bool {
        self.files.values().flatten().all(Seen::is_sure)
    }

    /// The snapshot without some files.
    pub(super) fn without(&self, is_left_out: impl Fn(&Path) -> bool) -> Self {
        let files = self.files.iter();
        let files = files.filter(|(path, _)| !is_left_out(path));
        Self {
            files: files
                .map(|(path, seen)| (path.clone(), seen.clone()))
                .collect(),
            ..*self
        }
    }

    /// Puts in what is not sure to be what the compiler read: `self` was taken after a build that
    /// began with the snapshot `before`. Says whether everything is sure.
    pub(super) fn doubt_what_changed_since(&mut self, before: &Self, lock: &Path) -> bool {
        let mut is_sure = true;
        for (path, seen) in &mut self.files {
            // Cargo itself writes the lock file, before it compiles.
            if path == lock {
                continue;
            }
            match before.files.get(path) {
                // Written while the compiler ran: it may have read either content. The older one
                // is kept, so that the next look finds a change.
                Some(old)
                    if old.as_ref().map(|old| &old.hash) != seen.as_ref().map(|new| &new.hash) =>
                {
                    seen.clone_from(old);
                    is_sure = false;
                }
                // The same content as before may have been another in between.
                Some(old) => is_sure &= old == seen,
                None => {
                    let doubtful = |seen: &Seen| seen.is_young_at(before.taken);
                    if seen.as_ref().is_some_and(doubtful) {
                        *seen = seen.take().map(Seen::doubted);
                        is_sure = false;
                    }
                }
            }
        }
        is_sure
    }

    /// One hash over all names and contents, names below `folder` without it.
    pub(super) fn digest(&self, folder: &Path, hasher: &mut blake3::Hasher) {
        for (path, seen) in &self.files {
            let name = path
                .strip_prefix(folder)
                .unwrap_or(path)
                .as_os_str()
                .as_encoded_bytes();
            hasher
                .update(&(name.len() as u64).to_le_bytes())
                .update(name);
            // A hash is hexadecimal, so `-` stands for no file and nothing else.
            hasher
                .update(seen.as_ref().map_or("-", |seen| &seen.hash).as_bytes())
                .update(b"\n");
        }
    }
}

/// Adds the files of a folder and of the folders in it. Hidden files and editors' backups are
/// never sources; links to folders are not followed, they may lead in circles.
fn add_tree(root: &Path, paths: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    let mut folders = vec![root.to_path_buf()];
    let mut count = 0_usize;
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if is_absence(&error) => continue,
            Err(error) => return Err(error),
        };
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.as_encoded_bytes();
            if name.starts_with(b".") || name.ends_with(b"~") {
                continue;
            }
            count += 1;
            if count > BUILD_TREE_FILES {
                let text = format!(
                    "`{}` has more than {BUILD_TREE_FILES} files",
                    root.display()
                );
                return Err(io::Error::other(text));
            }
            if entry.file_type()?.is_dir() {
                // Cargo marks its output folders; what lies in them is nobody's source.
                if !entry.path().join("CACHEDIR.TAG").is_file() {
                    folders.push(entry.path());
                }
            } else {
                paths.insert(entry.path());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
