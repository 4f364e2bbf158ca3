//! What the compiler says it has read.
//!
//! Owns the reading of dep-info, of cargo's form and of rustc's. Does not own what follows from it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The files that a dep-info file of cargo names: `OUTPUT: FILE FILE …`, spaces in names escaped.
pub(super) fn files(text: &str, folder: &Path) -> BTreeSet<PathBuf> {
    let files = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| {
            // A space inside a name is escaped, so the first bare one after a colon ends the output.
            line.split_once(": ").map(|(_, files)| names(files))
        });
    files.flatten().map(|name| folder.join(name)).collect()
}

fn names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut name = String::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == '\\' && letters.peek() == Some(&' ') {
            letters.next();
            name.push(' ');
        } else if letter == ' ' {
            names.push(std::mem::take(&mut name));
        } else {
            name.push(letter);
        }
    }
    names.push(name);
    names.retain(|name| !name.is_empty());
    names
}

/// The variables that rustc's own dep-info says were read at compile time, with their values; none
/// where a variable was not set.
pub(super) fn variables(text: &str) -> BTreeMap<String, Option<String>> {
    text.lines()
        .filter_map(|line| line.strip_prefix("# env-dep:"))
        .map(|rest| match rest.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(unescaped(value))),
            None => (rest.to_owned(), None),
        })
        .collect()
}

/// A value without the escapes that keep it on one line.
fn unescaped(value: &str) -> String {
    let mut plain = String::with_capacity(value.len());
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        plain.push(match letter {
            '\\' => match letters.next() {
                Some('n') => '\n',
                Some('r') => '\r',
                Some(other) => other,
                None => letter,
            },
            _ => letter,
        });
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(names: &[&str]) -> BTreeSet<PathBuf> {
        names.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn dep_info_names_files_with_spaces_colons_and_backslashes() {
        let folder = Path::new("/project");
        for (text, expected) in [
            (
                "/t/liba.so: /a/src/lib.rs /a/src/x.txt\n",
                &["/a/src/lib.rs", "/a/src/x.txt"][..],
            ),
            (
                "/t\\ t/liba.so: /a\\ b/lib.rs /c\\ \\ d\n",
                &["/a b/lib.rs", "/c  d"],
            ),
            ("/t/a:b.so: /a:b/lib.rs\n", &["/a:b/lib.rs"]),
            (
                "/t/a.so: /a\\b.rs /c\\\\ d.rs\n",
                &["/a\\b.rs", "/c\\ d.rs"],
            ),
            ("/t/a.so: src/lib.rs\n", &["/project/src/lib.rs"]),
            (
                "/t/a.so: /a.rs\n\n/t/a.rlib: /a.rs /b.rs\n",
                &["/a.rs", "/b.rs"],
            ),
            ("/t/a.so:\n", &[]),
            ("/t/a.so: \n", &[]),
            ("# env-dep:X: y\n", &[]),
            ("", &[]),
        ] {
            assert_eq!(files(text, folder), paths(expected), "{text:?}");
        }
    }

    #[test]
    fn variables_read_at_compile_time_have_their_values() {
        let text = "a.d: src/lib.rs\n\nsrc/lib.rs:\n\n# env-dep:UNSET\n# env-dep:SET=a=b\n\
                    # env-dep:LINES=\\\\one\\ntwo\\r\n";
        let expected = [
            ("SET", Some("a=b")),
            ("UNSET", None),
            ("LINES", Some("\\one\ntwo\r")),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.map(str::to_owned)));
        assert_eq!(variables(text), BTreeMap::from(expected));
    }
}
