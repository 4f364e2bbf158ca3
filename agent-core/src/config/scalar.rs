//! Reads single values: strings, numbers, words, templates, paths, secrets.
//!
//! Owns what is expected of a value and how a wrong one is described. Does not own tables and
//! places, which are [`super::read`]'s.

use toml::de::DeValue;

use super::read::{Node, Reader};
use super::value::{ConfigPath, Secret, SecretValue, Shape, Template};
use super::words::Word;

impl Reader<'_> {
    pub(super) fn string(&mut self, node: Node<'_, '_>) -> Option<String> {
        self.text_of(node, "a string").map(str::to_owned)
    }

    fn text_of<'a>(&mut self, node: Node<'a, '_>, expected: &str) -> Option<&'a str> {
        let text = node.value.get_ref().as_str();
        if text.is_none() {
            self.wrong(node, expected, kind_of(node.value.get_ref()));
        }
        text
    }

    pub(super) fn boolean(&mut self, node: Node<'_, '_>) -> Option<bool> {
        let value = node.value.get_ref().as_bool();
        if value.is_none() {
            self.wrong(node, "true or false", kind_of(node.value.get_ref()));
        }
        value
    }

    /// Reads a whole number that is at least `minimum`.
    pub(super) fn count<T: TryFrom<i64>>(&mut self, node: Node<'_, '_>, minimum: i64) -> Option<T> {
        let value = node.value.get_ref();
        let number = whole_number(value).filter(|number| *number >= minimum);
        let number = number.and_then(|number| T::try_from(number).ok());
        if number.is_none() {
            let found = match value {
                DeValue::Integer(number) => number.to_string(),
                other => kind_of(other),
            };
            self.wrong(node, format!("a whole number of at least {minimum}"), found);
        }
        number
    }

    /// Reads a string that stands for something else.
    pub(super) fn meaning<T>(
        &mut self,
        node: Node<'_, '_>,
        expected: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let text = self.text_of(node, expected)?;
        let value = parse(text);
        if value.is_none() {
            self.wrong(node, expected, shown(text));
        }
        value
    }

    pub(super) fn word<T: Word>(&mut self, node: Node<'_, '_>) -> Option<T> {
        let words: Vec<String> = T::SPELLINGS
            .iter()
            .map(|(word, _)| format!("\"{word}\""))
            .collect();
        let expected = format!("one of {}", words.join(", "));
        self.meaning(node, &expected, |text| {
            T::SPELLINGS
                .iter()
                .find(|(word, _)| *word == text)
                .map(|(_, choice)| *choice)
        })
    }

    pub(super) fn template(&mut self, node: Node<'_, '_>) -> Option<Template> {
        let text = self.text_of(node, "a string")?;
        Template::parse(text)
            .inspect_err(|expected| self.wrong(node, *expected, shown(text)))
            .ok()
    }

    pub(super) fn path(&mut self, node: Node<'_, '_>) -> Option<ConfigPath> {
        let template = self.template(node)?;
        if template.source().is_empty() {
            self.wrong(node, "a path", shown(""));
            return None;
        }
        Some(ConfigPath::new(self.folder, template))
    }

    pub(super) fn secret(&mut self, node: Node<'_, '_>) -> Option<Secret> {
        let text = self.text_of(node, "a string")?;
        Template::parse(text)
            .inspect_err(|expected| self.wrong(node, *expected, "other text".to_owned()))
            .ok()
            .map(Secret::new)
    }

    /// Reads any value that JSON can express.
    pub(super) fn secret_value(&mut self, node: Node<'_, '_>) -> Option<SecretValue> {
        let value = node.value.get_ref();
        let shape = match value {
            DeValue::String(_) => {
                let text = self.text_of(node, "a string")?;
                let template = Template::parse(text)
                    .inspect_err(|expected| self.wrong(node, *expected, "other text".to_owned()))
                    .ok()?;
                Shape::Text(template)
            }
            DeValue::Boolean(value) => Shape::Plain((*value).into()),
            DeValue::Datetime(value) => Shape::Plain(value.to_string().into()),
            DeValue::Array(_) => Shape::List(self.list(node, Self::secret_value)?),
            DeValue::Table(table) => Shape::Table(
                table
                    .iter()
                    .filter_map(|(key, value)| {
                        let mut path = node.path.to_vec();
                        path.push(key.get_ref().to_string());
                        let value = self.secret_value(Node { path: &path, value })?;
                        Some((key.get_ref().to_string(), value))
                    })
                    .collect(),
            ),
            DeValue::Integer(_) | DeValue::Float(_) => Shape::Plain(self.number(node)?),
        };
        Some(SecretValue::new(shape))
    }

    fn number(&mut self, node: Node<'_, '_>) -> Option<serde_json::Value> {
        let value = node.value.get_ref();
        let number = match value {
            DeValue::Integer(_) => whole_number(value).map(serde_json::Value::from),
            DeValue::Float(float) => float
                .as_str()
                .parse()
                .ok()
                .and_then(serde_json::Number::from_f64)
                .map(serde_json::Value::Number),
            _ => None,
        };
        if number.is_none() {
            self.wrong(node, "a number that JSON can express", kind_of(value));
        }
        number
    }
}

fn whole_number(value: &DeValue<'_>) -> Option<i64> {
    let number = value.as_integer()?;
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

/// The type of a value in words; never its text.
pub(super) fn kind_of(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a float",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
    .to_owned()
}

/// A text as it is quoted in a message.
fn shown(text: &str) -> String {
    const LONGEST: usize = 40;
    if text.chars().count() <= LONGEST {
        return format!("{text:?}");
    }
    let head: String = text.chars().take(LONGEST).collect();
    format!("{head:?}…")
}
