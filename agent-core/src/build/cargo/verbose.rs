//! What cargo says only when it is asked to say more (`-vv`).
//!
//! Owns taking it out of the lines that people see, and the crate's own compile command in it. Does
//! not own what the command is good for, which is [`crate::build::replay`]'s.

use std::borrow::Cow;

use crate::build::manifest::CrateManifest;
use crate::build::replay::LeafCommand;

/// Longest command, in lines: a package's description may have several.
const LINES: usize = 256;

/// Takes the details out of a run's lines.
pub(super) struct Details<'a> {
    manifest: &'a CrateManifest,
    /// A command of which more lines follow, with their number.
    begun: Option<(String, usize)>,
    leaf: Option<LeafCommand>,
}

impl<'a> Details<'a> {
    pub(super) fn new(manifest: &'a CrateManifest) -> Self {
        Self {
            manifest,
            begun: None,
            leaf: None,
        }
    }

    /// How the crate itself was compiled.
    pub(super) fn leaf(self) -> Option<LeafCommand> {
        self.leaf
    }

    /// The line as it would be without details, if there would be one.
    pub(super) fn take<'l>(&mut self, line: &'l str) -> Option<Cow<'l, str>> {
        if let Some((begun, lines)) = self.begun.take() {
            self.command(format!("{begun}\n{line}"), lines + 1);
            return None;
        }
        let mut words = line.trim_start().splitn(2, ' ');
        match (words.next().unwrap_or_default(), words.next()) {
            ("Running", Some(command)) if command.starts_with('`') => {
                self.command(command.to_owned(), 1);
                None
            }
            ("Fresh" | "Dirty", Some(_)) if line.starts_with("  ") => None,
            // What a build script prints, after its package's name and version.
            _ if line.starts_with('[') => None,
            _ => Some(without_environment(line)),
        }
    }

    fn command(&mut self, text: String, lines: usize) {
        let words = text
            .strip_prefix('`')
            .and_then(|text| shlex::split(text.strip_suffix('`')?));
        match words {
            Some(words) => {
                if let Some(leaf) = LeafCommand::of(words, self.manifest) {
                    self.leaf = Some(leaf);
                }
            }
            None if lines < LINES => self.begun = Some((text, lines)),
            None => {}
        }
    }
}

/// A failure's line names the command; its environment is of no use to people.
fn without_environment(line: &str) -> Cow<'_, str> {
    let Some((before, command)) = line.split_once("process didn't exit successfully: `") else {
        return Cow::Borrowed(line);
    };
    let Some((command, status)) = command.rsplit_once('`') else {
        return Cow::Borrowed(line);
    };
    let Some(words) = shlex::split(command) else {
        return Cow::Borrowed(line);
    };
    let words = words.iter().skip_while(|word| is_assignment(word));
    let Ok(command) = shlex::try_join(words.map(String::as_str)) else {
        return Cow::Borrowed(line);
    };
    Cow::Owned(format!(
        "{before}process didn't exit successfully: `{command}`{status}"
    ))
}

/// Whether a word in front of a program sets a variable.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::CrateOrigin;
    use std::path::PathBuf;

    fn manifest() -> CrateManifest {
        CrateManifest {
            folder: PathBuf::from("/p/a b"),
            package: "a".to_owned(),
            library: "a".to_owned(),
            source: PathBuf::from("/p/a b/src/lib.rs"),
            build_script: None,
            standalone: true,
            sdk: None,
            origin: CrateOrigin::Person,
        }
    }

    #[test]
    fn only_the_lines_of_a_quiet_run_are_left() {
        let manifest = manifest();
        let mut details = Details::new(&manifest);
        let lines = [
            "       Fresh serde v1.0.0",
            "       Dirty a v0.1.0 (/p/a b): the file `src/lib.rs` has changed",
            "   Compiling a v0.1.0 (/p/a b)",
            "     Running `A='x",
            "[not a build script] ` y",
            "' rustc --crate-name b b.rs`",
            "     Running `/t/build-script-build`",
            "[openssl-sys 0.9.0] cargo:rerun-if-env-changed=X",
            "error: failed to run custom build command for `x v0.1.0`",
            "  process didn't exit successfully: `A_B='1 2' C= /t/build-script 'a b'` (exit status: 1)",
            "    Finished `dev` profile [unoptimized] target(s) in 0.2s",
        ];
        let left: Vec<_> = lines.iter().filter_map(|line| details.take(line)).collect();
        assert_eq!(
            left,
            [
                "   Compiling a v0.1.0 (/p/a b)",
                "error: failed to run custom build command for `x v0.1.0`",
                "  process didn't exit successfully: `/t/build-script 'a b'` (exit status: 1)",
                "    Finished `dev` profile [unoptimized] target(s) in 0.2s",
            ]
        );
        assert_eq!(details.leaf(), None);
    }

    #[test]
    fn a_command_that_never_ends_is_given_up() {
        let manifest = manifest();
        let mut details = Details::new(&manifest);
        assert_eq!(details.take("     Running `A='x"), None);
        for _ in 0..LINES {
            details.take("more");
        }
        assert_eq!(details.take("error: x").as_deref(), Some("error: x"));
    }
}
