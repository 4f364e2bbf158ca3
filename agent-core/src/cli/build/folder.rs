//! A folder of finished libraries with its `manifest.json`.
//!
//! Files are written beside their place and renamed, so that a host that watches the folder never
//! sees half of one. Only what an earlier run has put there, and is still as that run left it, is
//! ever removed.

use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use fs_err as fs;

use super::super::CommandError;
use super::super::contract::{FinishedLibrary, Manifest};
use crate::ids::{ContentHash, PluginName};
use crate::plugin::store::StoredLibrary;

/// The manifest's file name.
const MANIFEST: &str = "manifest.json";

/// The version of the manifest's shape.
const SCHEMA: u32 = 1;

/// The folder.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// What an earlier run has put there.
    before: Option<Manifest>,
}

impl Folder {
    /// Makes the folder where there is none. One in the plugins folder would be taken for plugins.
    pub(super) fn open(path: &Path, plugins: &Path) -> Result<Self, CommandError> {
        let shown = path.display();
        if real(path).starts_with(real(plugins)) {
            let text = format!(
                "finished libraries can't be written to `{shown}`, which lies in the plugins \
                 folder: name a folder outside of it with --out"
            );
            return Err(CommandError::usage(text));
        }
        if path.exists() && !path.is_dir() {
            let text = format!("`{shown}` is no folder: name one with --out");
            return Err(CommandError::usage(text));
        }
        fs::create_dir_all(path).map_err(CommandError::failed)?;
        Ok(Self {
            path: path.to_owned(),
            before: read(&path.join(MANIFEST))?,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Puts a library in its place, unless it is there.
    pub(super) fn put(&self, file: &str, library: &StoredLibrary) -> Result<(), String> {
        if self.holds(file, library.hash) {
            return Ok(());
        }
        let bytes = fs::read(&library.path).map_err(|error| error.to_string())?;
        if ContentHash::of(&bytes) != library.hash {
            return Err(format!(
                "the private copy `{}` was changed: remove it and build again",
                library.path.display()
            ));
        }
        self.replace(file, &bytes, 0o755)
            .map_err(|error| format!("`{file}` can't be written: {error}"))
    }

    /// Whether a file has this content.
    fn holds(&self, file: &str, hash: ContentHash) -> bool {
        let path = self.path.join(file);
        path.is_file() && fs::read(path).is_ok_and(|bytes| ContentHash::of(&bytes) == hash)
    }

    /// Removes what no plugin makes any more, and writes down what is there. What plugins that
    /// failed have left from before stays.
    pub(super) fn conclude(
        &self,
        profile: &str,
        mut libraries: Vec<FinishedLibrary>,
        failed: &[&PluginName],
    ) -> Result<Manifest, CommandError> {
        for old in self.kept_from_before() {
            if libraries.iter().any(|new| new.file == old.file) {
                continue;
            }
            if failed.contains(&&old.plugin) {
                libraries.push(self.with_profile(old, profile));
            } else {
                fs::remove_file(self.path.join(&old.file)).map_err(CommandError::failed)?;
            }
        }
        libraries.sort_by(|one, other| one.plugin.cmp(&other.plugin));
        let manifest = Manifest {
            schema_version: SCHEMA,
            profile: profile.to_owned(),
            libraries,
        };
        let mut text = serde_json::to_vec_pretty(&manifest).map_err(CommandError::failed)?;
        text.push(b'\n');
        self.replace(MANIFEST, &text, 0o644)
            .map_err(CommandError::failed)?;
        Ok(manifest)
    }

    /// What an earlier run has put there and is still as it was then. A manifest is a file that
    /// anybody can write: what it names must lie in the folder itself.
    fn kept_from_before(&self) -> impl Iterator<Item = &FinishedLibrary> {
        let libraries = self.before.iter().flat_map(|before| &before.libraries);
        libraries.filter(|old| is_file_name(&old.file) && self.holds(&old.file, old.hash))
    }

    /// How it was compiled then, where that is another way than now.
    fn with_profile(&self, old: &FinishedLibrary, now: &str) -> FinishedLibrary {
        let before = self.before.as_ref().map(|before| before.profile.clone());
        let profile = old.profile.clone().or(before);
        FinishedLibrary {
            profile: profile.filter(|profile| profile != now),
            ..old.clone()
        }
    }

    /// Replaces a file in one step. Others may read what this process makes as far as its umask
    /// lets them.
    fn replace(&self, file: &str, content: &[u8], mode: u32) -> io::Result<()> {
        // A host that watches the folder passes over names that begin with a dot.
        let mut new = tempfile::Builder::new()
            .prefix(".new-")
            .permissions(std::fs::Permissions::from_mode(mode))
            .tempfile_in(&self.path)?;
        new.write_all(content)?;
        new.persist(self.path.join(file))
            .map_err(|error| error.error)?;
        Ok(())
    }
}

fn read(file: &Path) -> Result<Option<Manifest>, CommandError> {
    let text = match fs::read(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(CommandError::failed(error)),
    };
    // Somebody else's file of that name must not be lost.
    let manifest: Manifest = serde_json::from_slice(&text).map_err(|error| {
        let text = format!(
            "`{}` is no manifest of finished libraries ({error}): remove it, or name another \
             folder with --out",
            file.display()
        );
        CommandError::usage(text)
    })?;
    if manifest.schema_version == SCHEMA {
        return Ok(Some(manifest));
    }
    let text = format!(
        "`{}` was written by another version of this command (expected schemaVersion {SCHEMA}, \
         found {}): remove it, or name another folder with --out",
        file.display(),
        manifest.schema_version
    );
    Err(CommandError::usage(text))
}

fn is_file_name(name: &str) -> bool {
    let mut components = Path::new(name).components();
    matches!(
        (components.next(), components.next()),
        (Some(Component::Normal(only)), None) if only == name
    )
}

/// The path with its links followed, as far as it exists.
fn real(path: &Path) -> PathBuf {
    let existing = path.ancestors().find_map(|ancestor| {
        let real = ancestor.canonicalize().ok()?;
        Some((real, path.strip_prefix(ancestor).ok()?))
    });
    match existing {
        Some((real, rest)) => {
            let mut whole = real;
            for component in rest.components() {
                match component {
                    Component::ParentDir => drop(whole.pop()),
                    Component::Normal(name) => whole.push(name),
                    _ => {}
                }
            }
            whole
        }
        None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifest_names_files_of_its_own_folder_only() {
        for name in ["liba.so", "a"] {
            assert!(is_file_name(name), "{name}");
        }
        for name in [
            "", ".", "..", "../a.so", "/a.so", "a/b.so", "a.so/", "./a.so",
        ] {
            assert!(!is_file_name(name), "{name}");
        }
    }

    #[test]
    fn links_and_detours_do_not_hide_where_a_folder_lies() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir(root.join("plugins")).unwrap();
        std::os::unix::fs::symlink(root.join("plugins"), root.join("link")).unwrap();
        for (path, expected) in [
            ("plugins", "plugins"),
            ("plugins/a/b", "plugins/a/b"),
            ("link/a", "plugins/a"),
            ("x/../plugins/a", "plugins/a"),
            ("plugins/../dist", "dist"),
        ] {
            assert_eq!(real(&root.join(path)), root.join(expected), "{path}");
        }
    }
}
