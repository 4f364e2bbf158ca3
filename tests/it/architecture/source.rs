//! The repository's Rust sources as tokens: what is in a comment or a string is not seen.

use std::path::Path;
use std::str::FromStr;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// One source file.
pub(super) struct Source {
    /// Path in the repository.
    pub(super) path: String,
    pub(super) text: String,
    tokens: Vec<TokenTree>,
}

/// Every source file that people wrote: no build output, no cases for the compiler's messages.
pub(super) fn sources() -> Vec<Source> {
    let mut paths = Vec::new();
    visit(&toolsmith_tests::repository(), "", &mut paths);
    paths.sort();
    let read = |path: String| {
        let text = fs_err::read_to_string(toolsmith_tests::repository().join(&path)).unwrap();
        Source::new(&path, &text)
    };
    paths.into_iter().map(read).collect()
}

fn visit(root: &Path, folder: &str, paths: &mut Vec<String>) {
    for entry in fs_err::read_dir(root.join(folder)).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let path = if folder.is_empty() {
            name.clone()
        } else {
            format!("{folder}/{name}")
        };
        if entry.file_type().unwrap().is_dir() {
            if !name.starts_with('.') && name != "target" && path != "tool-sdk/tests/ui" {
                visit(root, &path, paths);
            }
        } else if Path::new(&name)
            .extension()
            .is_some_and(|extension| extension == "rs")
        {
            paths.push(path);
        }
    }
}

impl Source {
    pub(super) fn new(path: &str, text: &str) -> Self {
        let tokens = TokenStream::from_str(text).unwrap_or_else(|error| panic!("{path}: {error}"));
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
            tokens: tokens.into_iter().collect(),
        }
    }

    /// The file's module below the root of its crate: `["tool", "schema"]`.
    fn modules(&self) -> Vec<&str> {
        let (_, inside) = self.path.split_once("/src/").unwrap();
        let modules = inside.trim_end_matches(".rs").split('/');
        modules
            .filter(|module| !matches!(*module, "lib" | "main"))
            .collect()
    }

    /// The module right below the root of the crate.
    pub(super) fn top_module(&self) -> String {
        self.modules()
            .first()
            .map_or_else(|| "lib".to_owned(), |module| (*module).to_owned())
    }

    /// The modules of the crate's root that the file names, with the line.
    pub(super) fn uses(&self) -> Vec<(u32, String)> {
        let mut uses = Vec::new();
        uses_in(&self.tokens, self.modules().len(), &mut uses);
        uses
    }

    /// The lines on which a word stands, but for those inside these macros.
    pub(super) fn words(&self, word: &str, ignored: &[&str]) -> Vec<u32> {
        let mut lines = Vec::new();
        each(&self.tokens, ignored, &mut |tokens, at| {
            if is_word(tokens.get(at), word) {
                lines.push(line(&tokens[at]));
            }
        });
        lines.dedup();
        lines
    }

    /// The lines on which a macro is called.
    pub(super) fn macros(&self, name: &str) -> Vec<u32> {
        let mut lines = Vec::new();
        each(&self.tokens, &[], &mut |tokens, at| {
            if is_word(tokens.get(at), name) && is_sign(tokens.get(at + 1), '!') {
                lines.push(line(&tokens[at]));
            }
        });
        lines
    }

    /// The lines of attributes that name this word.
    pub(super) fn attributes(&self, name: &str) -> Vec<u32> {
        let mut lines = Vec::new();
        each(&self.tokens, &[], &mut |tokens, at| {
            let Some(TokenTree::Group(attribute)) = tokens.get(at + 1) else {
                return;
            };
            if is_sign(tokens.get(at), '#') && attribute.delimiter() == Delimiter::Bracket {
                let mut found = false;
                each(&inner(attribute), &[], &mut |tokens, at| {
                    found |= is_word(tokens.get(at), name);
                });
                if found {
                    lines.push(line(&tokens[at]));
                }
            }
        });
        lines
    }

    /// The names of its tests.
    pub(super) fn tests(&self) -> Vec<String> {
        let (mut tests, mut is_test) = (Vec::new(), false);
        each(&self.tokens, &[], &mut |tokens, at| {
            if is_sign(tokens.get(at), '#') {
                is_test |= is_test_attribute(tokens.get(at + 1));
            }
            if is_test && is_word(tokens.get(at), "fn") {
                tests.extend(tokens.get(at + 1).map(ToString::to_string));
                is_test = false;
            }
        });
        tests
    }
}

/// `[test]` and `[tokio::test]`, but not `[cfg(test)]`.
fn is_test_attribute(token: Option<&TokenTree>) -> bool {
    let Some(TokenTree::Group(attribute)) = token else {
        return false;
    };
    let words = inner(attribute).into_iter();
    let path = words.take_while(|word| !matches!(word, TokenTree::Group(_)));
    path.last().is_some_and(|word| is_word(Some(&word), "test"))
}

fn inner(group: &proc_macro2::Group) -> Vec<TokenTree> {
    group.stream().into_iter().collect()
}

fn is_word(token: Option<&TokenTree>, word: &str) -> bool {
    matches!(token, Some(TokenTree::Ident(ident)) if ident == word)
}

fn is_sign(token: Option<&TokenTree>, sign: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
}

fn line(token: &TokenTree) -> u32 {
    u32::try_from(token.span().start().line).unwrap()
}

/// Looks at every token, also inside groups, but for the arguments of these macros.
fn each(tokens: &[TokenTree], ignored: &[&str], look: &mut impl FnMut(&[TokenTree], usize)) {
    for (at, token) in tokens.iter().enumerate() {
        look(tokens, at);
        if let TokenTree::Group(group) = token {
            let of_ignored = at >= 2
                && is_sign(tokens.get(at - 1), '!')
                && ignored.iter().any(|name| is_word(tokens.get(at - 2), name));
            if !of_ignored {
                each(&inner(group), ignored, look);
            }
        }
    }
}

/// Whether `::` stands at this place.
fn is_path_sign(tokens: &[TokenTree], at: usize) -> bool {
    is_sign(tokens.get(at), ':') && is_sign(tokens.get(at + 1), ':')
}

/// Collects the modules of the root that are named. `depth` is how many `super`s lead to the root.
fn uses_in(tokens: &[TokenTree], depth: usize, uses: &mut Vec<(u32, String)>) {
    let mut at = 0;
    while at < tokens.len() {
        let starts = at < 2 || !is_path_sign(tokens, at - 2);
        if starts && (is_word(tokens.get(at), "crate") || is_word(tokens.get(at), "super")) {
            let mut supers = 0;
            let mut next = at;
            while is_word(tokens.get(next), "super") && is_path_sign(tokens, next + 1) {
                supers += 1;
                next += 3;
            }
            let from_root = is_word(tokens.get(at), "crate") && is_path_sign(tokens, at + 1);
            if from_root {
                next = at + 3;
            }
            if from_root || (supers > 0 && supers == depth) {
                names_at(tokens.get(next), uses);
            }
        }
        if let TokenTree::Group(group) = &tokens[at] {
            let of_module = at >= 2
                && is_word(tokens.get(at - 2), "mod")
                && group.delimiter() == Delimiter::Brace;
            uses_in(&inner(group), depth + usize::from(of_module), uses);
        }
        at += 1;
    }
}

/// The name behind `crate::`, or all names in the braces there.
fn names_at(token: Option<&TokenTree>, uses: &mut Vec<(u32, String)>) {
    match token {
        Some(TokenTree::Ident(ident)) => {
            uses.push((
                u32::try_from(ident.span().start().line).unwrap(),
                ident.to_string(),
            ));
        }
        Some(TokenTree::Group(group)) => {
            let tokens = inner(group);
            for part in tokens.split(|token| is_sign(Some(token), ',')) {
                names_at(part.first(), uses);
            }
        }
        _ => {}
    }
}
