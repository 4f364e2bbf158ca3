//! An edit of a crate's own sources is compiled by the crate's own command alone, without cargo.
//!
//! Owns when that is right, and the run. Does not own the command's text (`command`), nor what is
//! remembered of the outcome.
//!
//! Cargo takes a third of an edit's time to find out that nothing but the crate's own sources has
//! changed, which the look at the inputs has found out already. So the command by which cargo had
//! the crate compiled is kept, and repeated as long as everything else is as it was then: manifests,
//! lock file, configuration, dependencies, environment, compiler. Any doubt, and any failure of the
//! command, is cargo's to settle: it runs, and its outcome counts.
//!
//! Cargo's view of its target directory stays what it was: what is made lies in a folder of the
//! state. The next run of cargo compiles the crate anew because of its times, or is found out to
//! have taken an older library for new.

mod command;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use cargo_metadata::diagnostic::Diagnostic as Message;
use fs_err as fs;
use serde::{Deserialize, Serialize};

pub(super) use self::command::LeafCommand;
use super::dep_info;
use super::diagnostics::{Diagnostic, Level};
use super::environment::BuildEnvironment;
use super::error::BuildError;
use super::inputs::{Snapshot, Sources, package_of};
use super::manifest::CrateManifest;
use super::process::{Bounds, Group};
use crate::fingerprint::Fingerprint;

/// What is made lies in a folder of this name, with a number, until it is whole.
const UNFINISHED: &str = "unfinished";

/// Beginnings of variables that cargo and rustup set for the compiler without saying so. A crate
/// that reads one is cargo's to build.
const UNSAID: [&str; 5] = ["PATH", "RUSTUP_", "RUST_", "CARGO_TERM_", "CARGO_MAKEFLAGS"];

/// What a compiler of one crate has read, by its own account.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Reads {
    pub(super) files: BTreeSet<PathBuf>,
    /// Variables with their values.
    pub(super) variables: BTreeMap<String, Option<String>>,
}

impl Reads {
    fn of(dep_info: &Path, folder: &Path) -> io::Result<Self> {
        let text = fs::read_to_string(dep_info)?;
        Ok(Self {
            files: dep_info::files(&text, folder),
            variables: dep_info::variables(&text),
        })
    }

    /// What cargo's own run of the command has read.
    pub(super) fn of_command(command: &LeafCommand) -> Option<Self> {
        Self::of(&command.dep_info()?, &command.folder).ok()
    }
}

/// How a crate is compiled again after an edit of its own sources.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Recipe {
    command: LeafCommand,
    /// The compiler's program: an update replaces it.
    compiler: Fingerprint,
    /// What the crates it depends on were compiled to. Another plugin may have had one compiled
    /// from another content.
    libraries: BTreeMap<PathBuf, Fingerprint>,
    /// A hash of the variables by which programs and libraries are found.
    search_paths: String,
    /// Files that the crate's compiler reads.
    own: BTreeSet<PathBuf>,
    /// Files that the crates it depends on were made from.
    pub(super) dependencies: BTreeSet<PathBuf>,
    /// Files whose change is cargo's to judge, whoever reads them.
    reserved: BTreeSet<PathBuf>,
    /// A hash of everything that must be as it was.
    rest: String,
}

impl Recipe {
    /// The recipe after a run of cargo that compiled the crate with `command`, if it can be
    /// followed: `compiled` is everything that cargo says was read.
    pub(super) fn new(
        command: LeafCommand,
        reads: &Reads,
        compiled: &BTreeSet<PathBuf>,
        fixed: &Sources,
        manifest: &CrateManifest,
        environment: &BuildEnvironment,
    ) -> Option<Self> {
        if !are_known(&reads.variables, &command, environment) {
            return None;
        }
        let dependencies: BTreeSet<PathBuf> = compiled.difference(&reads.files).cloned().collect();
        let is_above = |file: &PathBuf| {
            package_of(file).is_some_and(|package| {
                package != manifest.folder && manifest.folder.starts_with(package)
            })
        };
        // A dependency whose folder holds the crate's may read any of the crate's files.
        if dependencies.iter().any(is_above) {
            return None;
        }
        let real = |files: &BTreeSet<PathBuf>| -> BTreeSet<PathBuf> {
            files
                .iter()
                .filter_map(|file| file.canonicalize().ok())
                .collect()
        };
        let others = real(&dependencies);
        let is_shared =
            |file: &&PathBuf| file.canonicalize().is_ok_and(|file| others.contains(&file));
        let mut reserved: BTreeSet<PathBuf> =
            reads.files.iter().filter(is_shared).cloned().collect();
        reserved.extend(
            fixed
                .files
                .iter()
                .filter(|file| **file != manifest.source)
                .cloned(),
        );
        Some(Self {
            libraries: BTreeMap::new(),
            compiler: environment.fingerprint_of(&command.program)?,
            search_paths: environment.search_paths(),
            own: reads.files.clone(),
            dependencies,
            reserved,
            rest: String::new(),
            command,
        })
    }

    /// The recipe as it links: with the libraries that the command names, and with these.
    pub(super) fn linking(mut self, libraries: impl IntoIterator<Item = PathBuf>) -> Option<Self> {
        for library in self.command.externs().into_iter().chain(libraries) {
            let fingerprint = fingerprint_of(&library)?;
            self.libraries.insert(library, fingerprint);
        }
        Some(self)
    }

    /// The recipe once these are the inputs of what was made; none where they are not sure.
    pub(super) fn based_on(mut self, inputs: &Snapshot, manifest: &CrateManifest) -> Option<Self> {
        self.rest = self.rest_of(inputs, manifest)?;
        Some(self)
    }

    /// The recipe after a run that read other files.
    fn reading(&self, reads: &Reads) -> Self {
        Self {
            own: reads.files.clone(),
            ..self.clone()
        }
    }

    /// Whether nothing has changed but what the crate's own compiler reads.
    pub(super) fn fits(
        &self,
        inputs: &Snapshot,
        manifest: &CrateManifest,
        environment: &BuildEnvironment,
    ) -> bool {
        manifest.build_script.is_none()
            && self.search_paths == environment.search_paths()
            && environment.fingerprint_of(&self.command.program) == Some(self.compiler)
            && self
                .libraries
                .iter()
                .all(|(library, then)| fingerprint_of(library).as_ref() == Some(then))
            && self.rest_of(inputs, manifest).as_ref() == Some(&self.rest)
    }

    fn rest_of(&self, inputs: &Snapshot, manifest: &CrateManifest) -> Option<String> {
        let rest = inputs.without(|path| self.is_source(path, manifest));
        rest.is_sure().then(|| {
            let mut hasher = blake3::Hasher::new();
            rest.digest(&manifest.folder, &mut hasher);
            hasher.finalize().to_hex().to_string()
        })
    }

    /// Whether a file is read by the crate's own compiler and by nobody else.
    fn is_source(&self, path: &Path, manifest: &CrateManifest) -> bool {
        let is_ours = path.starts_with(&manifest.folder)
            && (self.own.contains(path) || path.starts_with(manifest.folder.join("src")));
        let is_foreign = |other: &PathBuf| path.starts_with(other);
        if path.components().any(|part| part == Component::ParentDir) {
            // What `include_str!("../data")` names may lie anywhere.
            let places = (path.canonicalize(), manifest.folder.canonicalize());
            return is_ours
                && !self.dependencies.contains(path)
                && !self.reserved.contains(path)
                && matches!(places, (Ok(file), Ok(folder)) if package_of(&file) == Some(&folder)
                    && !self.reserved.contains(&file));
        }
        is_ours
            && !self.dependencies.iter().any(is_foreign)
            && !self.reserved.iter().any(is_foreign)
            // A folder with a manifest of its own is another package.
            && package_of(path) == Some(&manifest.folder)
    }
}

fn fingerprint_of(file: &Path) -> Option<Fingerprint> {
    Some(Fingerprint::of(&fs::metadata(file).ok()?))
}

/// What a repeated command has made.
#[derive(Debug)]
pub(super) struct Replayed {
    pub(super) library: PathBuf,
    pub(super) warnings: usize,
    pub(super) reads: Reads,
    pub(super) recipe: Recipe,
}

/// Repeats the command, and gives what it made in `folder`; nothing where it failed or left a
/// doubt.
pub(super) async fn run(
    recipe: &Recipe,
    environment: &BuildEnvironment,
    folder: &Path,
    bounds: Bounds<'_>,
) -> Result<Option<Replayed>, BuildError> {
    let Ok(group) = unfinished(folder).and_then(|folder| start(recipe, environment, &folder))
    else {
        return Ok(None);
    };
    let mut words = Words::default();
    let status = group.run(bounds, |_| {}, |line| words.take(line)).await?;
    if !status.success() {
        return Ok(None);
    }
    Ok(words.finished(recipe, environment, folder))
}

/// A new folder to write into. A compiler that a killed host left at work still writes into its own
/// and must not write into this one; where it wrote is removed.
fn unfinished(folder: &Path) -> io::Result<PathBuf> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    fs::create_dir_all(folder)?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if name.to_string_lossy().starts_with(UNFINISHED) {
            // It may be filled again while it is emptied; the next run tries again.
            drop(fs::remove_dir_all(entry.path()));
        }
    }
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let new = folder.join(format!("{UNFINISHED}-{}-{number}", std::process::id()));
    fs::create_dir(&new)?;
    Ok(new)
}

fn start(recipe: &Recipe, environment: &BuildEnvironment, unfinished: &Path) -> io::Result<Group> {
    let command = &recipe.command;
    let variables = command.variables.iter();
    let mut process = tokio::process::Command::new(&command.program);
    process
        .args(command.arguments_into(unfinished))
        .current_dir(&command.folder)
        .env_clear()
        .envs(environment.variables())
        .envs(variables.map(|(name, value)| (name, value)));
    Group::start(process)
}

/// What rustc has said.
#[derive(Debug, Default)]
struct Words {
    warnings: usize,
    library: Option<PathBuf>,
}

/// One line of it.
#[derive(Deserialize)]
#[serde(tag = "$message_type", rename_all = "snake_case")]
enum Word {
    Artifact {
        artifact: PathBuf,
        emit: String,
    },
    Diagnostic(Box<Message>),
    #[serde(other)]
    Other,
}

impl Words {
    fn take(&mut self, line: &str) {
        match serde_json::from_str(line) {
            Ok(Word::Artifact { artifact, emit }) if emit == "link" => {
                self.library = Some(artifact);
            }
            Ok(Word::Diagnostic(message)) => {
                let diagnostic = Diagnostic::from_message(*message);
                if diagnostic.is_some_and(|diagnostic| diagnostic.level == Level::Warning) {
                    self.warnings += 1;
                }
            }
            _ => {}
        }
    }

    fn finished(
        self,
        recipe: &Recipe,
        environment: &BuildEnvironment,
        folder: &Path,
    ) -> Option<Replayed> {
        let made = self.library?;
        let dep_info = recipe.command.dep_info()?;
        let dep_info = made.with_file_name(dep_info.file_name()?);
        let reads = Reads::of(&dep_info, &recipe.command.folder).ok()?;
        if !are_known(&reads.variables, &recipe.command, environment) {
            return None;
        }
        let library = folder.join(made.file_name()?);
        fs::rename(&made, &library).ok()?;
        Some(Replayed {
            library,
            warnings: self.warnings,
            recipe: recipe.reading(&reads),
            reads,
        })
    }
}

/// Whether the compiler has read only variables that it is given here as cargo gives them.
fn are_known(
    read: &BTreeMap<String, Option<String>>,
    command: &LeafCommand,
    environment: &BuildEnvironment,
) -> bool {
    read.iter().all(|(name, value)| {
        let given = command
            .variable(name)
            .or_else(|| environment.get(name).and_then(|value| value.to_str()));
        given == value.as_deref() && !UNSAID.iter().any(|unsaid| name.starts_with(unsaid))
    })
}
