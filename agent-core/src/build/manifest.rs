//! What a crate's folder says about itself, read without running cargo.
//!
//! Owns the reasons why a folder is no plugin crate, one sentence each. Does not own the full
//! meaning of a manifest, which is cargo's: what is read here is only what is needed to know
//! whether to build, and to recognise what was built.

use std::io;
use std::path::{Component, Path, PathBuf};

use fs_err as fs;
use toml::{Table, Value};

use super::sdk;

/// A crate that builds a library which can be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrateManifest {
    /// The crate's folder, absolute.
    pub folder: PathBuf,
    /// The package's name: letters, digits, `-` and `_` only.
    pub package: String,
    /// The name of the library target, as it appears in file names.
    pub library: String,
    /// The root file of the library.
    pub source: PathBuf,
    /// The build script, where the crate has one.
    pub build_script: Option<PathBuf>,
    /// Whether the crate is a workspace of its own.
    pub standalone: bool,
    /// The folder of the `tool-sdk` that the crate depends on by path.
    pub sdk: Option<PathBuf>,
    /// Who wrote the crate. As it is read, nobody vouches for what a model wrote.
    pub origin: CrateOrigin,
}

/// Who wrote a crate, and whether a person vouches for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CrateOrigin {
    /// A person.
    #[default]
    Person,
    /// A model: its manifest has `origin = "written"` under `[package.metadata.toolsmith]`.
    Written,
    /// A model, and a person vouches for what it has written.
    Trusted,
}

impl CrateOrigin {
    /// Whether the crate is built in a sandbox, and runs in one unless a person decides otherwise.
    pub fn is_confined(self) -> bool {
        self == Self::Written
    }
}

/// Why a folder is no plugin crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// The folder or the manifest can't be read; the message names it.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// There is nothing in the folder.
    #[error("`{}` is an empty folder", .folder.display())]
    Empty {
        /// The folder.
        folder: PathBuf,
    },
    /// There are files in the folder, but no manifest.
    #[error("`{}` has no Cargo.toml", .folder.display())]
    NoManifest {
        /// The folder.
        folder: PathBuf,
    },
    /// The manifest is no TOML.
    #[error("{}:{line}:{column}: {message}", .manifest.display())]
    Syntax {
        /// The manifest.
        manifest: PathBuf,
        /// The line, counted from one.
        line: usize,
        /// The column in characters, counted from one.
        column: usize,
        /// What the parser says.
        message: String,
    },
    /// The manifest describes a workspace and no package.
    #[error("`{}` describes no package", .manifest.display())]
    NoPackage {
        /// The manifest.
        manifest: PathBuf,
    },
    /// The package has no name that cargo accepts.
    #[error("`{}` must name its package with letters, digits, `-` and `_`, found {found}", .manifest.display())]
    Name {
        /// The manifest.
        manifest: PathBuf,
        /// What stands there.
        found: String,
    },
    /// The package has programs or nothing, but no library.
    #[error("the crate `{package}` has no library")]
    NoLibrary {
        /// The package.
        package: String,
    },
    /// The package has a library that only Rust crates can use.
    #[error("the library of the crate `{package}` must be built as a cdylib, found {}", listed(.found))]
    NotCdylib {
        /// The package.
        package: String,
        /// The kinds of library that are built.
        found: Vec<String>,
    },
}

impl ManifestError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Empty { .. } | Self::NoManifest { .. } => {
                "`toolsmith new NAME` makes a crate that is ready to build"
            }
            Self::NoLibrary { .. } => {
                "put the tools into `src/lib.rs` and add `[lib]` with `crate-type = [\"cdylib\", \"rlib\"]` to Cargo.toml"
            }
            Self::NotCdylib { .. } => {
                "write `crate-type = [\"cdylib\", \"rlib\"]` under `[lib]` in Cargo.toml"
            }
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

impl CrateManifest {
    /// Reads the manifest of a folder.
    pub fn read(folder: &Path) -> Result<Self, ManifestError> {
        let folder = std::path::absolute(folder)?;
        let file = folder.join("Cargo.toml");
        // A pipe of that name would keep the reader for ever.
        if fs::metadata(&file).is_ok_and(|metadata| !metadata.is_file()) {
            return Err(ManifestError::NoManifest { folder });
        }
        let text = match fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(without_manifest(folder)?);
            }
            Err(error) => return Err(error.into()),
        };
        let table: Table = text.parse().map_err(|error| syntax(&file, &text, &error))?;
        Self::from_table(folder, file, &table)
    }

    /// The crate's manifest.
    pub fn file(&self) -> PathBuf {
        self.folder.join("Cargo.toml")
    }

    /// The lock file that cargo uses for the crate: its own, or that of the workspace it is in.
    pub fn lock_file(&self) -> PathBuf {
        let workspace = if self.standalone {
            None
        } else {
            workspace_above(&self.folder)
        };
        workspace
            .as_deref()
            .unwrap_or(&self.folder)
            .join("Cargo.lock")
    }

    fn from_table(folder: PathBuf, file: PathBuf, table: &Table) -> Result<Self, ManifestError> {
        let Some(package) = table.get("package").and_then(Value::as_table) else {
            return Err(ManifestError::NoPackage { manifest: file });
        };
        let name = name(package.get("name")).map_err(|found| ManifestError::Name {
            manifest: file,
            found,
        })?;
        let library = table.get("lib").and_then(Value::as_table);
        let text = |key: &str| {
            library
                .and_then(|library| library.get(key))
                .and_then(Value::as_str)
        };
        let source = folder.join(text("path").unwrap_or("src/lib.rs"));
        if library.is_none() && !source.is_file() {
            return Err(ManifestError::NoLibrary { package: name });
        }
        let found = crate_types(library);
        if !found.iter().any(|kind| kind == "cdylib") {
            return Err(ManifestError::NotCdylib {
                package: name,
                found,
            });
        }
        Ok(Self {
            library: text("name").map_or_else(|| name.replace('-', "_"), str::to_owned),
            build_script: build_script(&folder, package),
            standalone: table.contains_key("workspace"),
            sdk: sdk_path(&folder, table),
            origin: origin(package),
            package: name,
            folder,
            source,
        })
    }
}

/// The folder of the workspace that a package lies in and is not excluded from.
pub(super) fn workspace_above(package: &Path) -> Option<PathBuf> {
    package.ancestors().skip(1).find_map(|folder| {
        let table = workspace_table(&folder.join("Cargo.toml"))?;
        let excluded = table.get("exclude").and_then(Value::as_array);
        let excluded = excluded.into_iter().flatten().filter_map(Value::as_str);
        let is_member = !excluded
            .map(|path| folder.join(path))
            .any(|path| package.starts_with(path));
        is_member.then(|| folder.to_path_buf())
    })
}

/// Whether a manifest is a workspace's; an unreadable one is nobody's.
pub(super) fn is_workspace(manifest: &Path) -> bool {
    workspace_table(manifest).is_some()
}

fn workspace_table(manifest: &Path) -> Option<Table> {
    let text = fs::read_to_string(manifest).ok()?;
    // Most manifests have no such word, and need no parsing.
    if !text.contains("workspace") {
        return None;
    }
    let mut table: Table = text.parse().ok()?;
    match table.remove("workspace") {
        Some(Value::Table(workspace)) => Some(workspace),
        _ => None,
    }
}

fn without_manifest(folder: PathBuf) -> io::Result<ManifestError> {
    let empty = fs::read_dir(&folder)?.next().is_none();
    Ok(if empty {
        ManifestError::Empty { folder }
    } else {
        ManifestError::NoManifest { folder }
    })
}

fn syntax(manifest: &Path, text: &str, error: &toml::de::Error) -> ManifestError {
    let before = error
        .span()
        .and_then(|span| text.get(..span.start))
        .unwrap_or_default();
    ManifestError::Syntax {
        manifest: manifest.to_path_buf(),
        line: before.matches('\n').count() + 1,
        column: before
            .chars()
            .rev()
            .take_while(|letter| *letter != '\n')
            .count()
            + 1,
        message: error.message().lines().collect::<Vec<_>>().join(", "),
    }
}

/// The name becomes part of file names, so nothing that could lead out of a folder is let in.
fn name(value: Option<&Value>) -> Result<String, String> {
    let Some(value) = value else {
        return Err("no name".to_owned());
    };
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    match value.as_str() {
        Some(name) if !name.is_empty() && name.chars().all(plain) => Ok(name.to_owned()),
        _ => Err(value.to_string()),
    }
}

fn crate_types(library: Option<&Table>) -> Vec<String> {
    let kinds = library
        .and_then(|library| {
            library
                .get("crate-type")
                .or_else(|| library.get("crate_type"))
        })
        .and_then(Value::as_array);
    match kinds {
        Some(kinds) => kinds
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        None => vec!["lib".to_owned()],
    }
}

fn build_script(folder: &Path, package: &Table) -> Option<PathBuf> {
    match package.get("build") {
        Some(Value::String(path)) => Some(folder.join(path)),
        Some(Value::Boolean(false)) => None,
        _ => Some(folder.join("build.rs")).filter(|file| file.is_file()),
    }
}

fn origin(package: &Table) -> CrateOrigin {
    let metadata = package.get("metadata");
    let mark = metadata.and_then(|metadata| metadata.get("toolsmith")?.get("origin"));
    // Whoever says something of it and does not say it right is not taken for a person.
    match mark {
        Some(_) => CrateOrigin::Written,
        None => CrateOrigin::Person,
    }
}

fn sdk_path(folder: &Path, table: &Table) -> Option<PathBuf> {
    let dependencies = table.get("dependencies")?.as_table()?;
    let path = dependencies.get(sdk::CRATE)?.get("path")?.as_str()?;
    let path = std::path::absolute(folder.join(path)).ok()?;
    Some(without_detours(&path))
}

/// The path without `.` and `..`, links not followed.
fn without_detours(path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(whole.pop()),
            Component::CurDir => {}
            other => whole.push(other),
        }
    }
    whole
}

fn listed(kinds: &[String]) -> String {
    let kinds: Vec<String> = kinds.iter().map(|kind| format!("`{kind}`")).collect();
    if kinds.is_empty() {
        "nothing".to_owned()
    } else {
        kinds.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(files: &[(&str, &str)]) -> (tempfile::TempDir, Result<CrateManifest, String>) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let file = folder.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let read = CrateManifest::read(folder.path());
        let place = format!("{}", folder.path().display());
        (
            folder,
            read.map_err(|error| error.to_string().replace(&place, "DIR")),
        )
    }

    fn refused(files: &[(&str, &str)]) -> String {
        read(files).1.expect_err("the folder is no plugin crate")
    }

    #[test]
    fn a_plugin_crate_says_what_it_is_called_and_depends_on() {
        let (folder, manifest) = read(&[(
            "Cargo.toml",
            "[package]\nname = \"get-time\"\nversion = \"0.1.0\"\n\
             [lib]\ncrate-type = [\"cdylib\", \"rlib\"]\n\
             [dependencies]\ntool-sdk = { path = \"/sdk/tool-sdk\" }\n[workspace]\n",
        )]);
        let folder = folder.path().to_path_buf();
        assert_eq!(
            manifest,
            Ok(CrateManifest {
                package: "get-time".to_owned(),
                library: "get_time".to_owned(),
                source: folder.join("src/lib.rs"),
                build_script: None,
                standalone: true,
                sdk: Some(PathBuf::from("/sdk/tool-sdk")),
                origin: CrateOrigin::Person,
                folder,
            })
        );
    }

    #[test]
    fn names_and_paths_of_targets_are_followed() {
        let (folder, manifest) = read(&[
            (
                "Cargo.toml",
                "[package]\nname = \"a\"\n[lib]\nname = \"b\"\npath = \"lib.rs\"\n\
                 crate-type = [\"cdylib\"]\n",
            ),
            ("build.rs", ""),
        ]);
        let folder = folder.path().to_path_buf();
        assert_eq!(
            manifest,
            Ok(CrateManifest {
                package: "a".to_owned(),
                library: "b".to_owned(),
                source: folder.join("lib.rs"),
                build_script: Some(folder.join("build.rs")),
                standalone: false,
                sdk: None,
                origin: CrateOrigin::Person,
                folder,
            })
        );
    }

    #[test]
    fn every_folder_that_is_no_plugin_crate_has_its_sentence() {
        assert_eq!(refused(&[]), "`DIR` is an empty folder");
        assert_eq!(refused(&[("README.md", "")]), "`DIR` has no Cargo.toml");
        assert_eq!(
            refused(&[("Cargo.toml", "[package]\nname = \n")]),
            "DIR/Cargo.toml:2:8: string values must be quoted, expected literal string"
        );
        assert_eq!(
            refused(&[("Cargo.toml", "[workspace]\n")]),
            "`DIR/Cargo.toml` describes no package"
        );
        assert_eq!(
            refused(&[("Cargo.toml", "[package]\n")]),
            "`DIR/Cargo.toml` must name its package with letters, digits, `-` and `_`, found no name"
        );
        assert_eq!(
            refused(&[("Cargo.toml", "[package]\nname = \"../x\"\n")]),
            "`DIR/Cargo.toml` must name its package with letters, digits, `-` and `_`, found \"../x\""
        );
        assert_eq!(
            refused(&[
                ("Cargo.toml", "[package]\nname = \"a\"\n"),
                ("src/main.rs", "")
            ]),
            "the crate `a` has no library"
        );
        assert_eq!(
            refused(&[
                ("Cargo.toml", "[package]\nname = \"a\"\n"),
                ("src/lib.rs", "")
            ]),
            "the library of the crate `a` must be built as a cdylib, found `lib`"
        );
        assert_eq!(
            refused(&[(
                "Cargo.toml",
                "[package]\nname = \"a\"\n[lib]\ncrate-type = [\"dylib\", \"rlib\"]\n"
            )]),
            "the library of the crate `a` must be built as a cdylib, found `dylib`, `rlib`"
        );
        assert!(matches!(
            CrateManifest::read(Path::new("/no/such/folder")),
            Err(ManifestError::Read(_))
        ));
    }
}
