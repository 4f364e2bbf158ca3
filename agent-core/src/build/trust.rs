//! Which crates that a model wrote a person vouches for.
//!
//! Owns `STATE/trust/trusted.json` and what stands for a crate's content. Does not own what follows
//! from trust: where a crate is built (`confined`), and where it runs.
//!
//! Trust is kept outside of the crate, where nothing in it can claim it, and belongs to a content: a
//! crate that changes is a model's again. Everything in the crate's folder counts but what is no
//! source and changes by itself: `target`, `.git`, and the files that editors leave.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use fs_err as fs;
use serde::{Deserialize, Serialize};

use super::manifest::{CrateManifest, CrateOrigin};
use super::record;
use crate::limits::BUILD_TREE_FILES;

/// The shape of the file; a file of another shape is as good as none.
const SHAPE: u32 = 1;

/// What a person vouches for, in one state folder.
#[derive(Debug, Clone)]
pub struct Trust {
    folder: PathBuf,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Trusted {
    shape: u32,
    /// The packages, by the hashes of their contents.
    contents: BTreeMap<String, String>,
}

impl Trust {
    /// What is vouched for according to this state folder.
    pub fn of(state: &Path) -> Self {
        Self {
            folder: state.join("trust"),
        }
    }

    /// The file that says it, which may not exist.
    pub fn file(&self) -> PathBuf {
        self.folder.join("trusted.json")
    }

    /// The same manifest, as a trusted crate's where a person vouches for the present content of its
    /// folder.
    #[must_use]
    pub fn judged(&self, mut manifest: CrateManifest) -> CrateManifest {
        if manifest.origin == CrateOrigin::Written {
            let trusted = self.read().contents;
            // Where nothing is trusted, nothing needs to be read.
            let is_trusted = !trusted.is_empty()
                && content(&manifest.folder).is_ok_and(|content| trusted.contains_key(&content));
            if is_trusted {
                manifest.origin = CrateOrigin::Trusted;
            }
        }
        manifest
    }

    /// Vouches for a crate as it is now, and gives what stands for its content.
    ///
    /// # Errors
    ///
    /// The crate can't be read or holds what has no content of its own, or the state folder can't be
    /// written.
    pub fn grant(&self, manifest: &CrateManifest) -> io::Result<String> {
        let content = content(&manifest.folder)?;
        fs::create_dir_all(&self.folder)?;
        let lock = fs::File::create(self.folder.join("lock"))?;
        // Until it is closed: another process may be at it.
        lock.file().lock()?;
        let mut trusted = self.read();
        trusted.shape = SHAPE;
        let package = manifest.package.clone();
        trusted.contents.insert(content.clone(), package);
        record::replace(&self.file(), &serde_json::to_vec_pretty(&trusted)?)?;
        Ok(content)
    }

    fn read(&self) -> Trusted {
        let read = fs::read(self.file()).ok();
        read.and_then(|text| serde_json::from_slice(&text).ok())
            .filter(|trusted: &Trusted| trusted.shape == SHAPE)
            .unwrap_or_default()
    }
}

/// One hash over names and contents of all files of a crate.
fn content(folder: &Path) -> io::Result<String> {
    let mut files = Vec::new();
    add(folder, true, &mut files)?;
    files.sort();
    let mut hasher = blake3::Hasher::new();
    for file in files {
        let name = file.strip_prefix(folder).unwrap_or(&file).as_os_str();
        let text = fs::read(&file)?;
        for part in [name.as_encoded_bytes(), &text] {
            hasher
                .update(&(part.len() as u64).to_le_bytes())
                .update(part);
        }
    }
    Ok(hasher.finalize().to_hex().to_string())
}

fn add(folder: &Path, is_top: bool, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind, name) = (entry.path(), entry.file_type()?, entry.file_name());
        if kind.is_dir() {
            if !(is_top && (name == "target" || name == ".git")) {
                add(&path, false, files)?;
            }
        } else if kind.is_file() {
            if !is_editors(&name.to_string_lossy()) {
                files.push(path);
            }
        } else {
            // What a link leads to may change without the crate.
            let text = format!(
                "`{}` is no regular file: put the file itself in its place",
                path.display()
            );
            return Err(io::Error::other(text));
        }
        if files.len() > BUILD_TREE_FILES {
            let text = format!("the crate has more than {BUILD_TREE_FILES} files");
            return Err(io::Error::other(text));
        }
    }
    Ok(())
}

/// Backups and locks that come and go while a file is open in an editor.
fn is_editors(name: &str) -> bool {
    let is_swap = name.starts_with('.')
        && name
            .rsplit_once('.')
            .is_some_and(|(_, end)| end.len() == 3 && end.starts_with("sw"));
    is_swap || name.ends_with('~') || name.starts_with(".#")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "[package]\nname = \"a\"\n[package.metadata.toolsmith]\n\
                            origin = \"written\"\n[lib]\ncrate-type = [\"cdylib\"]\n[workspace]\n";

    struct Place(tempfile::TempDir);

    impl Place {
        fn new() -> Self {
            let place = Self(tempfile::tempdir().unwrap());
            place.write("a/Cargo.toml", MANIFEST);
            place.write("a/src/lib.rs", "// 1");
            place
        }

        fn write(&self, path: &str, text: &str) {
            let file = self.0.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }

        fn trust(&self) -> Trust {
            Trust::of(&self.0.path().join("state"))
        }

        fn origin(&self) -> CrateOrigin {
            let manifest = CrateManifest::read(&self.0.path().join("a")).unwrap();
            self.trust().judged(manifest).origin
        }

        fn grant(&self) -> io::Result<String> {
            let manifest = CrateManifest::read(&self.0.path().join("a")).unwrap();
            self.trust().grant(&manifest)
        }
    }

    #[test]
    fn a_content_is_trusted_and_no_other() {
        let place = Place::new();
        assert_eq!(place.origin(), CrateOrigin::Written);
        let first = place.grant().unwrap();
        assert_eq!(place.origin(), CrateOrigin::Trusted);
        for (file, text) in [
            ("a/src/lib.rs", "// 2"),
            ("a/src/other.rs", ""),
            ("a/.cargo/config.toml", ""),
            ("a/src/target/x.rs", ""),
        ] {
            place.write(file, text);
            assert_eq!(place.origin(), CrateOrigin::Written, "{file}");
            place.grant().unwrap();
            assert_eq!(place.origin(), CrateOrigin::Trusted, "{file}");
        }
        for file in [
            "a/target/debug/x",
            "a/.git/HEAD",
            "a/src/lib.rs~",
            "a/src/.lib.rs.swp",
        ] {
            place.write(file, "x");
            assert_eq!(place.origin(), CrateOrigin::Trusted, "{file}");
        }
        // Earlier contents stay trusted: an edit that is undone needs no second word.
        for file in [
            "a/src/other.rs",
            "a/.cargo/config.toml",
            "a/src/target/x.rs",
        ] {
            fs::remove_file(place.0.path().join(file)).unwrap();
        }
        place.write("a/src/lib.rs", "// 1");
        assert_eq!(place.grant().unwrap(), first);
    }

    #[test]
    fn what_a_crate_says_of_itself_is_no_trust() {
        let place = Place::new();
        place.write("a/trust/trusted.json", "{}");
        assert_eq!(place.origin(), CrateOrigin::Written);
        place.write("state/trust/trusted.json", "no JSON");
        assert_eq!(place.origin(), CrateOrigin::Written);
        // A mark that is not spelt right is no person's, either.
        for (mark, origin) in [
            ("origin = \"by hand\"", CrateOrigin::Written),
            ("origin = true", CrateOrigin::Written),
            ("", CrateOrigin::Person),
        ] {
            let manifest = MANIFEST.replace("origin = \"written\"", mark);
            place.write("a/Cargo.toml", &manifest);
            assert_eq!(place.origin(), origin, "{mark}");
        }
    }

    #[test]
    fn a_link_has_no_content_that_could_be_trusted() {
        let place = Place::new();
        let link = place.0.path().join("a/src/link.rs");
        std::os::unix::fs::symlink("/etc/hostname", &link).unwrap();
        let error = place.grant().unwrap_err().to_string();
        assert!(error.contains("is no regular file"), "{error}");
        fs::remove_file(link).unwrap();
        place.grant().unwrap();
    }
}
