//! Walks the parsed text of a configuration and collects every problem with its place.
//!
//! Owns the mechanics: tables, keys, places. Does not know which keys exist, which is
//! [`super::sections`]'s, nor single values, which are [`super::scalar`]'s.

use std::collections::BTreeMap;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{Problem, ProblemKind};
use super::scalar::kind_of;

/// A key that a file holds, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Written {
    path: Vec<String>,
    line: usize,
    column: usize,
}

impl Written {
    /// Whether the key is the one that a pattern names, `*` standing for any one name.
    pub(super) fn matches(&self, pattern: &[&str]) -> bool {
        self.path.len() == pattern.len()
            && self
                .path
                .iter()
                .zip(pattern)
                .all(|(name, wanted)| *wanted == "*" || name == wanted)
    }

    pub(super) fn problem(&self, kind: ProblemKind) -> Problem {
        Problem {
            key: dotted(&self.path),
            line: self.line,
            column: self.column,
            kind,
        }
    }
}

/// One value with the keys that lead to it.
#[derive(Clone, Copy)]
pub(super) struct Node<'a, 't> {
    pub(super) path: &'a [String],
    pub(super) value: &'a Spanned<DeValue<'t>>,
}

/// What one pass over a file found.
pub(super) struct Reader<'r> {
    text: &'r str,
    /// The folder that paths are relative to.
    pub(super) folder: &'r Path,
    /// Every problem, in the order of discovery.
    pub(super) problems: Vec<Problem>,
    /// Every key that was recognised.
    pub(super) written: Vec<Written>,
}

impl<'r> Reader<'r> {
    pub(super) fn new(text: &'r str, file: &'r Path) -> Self {
        let folder = file.parent().unwrap_or(Path::new(""));
        Self {
            text,
            folder,
            problems: Vec::new(),
            written: Vec::new(),
        }
    }

    /// Line and column, counted from one, of a byte of the text.
    fn place(&self, offset: usize) -> (usize, usize) {
        let before = self.text.get(..offset).unwrap_or(self.text);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let column = before
            .chars()
            .rev()
            .take_while(|letter| *letter != '\n')
            .count()
            + 1;
        (line, column)
    }

    pub(super) fn syntax(&mut self, error: &toml::de::Error) {
        let (line, column) = self.place(error.span().map_or(0, |span| span.start));
        // The parser's own display quotes the line, which may hold a secret; its message does not.
        let message = error.message().lines().collect::<Vec<_>>().join(", ");
        let kind = ProblemKind::Syntax { message };
        self.problems.push(Problem {
            key: String::new(),
            line,
            column,
            kind,
        });
    }

    pub(super) fn problem(&mut self, node: Node<'_, '_>, kind: ProblemKind) {
        let (line, column) = self.place(node.value.span().start);
        self.problems.push(Problem {
            key: dotted(node.path),
            line,
            column,
            kind,
        });
    }

    pub(super) fn wrong(&mut self, node: Node<'_, '_>, expected: impl Into<String>, found: String) {
        self.problem(
            node,
            ProblemKind::WrongValue {
                expected: expected.into(),
                found,
            },
        );
    }

    /// Reads a table whose keys are known.
    pub(super) fn table<T>(
        &mut self,
        node: Node<'_, '_>,
        read: impl FnOnce(&mut Fields<'_, '_, '_, 'r>) -> T,
    ) -> Option<T> {
        let Some(table) = node.value.get_ref().as_table() else {
            self.wrong(node, "a table", kind_of(node.value.get_ref()));
            return None;
        };
        let mut fields = Fields {
            reader: self,
            node,
            table,
            known: Vec::new(),
        };
        let value = read(&mut fields);
        fields.refuse_unknown();
        Some(value)
    }

    /// Reads the whole file as a table whose keys are known.
    pub(super) fn root<T>(
        &mut self,
        table: Spanned<DeTable<'_>>,
        read: impl FnOnce(&mut Fields<'_, '_, '_, 'r>) -> T,
    ) -> Option<T> {
        let span = table.span();
        let value = Spanned::new(span, DeValue::Table(table.into_inner()));
        self.table(
            Node {
                path: &[],
                value: &value,
            },
            read,
        )
    }

    /// Reads a table whose keys are names that a person chose.
    pub(super) fn named<T>(
        &mut self,
        node: Node<'_, '_>,
        mut read: impl FnMut(&mut Self, Node<'_, '_>) -> Option<T>,
    ) -> Option<BTreeMap<String, T>> {
        let Some(table) = node.value.get_ref().as_table() else {
            self.wrong(node, "a table", kind_of(node.value.get_ref()));
            return None;
        };
        let mut entries = BTreeMap::new();
        for (key, value) in table {
            let path = self.note(node.path, key);
            if let Some(entry) = read(self, Node { path: &path, value }) {
                entries.insert(key.get_ref().to_string(), entry);
            }
        }
        Some(entries)
    }

    /// Reads a list whose items are all of one kind.
    pub(super) fn list<T>(
        &mut self,
        node: Node<'_, '_>,
        mut read: impl FnMut(&mut Self, Node<'_, '_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let Some(items) = node.value.get_ref().as_array() else {
            self.wrong(node, "a list", kind_of(node.value.get_ref()));
            return None;
        };
        let items = items.iter().filter_map(|value| {
            read(
                self,
                Node {
                    path: node.path,
                    value,
                },
            )
        });
        Some(items.collect())
    }

    /// Remembers a key with its place, and gives its whole path.
    fn note(&mut self, parent: &[String], key: &Spanned<std::borrow::Cow<'_, str>>) -> Vec<String> {
        let mut path = parent.to_vec();
        path.push(key.get_ref().to_string());
        let (line, column) = self.place(key.span().start);
        self.written.push(Written {
            path: path.clone(),
            line,
            column,
        });
        path
    }
}

/// A table that is read key by key; every key that nobody asked for is a problem.
pub(super) struct Fields<'f, 'a, 't, 'r> {
    reader: &'f mut Reader<'r>,
    node: Node<'a, 't>,
    table: &'a DeTable<'t>,
    known: Vec<&'static str>,
}

impl<'r> Fields<'_, '_, '_, 'r> {
    /// Reads the value of a key, if the key is there.
    pub(super) fn take<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&mut Reader<'r>, Node<'_, '_>) -> Option<T>,
    ) -> Option<T> {
        self.known.push(key);
        let (key, value) = self.table.get_key_value(key)?;
        let path = self.reader.note(self.node.path, key);
        read(self.reader, Node { path: &path, value })
    }

    /// Reads the value of a key and puts the empty value where the key is absent.
    pub(super) fn take_or_default<T: Default>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&mut Reader<'r>, Node<'_, '_>) -> Option<T>,
    ) -> T {
        self.take(key, read).unwrap_or_default()
    }

    /// Whether the table holds a key, whatever its value.
    pub(super) fn holds(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Reports something about the table as a whole.
    pub(super) fn problem(&mut self, kind: ProblemKind) {
        self.reader.problem(self.node, kind);
    }

    /// Refuses two keys in one table.
    pub(super) fn exclusive(&mut self, key: &str, other: &'static str) {
        if let (Some(value), true) = (self.table.get(key), self.holds(other)) {
            let mut path = self.node.path.to_vec();
            path.push(key.to_owned());
            self.reader
                .problem(Node { path: &path, value }, ProblemKind::Conflict { other });
        }
    }

    fn refuse_unknown(mut self) {
        for (key, _) in self.table {
            let name = key.get_ref().as_ref();
            if self.known.contains(&name) {
                continue;
            }
            let (line, column) = self.reader.place(key.span().start);
            let mut path = self.node.path.to_vec();
            path.push(name.to_owned());
            let mut known = self.known.clone();
            known.sort_unstable();
            let kind = ProblemKind::UnknownKey {
                closest: closest(name, &self.known),
                known,
            };
            self.reader.problems.push(Problem {
                key: dotted(&path),
                line,
                column,
                kind,
            });
        }
        self.known.clear();
    }
}

/// The known key that a person most likely meant, if any is like what was written.
fn closest(written: &str, known: &[&'static str]) -> Option<&'static str> {
    /// Below this likeness a suggestion misleads more often than it helps.
    const ALIKE: f64 = 0.7;
    let plain = |name: &str| name.replace(['_', '-'], "").to_lowercase();
    let written = plain(written);
    known
        .iter()
        .map(|name| (*name, strsim::jaro_winkler(&written, &plain(name))))
        .filter(|(_, likeness)| *likeness >= ALIKE)
        .max_by(|(_, left), (_, right)| left.total_cmp(right))
        .map(|(name, _)| name)
}

/// Keys joined by dots, each quoted where TOML would quote it.
fn dotted(path: &[String]) -> String {
    let bare = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    let keys: Vec<String> = path
        .iter()
        .map(|key| {
            let plain = !key.is_empty() && key.chars().all(bare);
            if plain {
                key.clone()
            } else {
                format!("{key:?}")
            }
        })
        .collect();
    keys.join(".")
}
