//! The compile command of a crate, as cargo has told it.
//!
//! Owns which commands can be repeated, and what in one is changed for that. Does not run it.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::build::manifest::CrateManifest;

/// How cargo had a plugin crate compiled: one rustc that makes a cdylib of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LeafCommand {
    /// Variables that cargo sets for the compiler.
    pub(super) variables: Vec<(String, String)>,
    pub(super) program: PathBuf,
    arguments: Vec<String>,
    /// The folder that it runs in.
    pub(super) folder: PathBuf,
}

impl LeafCommand {
    /// Reads the words of a command, if it is the crate's own and one that can be repeated.
    pub(crate) fn of(words: Vec<String>, manifest: &CrateManifest) -> Option<Self> {
        let mut words = words.into_iter().peekable();
        let mut variables = Vec::new();
        while let Some((name, value)) = words.peek().and_then(|word| assignment(word)) {
            variables.push((name, value));
            words.next();
        }
        let program = PathBuf::from(words.next()?);
        let arguments: Vec<String> = words.collect();
        // Cargo's words can't tell every path, and an argument file may be gone.
        let is_doubtful = |text: &String| text.contains('\u{fffd}') || text.starts_with('@');
        if arguments.iter().any(is_doubtful) {
            return None;
        }
        // The compiler runs in the workspace's folder and is told the source relative to it.
        let lock = manifest.lock_file();
        let folders = [Some(manifest.folder.as_path()), lock.parent()];
        let is_source = |folder: &Path, argument: &String| {
            !argument.starts_with('-') && folder.join(argument) == manifest.source
        };
        let folder = folders
            .into_iter()
            .flatten()
            .find(|folder| arguments.iter().any(|argument| is_source(folder, argument)))?;
        let command = Self {
            variables,
            program,
            folder: folder.to_path_buf(),
            arguments,
        };
        let package = command.variable("CARGO_MANIFEST_DIR").map(Path::new);
        let fits = package == Some(&manifest.folder)
            && command.only("--crate-type") == Some("cdylib")
            && command.only("--out-dir").is_some()
            && command.only("--crate-name") == Some(&manifest.library.replace('-', "_"))
            && command.has("--emit=dep-info,link")
            && command.has("--error-format=json");
        fits.then_some(command)
    }

    /// What rustc itself wrote of the files and variables that it has read.
    pub(super) fn dep_info(&self) -> Option<PathBuf> {
        let extra = self
            .arguments
            .iter()
            .find_map(|argument| argument.strip_prefix("extra-filename="));
        let name = self.only("--crate-name")?;
        let file = format!("{name}{}.d", extra.unwrap_or_default());
        Some(Path::new(self.only("--out-dir")?).join(file))
    }

    /// The libraries that it names.
    pub(super) fn externs(&self) -> Vec<PathBuf> {
        let pairs = self.arguments.windows(2);
        let named = pairs.filter_map(|pair| match pair {
            [option, value] if option == "--extern" => value.split_once('='),
            _ => None,
        });
        named.map(|(_, file)| PathBuf::from(file)).collect()
    }

    /// The arguments with another folder for what is made.
    pub(super) fn arguments_into(&self, folder: &Path) -> Vec<std::ffi::OsString> {
        let mut arguments = Vec::new();
        let mut is_folder = false;
        for argument in &self.arguments {
            arguments.push(
                if std::mem::replace(&mut is_folder, argument == "--out-dir") {
                    folder.into()
                } else {
                    argument.into()
                },
            );
        }
        arguments
    }

    pub(super) fn variable(&self, wanted: &str) -> Option<&str> {
        let mut variables = self.variables.iter();
        variables
            .find(|(name, _)| name == wanted)
            .map(|(_, value)| value.as_str())
    }

    fn has(&self, wanted: &str) -> bool {
        self.arguments.iter().any(|argument| argument == wanted)
    }

    /// The value of an option that is given once, in two words.
    fn only(&self, option: &str) -> Option<&str> {
        let mut values = self.arguments.windows(2).filter_map(|pair| match pair {
            [name, value] if name == option => Some(value.as_str()),
            _ => None,
        });
        values.next().filter(|_| values.next().is_none())
    }
}

/// A word in front of the program that sets a variable.
fn assignment(word: &str) -> Option<(String, String)> {
    let (name, value) = word.split_once('=')?;
    let plain = |letter: char| letter == '_' || letter.is_ascii_alphanumeric();
    (!name.is_empty() && name.chars().all(plain)).then(|| (name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::CrateOrigin;

    fn manifest() -> CrateManifest {
        CrateManifest {
            folder: PathBuf::from("/p/a b"),
            package: "a-b".to_owned(),
            library: "a_b".to_owned(),
            source: PathBuf::from("/p/a b/src/lib.rs"),
            build_script: None,
            standalone: true,
            sdk: None,
            origin: CrateOrigin::Person,
        }
    }

    const COMMAND: &str = "CARGO=/c CARGO_MANIFEST_DIR='/p/a b' CARGO_PKG_AUTHORS='' \
        CARGO_PKG_DESCRIPTION='it'\\''s\ntwo' /r/rustc --crate-name a_b --edition=2024 src/lib.rs \
        --error-format=json --crate-type cdylib --emit=dep-info,link -C metadata=1 --out-dir /t/deps \
        -C incremental=/t/i --extern 'noprelude:x=/t/libx=.rlib' --extern proc_macro --cfg 'feature=\"x\"'";

    fn read(text: &str) -> Option<LeafCommand> {
        LeafCommand::of(shlex::split(text).unwrap(), &manifest())
    }

    #[test]
    fn the_crates_own_command_is_read_with_what_cargo_sets() {
        let command = read(COMMAND).unwrap();
        assert_eq!(command.program, Path::new("/r/rustc"));
        assert_eq!(command.folder, Path::new("/p/a b"));
        assert_eq!(command.variable("CARGO_PKG_AUTHORS"), Some(""));
        assert_eq!(command.variable("CARGO_PKG_DESCRIPTION"), Some("it's\ntwo"));
        assert_eq!(command.dep_info(), Some(PathBuf::from("/t/deps/a_b.d")));
        assert_eq!(command.externs(), [PathBuf::from("/t/libx=.rlib")]);
        let arguments = command.arguments_into(Path::new("/o"));
        assert_eq!(arguments.len(), command.arguments.len());
        assert!(arguments.windows(2).any(|pair| pair == ["--out-dir", "/o"]));
        assert!(!arguments.iter().any(|argument| argument == "/t/deps"));

        let named = COMMAND.replace("metadata=1", "metadata=1 -C extra-filename=-1f");
        let command = read(&named).unwrap();
        assert_eq!(command.dep_info(), Some(PathBuf::from("/t/deps/a_b-1f.d")));
    }

    #[test]
    fn other_commands_are_not_repeated() {
        for (from, to) in [
            ("cdylib", "rlib"),
            ("cdylib", "cdylib --crate-type rlib"),
            ("dep-info,link", "dep-info,metadata,link"),
            ("/p/a b'", "/p/other'"),
            ("src/lib.rs", "build.rs"),
            ("src/lib.rs", "src/lib.rs @/t/arguments"),
            ("a_b", "build_script_build"),
            ("/t/i", "/t/\u{fffd}"),
            ("--error-format=json", ""),
            ("--out-dir /t/deps", ""),
        ] {
            assert_eq!(read(&COMMAND.replace(from, to)), None, "{to}");
        }
    }

    #[test]
    fn a_member_is_compiled_from_its_workspaces_folder() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let workspace = "[workspace]\nmembers = [\"m\"]\n";
        fs_err::write(root.join("Cargo.toml"), workspace).unwrap();
        let member = CrateManifest {
            folder: root.join("m"),
            source: root.join("m/src/lib.rs"),
            standalone: false,
            ..manifest()
        };
        let text = COMMAND
            .replace("'/p/a b'", &member.folder.display().to_string())
            .replace("src/lib.rs", "m/src/lib.rs");
        let command = LeafCommand::of(shlex::split(&text).unwrap(), &member).unwrap();
        assert_eq!(command.folder, root);
    }
}
