//! The arguments of a call on their way into a tool's parameters.
//!
//! Most tools take each of them once and want no map, whose keys and hashes cost as much as the
//! rest of the call. So they are read into a list, where names that the tool knows are not copied.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde_json::Value;

use super::Args;
use crate::tool::ArgumentRecord;

/// Named values in the order in which they were sent. Of those that share a name the last counts.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct ArgumentList(Vec<(Cow<'static, str>, Value)>);

impl ArgumentList {
    /// Reads a JSON object.
    pub(crate) fn parse(text: &str, known: &'static [ArgumentRecord]) -> serde_json::Result<Self> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let list = deserializer.deserialize_map(Known(known))?;
        deserializer.end()?;
        Ok(list)
    }

    /// Takes a value out, leaving its place to null. `None` when the name is absent.
    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        let mut newest_first = self.0.iter_mut().rev();
        let (_, value) = newest_first.find(|(known, _)| known == name)?;
        Some(value.take())
    }

    /// Fills in the defaults of absent arguments.
    pub(crate) fn fill_defaults(&mut self, arguments: &'static [ArgumentRecord]) {
        for argument in arguments {
            if let Some(default) = argument.default
                && self.0.iter().all(|(name, _)| name != argument.name)
            {
                self.0.push((Cow::Borrowed(argument.name), default()));
            }
        }
    }

    /// All of them, for a tool that asks for `&Args`.
    pub fn all(&self) -> Args {
        let mut all = Args::new();
        for (name, value) in &self.0 {
            all.insert(name.clone().into_owned(), value.clone());
        }
        all
    }
}

impl From<Args> for ArgumentList {
    fn from(args: Args) -> Self {
        let args = args.into_inner().into_iter();
        Self(args.map(|(name, value)| (name.into(), value)).collect())
    }
}

/// The arguments that a tool knows.
#[derive(Clone, Copy)]
struct Known(&'static [ArgumentRecord]);

impl<'de> Visitor<'de> for Known {
    type Value = ArgumentList;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<ArgumentList, A::Error> {
        let mut list = Vec::with_capacity(self.0.len());
        while let Some(name) = entries.next_key_seed(Name(self.0))? {
            list.push((name, entries.next_value()?));
        }
        Ok(ArgumentList(list))
    }
}

/// A name, which is copied only where the tool does not know it.
struct Name(&'static [ArgumentRecord]);

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Cow<'static, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name {
    type Value = Cow<'static, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string key")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        let known = self.0.iter().find(|argument| argument.name == name);
        Ok(known.map_or_else(
            || Cow::Owned(name.to_owned()),
            |argument| Cow::Borrowed(argument.name),
        ))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const KNOWN: &[ArgumentRecord] = &[
        ArgumentRecord {
            name: "city",
            ..ArgumentRecord::PLAIN
        },
        ArgumentRecord {
            name: "days",
            default: Some(|| json!(3)),
            ..ArgumentRecord::PLAIN
        },
    ];

    fn parse(text: &str) -> ArgumentList {
        ArgumentList::parse(text, KNOWN).unwrap()
    }

    /// As a map of the same text would be, its order included.
    #[test]
    fn all_is_what_a_map_holds() {
        for text in [
            "{}",
            r#"{"days": 1, "city": "Tokyo", "x": null}"#,
            r#"{"city": 1, "x": [{}], "city": 2, "x": 3}"#,
            r#"{"ci\u0074y": "\ud83d\ude00"}"#,
        ] {
            let map: Args = serde_json::from_str(text).unwrap();
            assert_eq!(json!(parse(text).all()).to_string(), json!(map).to_string());
        }
    }

    #[test]
    fn last_value_of_a_name_counts_and_is_taken_once() {
        let mut list = parse(r#"{"city": 1, "ci\u0074y": 2}"#);
        assert_eq!(list.take("city"), Some(json!(2)));
        assert_eq!(list.take("city"), Some(Value::Null));
        assert_eq!(list.take("days"), None);
    }

    #[test]
    fn defaults_are_for_absent_names() {
        let mut list = parse(r#"{"days": null}"#);
        list.fill_defaults(KNOWN);
        assert_eq!(json!(list.all()), json!({"days": null}));
        let mut list = parse("{}");
        list.fill_defaults(KNOWN);
        assert_eq!(json!(list.all()), json!({"days": 3}));
    }

    #[test]
    fn what_is_no_object_is_refused_as_by_a_map() {
        for text in ["", "[]", "5", "{", r#"{"city"}"#, "{} 1"] {
            let ours = ArgumentList::parse(text, KNOWN).unwrap_err().to_string();
            let theirs = serde_json::from_str::<Args>(text).unwrap_err().to_string();
            assert_eq!(ours, theirs, "{text}");
        }
    }
}
