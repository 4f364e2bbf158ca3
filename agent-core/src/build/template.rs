//! What `toolsmith new` writes: a plugin crate that is ready to build.
//!
//! Owns the files, the rules for names, and that a crate appears whole or not at all. Does not own
//! where the SDK is, which is [`super::sdk`]'s.

mod name;

use std::io;
use std::path::{Component, Path, PathBuf};

use fs_err as fs;
use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::sdk;

/// The name of the root package in the SDK's lock file for new crates.
const LOCK_ROOT: &str = "template";

/// Where that lock file is, in the SDK's folder.
const LOCK: &str = "template/Cargo.lock";

/// A crate to make.
#[derive(Debug, Clone, Copy)]
pub struct NewCrate<'a> {
    /// The crate's name, in words joined by `-`.
    pub name: &'a str,
    /// The folder that the crate's folder is made in.
    pub plugins: &'a Path,
    /// The folder of the project: an SDK inside is named by a relative path, so that the project
    /// can be moved.
    pub project: &'a Path,
    /// The folder of the `tool-sdk` that the crate depends on.
    pub sdk: &'a Path,
}

/// Why a crate was not made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NewCrateError {
    /// The name is not usable.
    #[error("`{name}` is no name for a plugin crate: {reason}")]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        reason: &'static str,
        /// A name that would do.
        suggestion: String,
    },
    /// Something of this name is there already.
    #[error("`{}` is there already", .path.display())]
    Exists {
        /// What is there.
        path: PathBuf,
    },
    /// A file can't be read or written; the message names it.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl NewCrateError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Name { suggestion, .. } => Some(format!("`{suggestion}` would do")),
            Self::Exists { .. } => Some("choose another name or remove it first".to_owned()),
            Self::Io(_) => None,
        }
    }
}

/// Makes a crate and gives its folder.
///
/// The files are written to a hidden folder beside the final one, which then gets its name in one
/// step: whoever watches the plugins folder sees the whole crate or nothing.
pub fn create(new: NewCrate<'_>) -> Result<PathBuf, NewCrateError> {
    let plugins = std::path::absolute(new.plugins)?;
    let lock = fs::read_to_string(new.sdk.join(LOCK)).ok();
    name::check(new.name, lock.as_deref().unwrap_or_default())?;
    let place = plugins.join(new.name);
    refuse_existing(&plugins, new.name)?;
    let files = files(new, &place, lock.as_deref())?;

    let unfinished = plugins.join(format!(".new-{}-{}", new.name, std::process::id()));
    // A process of the same number may have been killed here once.
    drop(fs::remove_dir_all(&unfinished));
    let written = write_all(&unfinished, &files).and_then(|()| publish(&unfinished, &place));
    if let Err(error) = written {
        drop(fs::remove_dir_all(&unfinished));
        let exists = error.kind() == io::ErrorKind::AlreadyExists;
        return Err(if exists {
            NewCrateError::Exists { path: place }
        } else {
            error.into()
        });
    }
    Ok(place)
}

/// Names that differ only in `-` and `_` would give libraries of one name.
fn refuse_existing(plugins: &Path, name: &str) -> Result<(), NewCrateError> {
    let entries = match fs::read_dir(plugins) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let plain = |name: &str| name.replace('-', "_").to_lowercase();
    for entry in entries {
        let entry = entry?;
        if plain(&entry.file_name().to_string_lossy()) == plain(name) {
            return Err(NewCrateError::Exists { path: entry.path() });
        }
    }
    Ok(())
}

fn write_all(folder: &Path, files: &[(&str, String)]) -> io::Result<()> {
    for (name, text) in files {
        let file = folder.join(name);
        fs::create_dir_all(file.parent().unwrap_or(folder))?;
        fs::write(file, text)?;
    }
    Ok(())
}

/// Gives the finished folder its name, unless something has that name by now.
fn publish(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // The file system can't refuse to replace. An empty folder is all that could be replaced.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => fs::rename(from, to),
        outcome => Ok(outcome?),
    }
}

/// The files of a new crate by their names.
fn files(
    new: NewCrate<'_>,
    place: &Path,
    lock: Option<&str>,
) -> io::Result<Vec<(&'static str, String)>> {
    let mut files = vec![
        ("Cargo.toml", manifest(new.name, &sdk_path(new, place)?)?),
        ("src/lib.rs", source(new.name)),
        (".gitignore", "/target\n".to_owned()),
    ];
    // Without a lock file cargo chooses versions anew, which is right for an SDK that has none.
    files.extend(
        lock.and_then(|lock| renamed(lock, new.name))
            .map(|lock| ("Cargo.lock", lock)),
    );
    Ok(files)
}

fn manifest(name: &str, sdk: &Path) -> io::Result<String> {
    let path = sdk.to_str().ok_or_else(|| {
        io::Error::other(format!(
            "`{}` can't be written into a manifest",
            sdk.display()
        ))
    })?;
    let path = toml::Value::from(path);
    Ok(format!(
        r#"[package]
name = "{name}"
version = "0.1.0"
edition = "2024"

[lib]
crate-type = ["cdylib", "rlib"]

[dependencies]
{} = {{ path = {path} }}

# A workspace of its own: nothing outside this folder changes how the crate is built.
[workspace]
"#,
        sdk::CRATE
    ))
}

/// A small tool that shows arguments, a default, an error, and a test.
fn source(name: &str) -> String {
    let function = name.replace('-', "_");
    format!(
        r#"//! The tools of this crate. Save the file, and a running `toolsmith dev` has the change.

use tool_sdk::prelude::*;

/// Count the words of a text and estimate how long it takes to read.
#[tool]
fn {function}(
    /// The text
    text: String,
    /// Words that are read in a minute
    #[arg(default = 200)]
    words_per_minute: u32,
) -> Result<String> {{
    let words = text.split_whitespace().count() as u64;
    if words == 0 {{
        return Err("the text has no words".into());
    }}
    let seconds = (words * 60).div_ceil(u64::from(words_per_minute.max(1)));
    Ok(format!("{{words}} words, about {{seconds}} s to read"))
}}

#[cfg(test)]
mod tests {{
    #[test]
    fn words_are_counted_and_timed() {{
        let answer = super::{function}("one two three".to_owned(), 60).unwrap();
        assert_eq!(answer, "3 words, about 3 s to read");
    }}
}}
"#
    )
}

/// The SDK as it is named in the crate's manifest.
fn sdk_path(new: NewCrate<'_>, place: &Path) -> io::Result<PathBuf> {
    let (sdk, project) = (
        std::path::absolute(new.sdk)?,
        std::path::absolute(new.project)?,
    );
    let is_inside = sdk.starts_with(&project) && place.starts_with(&project);
    Ok(if is_inside {
        relative(&sdk, place)
    } else {
        sdk
    })
}

/// The way from one folder to another, both absolute.
fn relative(to: &Path, from: &Path) -> PathBuf {
    let (to, from): (Vec<_>, Vec<_>) = (to.components().collect(), from.components().collect());
    let common = to
        .iter()
        .zip(&from)
        .take_while(|(left, right)| left == right)
        .count();
    let up = std::iter::repeat_n(Component::ParentDir, from.len() - common);
    up.chain(to.into_iter().skip(common)).collect()
}

/// The SDK's lock file for a crate of another name. Cargo keeps packages in the order of their
/// names, and takes any other order for a file that it must write anew.
fn renamed(lock: &str, name: &str) -> Option<String> {
    const MARK: &str = "[[package]]\n";
    let (head, rest) = lock.split_once(MARK)?;
    let mut packages: Vec<String> = rest
        .split(MARK)
        .map(|package| format!("{MARK}{}\n", package.trim_end()))
        .collect();
    let old = format!("{MARK}name = \"{LOCK_ROOT}\"\n");
    let root = packages
        .iter()
        .position(|package| package.starts_with(&old))?;
    let root = packages
        .remove(root)
        .replacen(&old, &format!("{MARK}name = \"{name}\"\n"), 1);
    let place = packages
        .iter()
        .take_while(|package| package_name(package) < Some(name))
        .count();
    packages.insert(place, root);
    Some(format!("{head}{}", packages.join("\n")))
}

fn package_name(package: &str) -> Option<&str> {
    package
        .lines()
        .find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))
}

#[cfg(test)]
mod tests;
