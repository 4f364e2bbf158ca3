//! Folder → index: what lies in the plugins folder, and under which name. Nothing is built,
//! loaded or judged here, and one bad entry affects no other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fs_err as fs;

use crate::build::{CrateManifest, ManifestError};
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

/// Looks into a plugins folder. A folder that does not exist holds nothing.
pub fn scan(folder: &Path) -> std::io::Result<Index> {
    let mut paths = Vec::new();
    match fs::read_dir(folder) {
        Ok(entries) => {
            for entry in entries {
                paths.push(entry?.path());
            }
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    // Crates before libraries, so that a crate wins over a library of its name; then by name.
    paths.sort_by_key(|path| (!path.is_dir(), path.file_name().map(ToOwned::to_owned)));
    let mut index = Index::default();
    for path in paths {
        index.take(path);
    }
    Ok(index)
}

impl Index {
    fn take(&mut self, path: PathBuf) {
        let file_name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        // Editors' backups and lock files, version control, and what a build is still writing.
        if file_name.starts_with('.') || file_name.ends_with('~') || file_name == "target" {
            return;
        }
        if path.is_dir() {
            match CrateManifest::read(&path) {
                Ok(manifest) => {
                    let name = PluginName::new(manifest.package.as_str());
                    self.add(name, file_name, Found::Crate(manifest));
                }
                Err(ManifestError::NotCdylib { .. }) if !uses_sdk(&path) => {}
                Err(error) => self.refuse(file_name, path, error.to_string(), false),
            }
        } else if let Some(name) = library_name(&path) {
            let package = name.clone();
            self.add(
                PluginName::new(name),
                file_name,
                Found::Library(LibrarySource { path, package }),
            );
        }
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
                self.refuse(file_name, found.path().to_owned(), reason, true);
            }
            None => drop(self.plugins.insert(name, found)),
        }
    }

    fn refuse(&mut self, file_name: String, path: PathBuf, reason: String, conflict: bool) {
        self.refused.insert(
            PluginName::new(file_name),
            Refused {
                path,
                reason,
                conflict,
            },
        );
    }
}

/// A crate that is no cdylib and does not use the SDK is a library of other crates; one that does
/// use it was meant to be a plugin.
fn uses_sdk(folder: &Path) -> bool {
    fs::read_to_string(folder.join("Cargo.toml")).is_ok_and(|text| text.contains("tool-sdk"))
}

/// The plugin's name of a library file: without `lib` and suffix.
fn library_name(path: &Path) -> Option<String> {
    let is_library = path.extension()? == std::env::consts::DLL_EXTENSION;
    let stem = path.file_stem()?.to_string_lossy();
    let prefix = std::env::consts::DLL_PREFIX;
    is_library.then(|| stem.strip_prefix(prefix).unwrap_or(&stem).to_owned())
}
