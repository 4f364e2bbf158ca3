//! Folder → index: what lies in the plugins folder, and under which name. Nothing is built,
//! loaded or judged here, and one bad entry affects no other.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::DirEntry;
use std::path::{Path, PathBuf};

use fs_err as fs;

use crate::build::{CrateManifest, ManifestError, Trust};
use crate::ids::PluginName;
use crate::plugin::LibrarySource;

/// What lies in a plugins folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    /// The plugins, by name.
    pub plugins: BTreeMap<PluginName, Found>,
    /// Entries that can't be plugins, by the name of their file or folder.
    pub refused: BTreeMap<PluginName, Refused>,
}

/// One plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// A crate that must be built.
    Crate(CrateManifest),
    /// A finished library.
    Library(LibrarySource),
}

/// One entry that can't be a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The file or folder.
    pub path: PathBuf,
    /// Why, in one sentence.
    pub reason: String,
    /// Whether another plugin has its name.
    pub conflict: bool,
}

impl Found {
    /// The file or folder.
    pub fn path(&self) -> &Path {
        match self {
            Self::Crate(manifest) => &manifest.folder,
            Self::Library(library) => &library.path,
        }
    }
}

/// Looks into a plugins folder. A folder that does not exist holds nothing. Crates that a model wrote
/// come last: they take no name from a person's.
pub fn scan(folder: &Path, trust: &Trust) -> std::io::Result<Index> {
    let mut entries = Vec::new();
    match std::fs::read_dir(folder) {
        Ok(all) => {
            for entry in all {
                entries.extend(Entry::read(&entry?));
            }
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    entries.sort();
    let mut index = Index::default();
    let mut written = Vec::new();
    for entry in entries {
        written.extend(index.take(entry, trust));
    }
    for (file_name, manifest) in written {
        index.add_written(file_name, manifest);
    }
    Ok(index)
}

/// Why nothing can be found in a plugins folder, if nothing can.
pub fn problem(folder: &Path) -> Option<String> {
    // The system's own words, without the path.
    let error = std::fs::read_dir(folder).err()?;
    let folder = folder.display();
    Some(match error.kind() {
        std::io::ErrorKind::NotFound => {
            format!("the plugins folder `{folder}` does not exist; make it, or name another one")
        }
        std::io::ErrorKind::PermissionDenied => format!(
            "the plugins folder `{folder}` can't be read: {error}; allow this user to read it"
        ),
        _ => format!("the plugins folder `{folder}` can't be read: {error}; name another one"),
    })
}

/// An entry that may be a plugin. Crates come before libraries, so that a crate wins over a
/// library of its name; then by name.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    is_library: bool,
    name: OsString,
    path: PathBuf,
}

impl Entry {
    /// Tells by what the folder itself says of its entries: nothing is asked of each of thousands of
    /// files. Where it is no library, and no folder, it is nothing.
    fn read(entry: &DirEntry) -> Option<Self> {
        let name = entry.file_name();
        if is_ignored(&name) {
            return None;
        }
        // An entry that is gone already is none.
        let kind = entry.file_type().ok()?;
        let named_library = library_name(Path::new(&name)).is_some();
        if kind.is_file() && !named_library {
            return None;
        }
        let path = entry.path();
        let is_folder = kind.is_dir() || (kind.is_symlink() && path.is_dir());
        let is_library = !is_folder && named_library;
        (is_folder || is_library).then_some(Self {
            is_library,
            name,
            path,
        })
    }
}

/// Whether a file or folder of this name is none of the host's business: editors' backups and lock
/// files, version control, and what a build is still writing.
pub(super) fn is_ignored(name: &OsStr) -> bool {
    let bytes = name.as_encoded_bytes();
    bytes.starts_with(b".") || bytes.ends_with(b"~") || bytes == b"target"
}

impl Index {
    /// The plugins that a model wrote and nobody vouches for.
    pub(super) fn written(&self) -> BTreeSet<PluginName> {
        let is_written = |found: &Found| matches!(found, Found::Crate(manifest) if manifest.origin.is_confined());
        let all = self.plugins.iter().filter(|(_, found)| is_written(found));
        all.map(|(name, _)| name.clone()).collect()
    }

    /// Takes in an entry, but for a crate that a model wrote and nobody vouches for.
    fn take(&mut self, entry: Entry, trust: &Trust) -> Option<(String, CrateManifest)> {
        let file_name = entry.name.to_string_lossy().into_owned();
        let path = entry.path;
        if !entry.is_library {
            match CrateManifest::read(&path) {
                Ok(manifest) => {
                    let manifest = trust.judged(manifest);
                    if manifest.origin.is_confined() {
                        return Some((file_name, manifest));
                    }
                    let name = PluginName::new(manifest.package.as_str());
                    self.add(name, file_name, Found::Crate(manifest));
                }
                Err(ManifestError::NotCdylib { .. }) if !uses_sdk(&path) => {}
                Err(error) => self.refuse(file_name, path, &error.to_string(), false),
            }
        } else if let Some(name) = library_name(&path) {
            let package = name.clone();
            self.add(
                PluginName::new(name),
                file_name,
                Found::Library(LibrarySource { path, package }),
            );
        }
        None
    }

    /// A name that differs from another only in `-`, `_` or case would be taken for it by people and
    /// by models.
    fn add_written(&mut self, file_name: String, manifest: CrateManifest) {
        let plain = |name: &str| name.replace('-', "_").to_lowercase();
        let wanted = plain(&manifest.package);
        let holder = self
            .plugins
            .iter()
            .find(|(name, _)| plain(name.as_str()) == wanted);
        let Some((name, found)) = holder else {
            let name = PluginName::new(manifest.package.as_str());
            self.plugins.insert(name, Found::Crate(manifest));
            return;
        };
        let holder = found.path().file_name().unwrap_or_default();
        let reason = format!(
            "a model wrote the crate `{}`, and `{}` has the plugin name `{name}`, which is the same \
             but for `-`, `_` and case: rename or remove the written one",
            manifest.package,
            holder.to_string_lossy()
        );
        self.refuse(file_name, manifest.folder, &reason, true);
    }

    fn add(&mut self, name: PluginName, file_name: String, found: Found) {
        match self.plugins.get(&name) {
            Some(holder) => {
                let holder = holder
                    .path()
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy();
                let reason = format!("`{holder}` already has the plugin name `{name}`");
                self.refuse(file_name, found.path().to_owned(), &reason, true);
            }
            None => drop(self.plugins.insert(name, found)),
        }
    }

    fn refuse(&mut self, file_name: String, path: PathBuf, reason: &str, conflict: bool) {
        self.refused.insert(
            PluginName::new(file_name),
            Refused {
                path,
                reason: in_one_line(reason),
                conflict,
            },
        );
    }
}

/// A file's name may hold any character but `/` and NUL; a reason is one sentence on one line.
fn in_one_line(reason: &str) -> String {
    let escaped = reason.chars().map(|letter| {
        if letter.is_control() {
            letter.escape_default().to_string()
        } else {
            letter.to_string()
        }
    });
    escaped.collect()
}

/// A crate that is no cdylib and does not use the SDK is a library of other crates; one that does
/// use it was meant to be a plugin.
fn uses_sdk(folder: &Path) -> bool {
    fs::read_to_string(folder.join("Cargo.toml")).is_ok_and(|text| text.contains("tool-sdk"))
}

/// The plugin's name of a library file: without `lib` and suffix.
pub(super) fn library_name(path: &Path) -> Option<String> {
    let is_library = path.extension()? == std::env::consts::DLL_EXTENSION;
    let stem = path.file_stem()?.to_string_lossy();
    let prefix = std::env::consts::DLL_PREFIX;
    is_library.then(|| stem.strip_prefix(prefix).unwrap_or(&stem).to_owned())
}
