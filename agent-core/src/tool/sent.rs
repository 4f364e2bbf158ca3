//! The arguments as they were sent, for numbers whose digits matter.
//!
//! `1.10` and a number of 25 digits are no longer what they were once they are a float. The text
//! is read a second time only when a number is to become something else.

use std::cell::OnceCell;
use std::collections::HashMap;

use serde_json::Number;
use serde_json::value::RawValue;

use super::shape::unescape;
use crate::limits;

/// The text of arguments, if there is one.
#[derive(Debug)]
pub(super) struct Sent<'a> {
    text: Option<&'a str>,
    tree: OnceCell<Option<Tree>>,
}

/// What the text holds, down to the digits of numbers.
#[derive(Debug)]
enum Tree {
    Number(String),
    Items(Vec<Tree>),
    Named(HashMap<String, Tree>),
    Other,
}

impl<'a> Sent<'a> {
    pub(super) fn new(text: Option<&'a str>) -> Self {
        Self {
            text,
            tree: OnceCell::new(),
        }
    }

    /// The digits of the number at a pointer.
    pub(super) fn digits(&self, pointer: &str) -> Option<&str> {
        let read = || {
            serde_json::from_str(self.text?)
                .ok()
                .map(|raw| Tree::read(raw, 0))
        };
        let mut tree = self.tree.get_or_init(read).as_ref()?;
        for step in pointer.split('/').skip(1) {
            tree = match tree {
                Tree::Items(items) => items.get(step.parse::<usize>().ok()?)?,
                Tree::Named(values) => values.get(&unescape(step))?,
                Tree::Number(_) | Tree::Other => return None,
            };
        }
        match tree {
            Tree::Number(digits) => Some(digits),
            _ => None,
        }
    }
}

impl Tree {
    fn read(raw: &RawValue, depth: usize) -> Self {
        let text = raw.get();
        if depth > limits::ARGUMENT_DEPTH {
            return Self::Other;
        }
        let below = |raw: &RawValue| Self::read(raw, depth + 1);
        let tree = match text.bytes().next() {
            Some(b'[') => serde_json::from_str::<Vec<&RawValue>>(text)
                .map(|items| Self::Items(items.into_iter().map(below).collect())),
            Some(b'{') => serde_json::from_str::<HashMap<String, &RawValue>>(text).map(|values| {
                Self::Named(
                    values
                        .into_iter()
                        .map(|(name, raw)| (name, below(raw)))
                        .collect(),
                )
            }),
            // An array or object that was encoded once more is taken for what it holds.
            Some(b'"') => serde_json::from_str::<String>(text).map(|inner| {
                let holds = inner.trim_start().starts_with(['[', '{']);
                let raw = holds
                    .then(|| serde_json::from_str::<&RawValue>(&inner).ok())
                    .flatten();
                raw.map_or(Self::Other, below)
            }),
            Some(b'-' | b'0'..=b'9') => Ok(Self::Number(text.to_owned())),
            _ => Ok(Self::Other),
        };
        tree.unwrap_or(Self::Other)
    }
}

/// The integer that a number's digits say exactly, where a 64-bit type can hold it: `5.0`, `1e3`.
pub(super) fn exact_integer(digits: &str) -> Option<Number> {
    let (sign, digits) = digits
        .strip_prefix('-')
        .map_or(("", digits), |rest| ("-", rest));
    let (mantissa, exponent) = digits.split_once(['e', 'E']).unwrap_or((digits, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let significant = all.trim_end_matches('0');
    let dropped = i64::try_from(all.len() - significant.len()).ok()?;
    let shift = exponent.parse::<i64>().ok()? - i64::try_from(fraction.len()).ok()? + dropped;
    let significant = significant.trim_start_matches('0');
    if significant.is_empty() {
        return Some(0.into());
    }
    // No 64-bit integer has more than 20 digits.
    let zeros = usize::try_from(shift)
        .ok()
        .filter(|zeros| significant.len() + zeros <= 20)?;
    let text = format!("{sign}{significant}{}", "0".repeat(zeros));
    text.parse::<i64>()
        .map(Number::from)
        .or_else(|_| text.parse::<u64>().map(Number::from))
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_found_at_their_pointer() {
        let text =
            r#" {"a/b": [1.10, {"~": 1234567890123456789012345}], "t": "[[2.50]]", "s": "5"} "#;
        let sent = Sent::new(Some(text));
        let check = |pointer, expected| assert_eq!(sent.digits(pointer), expected, "{pointer}");
        check("/a~1b/0", Some("1.10"));
        check("/a~1b/1/~0", Some("1234567890123456789012345"));
        check("/t/0/0", Some("2.50"));
        check("/s", None);
        check("/a~1b", None);
        check("/a~1b/7", None);
        check("/none", None);
        assert_eq!(Sent::new(None).digits(""), None);
    }

    #[test]
    fn repeated_name_means_its_last_value_as_in_the_arguments() {
        assert_eq!(
            Sent::new(Some(r#"{"a": 1.0, "a": 2.0}"#)).digits("/a"),
            Some("2.0")
        );
    }

    #[test]
    fn nesting_without_end_is_not_followed() {
        let deep = format!(
            "{{\"a\": {:?}}}",
            "[".repeat(500_000) + &"]".repeat(500_000)
        );
        assert_eq!(Sent::new(Some(&deep)).digits("/a/0"), None);
    }

    #[test]
    fn integers_are_read_from_digits_exactly() {
        let check = |digits, expected: Option<Number>| {
            assert_eq!(exact_integer(digits), expected, "{digits}");
        };
        check("5.0", Some(5.into()));
        check("-5.000", Some((-5).into()));
        check("1e3", Some(1000.into()));
        check("1.5E+1", Some(15.into()));
        check("2500e-2", Some(25.into()));
        check("0.0", Some(0.into()));
        check("-0.0", Some(0.into()));
        check("9007199254740993.0", Some(9_007_199_254_740_993_u64.into()));
        check("-9223372036854775808.0", Some(i64::MIN.into()));
        check("18446744073709551615.0", Some(u64::MAX.into()));
        check("18446744073709551616.0", None);
        check("-9223372036854775809", None);
        check("1e20", None);
        check("1e999999999999999999", None);
        check("5.5", None);
        check("9007199254740992.5", None);
    }
}
