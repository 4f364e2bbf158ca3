//! Names and ids that a provider would refuse, in letters that it takes.
//!
//! What a model calls need not exist; the history shows the call all the same, and a provider that
//! refuses a name refuses the whole conversation from then on.

use std::collections::{HashMap, HashSet};

use crate::ids::is_tool_name;
use crate::limits::NAME_LENGTH;

/// How a call without a name is shown.
const NAMELESS: &str = "unnamed";

/// The name of a tool as every provider takes it; unchanged where it is one (R20).
pub(super) fn tool(name: &str) -> String {
    if name.is_empty() {
        return NAMELESS.to_owned();
    }
    if is_tool_name(name) {
        return name.to_owned();
    }
    plain(name).chars().take(NAME_LENGTH).collect()
}

/// The text with `_` for all that is neither ASCII letter, digit, `_` nor `-`.
pub(super) fn plain(text: &str) -> String {
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    text.chars()
        .map(|letter| if allowed(letter) { letter } else { '_' })
        .collect()
}

/// Ids of calls for a provider that wants each of a conversation once and in plain letters.
///
/// An id may come again in a later turn (R22); a result belongs to the latest call with its id.
#[derive(Default)]
pub(super) struct CallIds {
    taken: HashSet<String>,
    latest: HashMap<String, String>,
}

impl CallIds {
    /// The id to send for a call.
    pub(super) fn call(&mut self, id: &str) -> String {
        let wanted = Self::plain(id);
        let mut sent = wanted.clone();
        let mut count = 1;
        while !self.taken.insert(sent.clone()) {
            count += 1;
            sent = format!("{wanted}_{count}");
        }
        self.latest.insert(id.to_owned(), sent.clone());
        sent
    }

    /// The id to send for the result of a call.
    pub(super) fn result(&self, id: &str) -> String {
        let sent = self.latest.get(id).cloned();
        sent.unwrap_or_else(|| Self::plain(id))
    }

    fn plain(id: &str) -> String {
        if id.is_empty() {
            return NAMELESS.to_owned();
        }
        plain(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Y26, `g1.unknown-tool.1`.
    #[test]
    fn names_that_are_none_are_shown_in_plain_letters() {
        for (name, shown) in [
            ("getWeather", "getWeather"),
            ("", "unnamed"),
            ("functions.view", "functions_view"),
            ("größe", "gr__e"),
        ] {
            assert_eq!(tool(name), shown);
        }
        assert_eq!(tool(&"x".repeat(80)), "x".repeat(64));
    }

    /// `g1.id-reuse-across-turns.1`.
    #[test]
    fn r22_id_of_another_turn_is_sent_as_one_of_its_own() {
        let mut ids = CallIds::default();
        assert_eq!(ids.call("shell:0"), "shell_0");
        assert_eq!(ids.result("shell:0"), "shell_0");
        assert_eq!(ids.call("shell:0"), "shell_0_2");
        assert_eq!(ids.result("shell:0"), "shell_0_2");
        assert_eq!(ids.call("shell.0"), "shell_0_3");
        assert_eq!(ids.result("unheard of"), "unheard_of");
        assert_eq!(ids.call(""), "unnamed");
    }
}
