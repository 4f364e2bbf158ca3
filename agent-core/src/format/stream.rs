//! Calls that come in pieces.
//!
//! Owns which piece belongs to which call. How a provider wraps a piece is its own module's affair.

use crate::format::received::id_or_fresh;
use crate::message::{Arguments, Block, Delta};

/// The calls of one answer, as far as they have come.
#[derive(Clone, Debug, Default)]
pub(super) struct Calls(Vec<Call>);

#[derive(Clone, Debug, Default)]
struct Call {
    index: Option<u64>,
    id: Option<String>,
    name: Option<String>,
    arguments: String,
}

/// One piece of a call; whatever the server left out is absent, empty texts included.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Piece<'a> {
    /// The number that the server gives the call: a key, no position.
    pub(super) index: Option<u64>,
    pub(super) id: Option<&'a str>,
    pub(super) name: Option<&'a str>,
    pub(super) arguments: &'a str,
}

impl Calls {
    /// Takes a piece and tells what is new in it. Id and name are set once, however often they
    /// come; arguments are appended.
    pub(super) fn add(&mut self, piece: Piece<'_>) -> Delta {
        let at = self.owner(&piece).unwrap_or(self.0.len());
        if at == self.0.len() {
            self.0.push(Call {
                index: piece.index,
                ..Call::default()
            });
        }
        let mut delta = (None, None);
        if let Some(call) = self.0.get_mut(at) {
            delta = (
                set_once(&mut call.id, piece.id),
                set_once(&mut call.name, piece.name),
            );
            call.arguments.push_str(piece.arguments);
        }
        Delta::ToolUse {
            index: at,
            id: delta.0,
            name: delta.1,
            arguments: piece.arguments.to_owned(),
        }
    }

    /// Which call a piece belongs to; `None` for a new one.
    fn owner(&self, piece: &Piece<'_>) -> Option<usize> {
        let latest = |is: &dyn Fn(&Call) -> bool| self.0.iter().rposition(is);
        if let Some(index) = piece.index {
            let at = latest(&|call| call.index == Some(index))?;
            // Some servers give every call the number 0, and some every piece an id of its own.
            let begins_another = piece.name.is_some() && self.0.get(at)?.has_other_id(piece.id);
            return (!begins_another).then_some(at);
        }
        if let Some(id) = piece.id {
            return latest(&|call| call.id.as_deref() == Some(id));
        }
        let at = self.0.len().checked_sub(1)?;
        let last = self.0.get(at)?;
        let begins_another = piece.name.is_some_and(|name| {
            let other = last.name.as_deref().is_some_and(|last| last != name);
            other || (!piece.arguments.is_empty() && last.is_whole())
        });
        (!begins_another).then_some(at)
    }

    /// The call with this number, as a block; with these arguments, where none have come.
    pub(super) fn take(&mut self, index: u64, arguments: impl FnOnce() -> String) -> Option<Block> {
        let at = self.0.iter().position(|call| call.index == Some(index))?;
        let mut call = self.0.remove(at);
        if call.arguments.is_empty() {
            call.arguments = arguments();
        }
        Some(call.into_block())
    }

    /// Every call, in the order in which they began.
    pub(super) fn into_blocks(self) -> impl Iterator<Item = Block> {
        self.0.into_iter().map(Call::into_block)
    }
}

impl Call {
    fn has_other_id(&self, id: Option<&str>) -> bool {
        id.is_some() && self.id.is_some() && self.id.as_deref() != id
    }

    /// Whether the arguments are an object already, so that nothing can follow.
    fn is_whole(&self) -> bool {
        !self.arguments.trim().is_empty()
            && Arguments::Text(self.arguments.clone()).object().is_some()
    }

    fn into_block(self) -> Block {
        Block::ToolUse {
            id: id_or_fresh(self.id.as_deref()),
            name: self.name.unwrap_or_default(),
            input: Arguments::Text(self.arguments),
        }
    }
}

/// Sets what is not set yet; the text is returned the first time only.
fn set_once(slot: &mut Option<String>, text: Option<&str>) -> Option<String> {
    if slot.is_none() {
        *slot = text.map(str::to_owned);
        return slot.clone();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    type Given<'a> = (Option<u64>, Option<&'a str>, Option<&'a str>, &'a str);

    /// Checks which calls — id, name, arguments — come of these pieces.
    fn check(pieces: &[Given<'_>], expected: &[(&str, &str, &str)]) {
        let mut calls = Calls::default();
        for &(index, id, name, arguments) in pieces {
            calls.add(Piece {
                index,
                id,
                name,
                arguments,
            });
        }
        let blocks: Vec<Block> = calls.into_blocks().collect();
        let block = |&(id, name, arguments): &(&str, &str, &str)| Block::ToolUse {
            id: id.to_owned(),
            name: name.to_owned(),
            input: Arguments::Text(arguments.to_owned()),
        };
        assert_eq!(
            blocks,
            expected.iter().map(block).collect::<Vec<_>>(),
            "{pieces:?}"
        );
    }

    /// `g1.stream-index.1`.
    #[test]
    fn index_is_a_key_and_no_position() {
        check(
            &[
                (Some(1), Some("a"), Some("f"), ""),
                (Some(1), None, None, "{\"ci"),
                (Some(1), None, None, "ty\":\"Lodz\"}"),
            ],
            &[("a", "f", "{\"city\":\"Lodz\"}")],
        );
        check(
            &[
                (Some(4), Some("a"), Some("f"), "{"),
                (Some(2), Some("b"), Some("g"), "{\"y\""),
                (Some(4), None, None, "}"),
                (Some(2), None, None, ":2}"),
            ],
            &[("a", "f", "{}"), ("b", "g", "{\"y\":2}")],
        );
    }

    /// `g1.stream-no-index.1`.
    #[test]
    fn without_an_index_the_id_or_the_order_decides() {
        check(
            &[
                (None, Some("a"), Some("f"), "{\"x\":1}"),
                (None, Some("b"), Some("g"), "{\"y\""),
                (None, None, None, ":2}"),
            ],
            &[("a", "f", "{\"x\":1}"), ("b", "g", "{\"y\":2}")],
        );
    }

    #[test]
    fn without_index_and_id_a_name_behind_whole_arguments_begins_a_call() {
        let mut calls = Calls::default();
        for arguments in ["{\"x\"", ":1}", "{\"x\":2}", ""] {
            calls.add(Piece {
                name: Some("f"),
                arguments,
                ..Piece::default()
            });
        }
        let inputs = calls.into_blocks().map(|block| match block {
            Block::ToolUse { input, .. } => input,
            _ => panic!("no call"),
        });
        let expected = ["{\"x\":1}", "{\"x\":2}"].map(|text| Arguments::Text(text.to_owned()));
        assert_eq!(inputs.collect::<Vec<_>>(), expected);
    }

    /// `g1.stream-repeated-header.1`.
    #[test]
    fn name_that_comes_again_is_not_appended() {
        check(
            &[
                (Some(0), Some("a"), Some("read_file"), "{\"p\""),
                (Some(0), Some("a"), Some("read_file"), ":"),
                (Some(0), Some("a"), Some("read_file"), "1}"),
            ],
            &[("a", "read_file", "{\"p\":1}")],
        );
    }

    #[test]
    fn one_index_for_every_call_and_one_id_for_every_piece() {
        check(
            &[
                (Some(0), Some("a"), Some("f"), "{}"),
                (Some(0), Some("b"), Some("f"), "{"),
                (Some(0), None, None, "}"),
            ],
            &[("a", "f", "{}"), ("b", "f", "{}")],
        );
        check(
            &[
                (Some(0), Some("a"), Some("f"), "{"),
                (Some(0), Some("b"), None, "}"),
            ],
            &[("a", "f", "{}")],
        );
    }

    #[test]
    fn id_and_name_are_told_once() {
        let mut calls = Calls::default();
        let mut told = |id, name, arguments| {
            let delta = calls.add(Piece {
                index: Some(9),
                id,
                name,
                arguments,
            });
            match delta {
                Delta::ToolUse {
                    index,
                    id,
                    name,
                    arguments,
                } => (index, id.is_some(), name.is_some(), arguments),
                _ => panic!("no call"),
            }
        };
        assert_eq!(told(None, Some("f"), ""), (0, false, true, String::new()));
        assert_eq!(
            told(Some("a"), Some("f"), "{"),
            (0, true, false, "{".to_owned())
        );
        assert_eq!(
            told(Some("a"), None, "}"),
            (0, false, false, "}".to_owned())
        );
    }
}
