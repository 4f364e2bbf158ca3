//! Values that mean more than their text: templates, secrets, paths, durations, sizes.
//!
//! Owns their syntax and their expansion. Does not read the environment: whoever expands a value
//! says where variables come from.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

/// Where the variables of a template come from.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A variable that a value needs and that is not set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the environment variable `{variable}` is not set")]
pub struct Unset {
    /// The variable's name.
    pub variable: String,
}

/// Text with variables: `${NAME}`, `${NAME:-default}`, and `$$` for a dollar sign.
///
/// As in a shell, the default also stands in for a variable that is set to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    source: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Variable {
        name: String,
        default: Option<String>,
    },
}

impl Template {
    /// Reads a template, or says what was expected where it is broken.
    pub(super) fn parse(source: &str) -> Result<Self, &'static str> {
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut rest = source;
        while let Some((before, after)) = rest.split_once('$') {
            text.push_str(before);
            if let Some(after) = after.strip_prefix('$') {
                text.push('$');
                rest = after;
            } else if let Some(after) = after.strip_prefix('{') {
                let (inside, after) = after
                    .split_once('}')
                    .ok_or("text in which every `${` is closed by `}`")?;
                if !text.is_empty() {
                    parts.push(Part::Text(std::mem::take(&mut text)));
                }
                parts.push(variable(inside)?);
                rest = after;
            } else {
                text.push('$');
                rest = after;
            }
        }
        text.push_str(rest);
        if !text.is_empty() {
            parts.push(Part::Text(text));
        }
        Ok(Self {
            source: source.to_owned(),
            parts,
        })
    }

    /// The text with every variable replaced.
    pub fn expand(&self, environment: Environment<'_>) -> Result<String, Unset> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Text(part) => text.push_str(part),
                Part::Variable { name, default } => {
                    let value = match (environment(name), default) {
                        (Some(value), None) => value,
                        (Some(value), Some(_)) if !value.is_empty() => value,
                        (_, Some(default)) => default.clone(),
                        (None, None) => {
                            return Err(Unset {
                                variable: name.clone(),
                            });
                        }
                    };
                    text.push_str(&value);
                }
            }
        }
        Ok(text)
    }

    /// The text as it stands in the file.
    pub fn source(&self) -> &str {
        &self.source
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

fn variable(inside: &str) -> Result<Part, &'static str> {
    let (name, default) = match inside.split_once(":-") {
        Some((name, default)) => (name, Some(default.to_owned())),
        None => (inside, None),
    };
    let mut letters = name.chars();
    let begins = letters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    if begins && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_') {
        Ok(Part::Variable {
            name: name.to_owned(),
            default,
        })
    } else {
        Err("text in which `${…}` names a variable (a dollar sign is written `$$`)")
    }
}

/// A template whose text nobody may see: no message, log or `Debug` output shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Template);

impl Secret {
    pub(super) fn new(template: Template) -> Self {
        Self(template)
    }

    /// The secret itself; what is done with it is the caller's care.
    pub fn expand(&self, environment: Environment<'_>) -> Result<String, Unset> {
        self.0.expand(environment)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// A JSON value whose strings are templates, and that nobody may see.
#[derive(Clone, PartialEq)]
pub struct SecretValue(Shape);

#[derive(Clone, PartialEq)]
pub(super) enum Shape {
    Plain(Value),
    Text(Template),
    List(Vec<SecretValue>),
    Table(Vec<(String, SecretValue)>),
}

impl SecretValue {
    pub(super) fn new(shape: Shape) -> Self {
        Self(shape)
    }

    /// The value itself; what is done with it is the caller's care.
    pub fn expand(&self, environment: Environment<'_>) -> Result<Value, Unset> {
        Ok(match &self.0 {
            Shape::Plain(value) => value.clone(),
            Shape::Text(template) => Value::String(template.expand(environment)?),
            Shape::List(items) => items
                .iter()
                .map(|item| item.expand(environment))
                .collect::<Result<_, _>>()?,
            Shape::Table(entries) => Value::Object(
                entries
                    .iter()
                    .map(|(key, value)| Ok((key.clone(), value.expand(environment)?)))
                    .collect::<Result<_, _>>()?,
            ),
        })
    }
}

impl fmt::Debug for SecretValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretValue(***)")
    }
}

/// A path that is relative to the folder of the file it was written in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigPath {
    folder: PathBuf,
    template: Template,
}

impl ConfigPath {
    pub(super) fn new(folder: &Path, template: Template) -> Self {
        Self {
            folder: folder.to_path_buf(),
            template,
        }
    }

    /// The whole path, with every variable replaced.
    pub fn resolve(&self, environment: Environment<'_>) -> Result<PathBuf, Unset> {
        let path = self.folder.join(self.template.expand(environment)?);
        Ok(std::path::absolute(&path).unwrap_or(path))
    }
}

/// One host and one port that a plugin may connect to, exactly: there are no wildcards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkGrant {
    /// The host's name in small letters and without a dot at its end, or its address, an IPv6 address
    /// without its brackets.
    pub host: String,
    /// The port.
    pub port: u16,
}

impl NetworkGrant {
    pub(super) const EXPECTED: &str = "a host and a port such as \"api.example.com:443\"";

    pub(super) fn parse(text: &str) -> Option<Self> {
        let (host, port) = text.rsplit_once(':')?;
        let port: u16 = port.parse().ok().filter(|port| *port != 0)?;
        let bracketed = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        let host = match bracketed {
            Some(address) => address.parse::<std::net::Ipv6Addr>().ok()?.to_string(),
            None => host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase(),
        };
        let named = |letter: char| letter.is_ascii_alphanumeric() || "-._".contains(letter);
        let whole = bracketed.is_some() || (!host.is_empty() && host.chars().all(named));
        whole.then_some(Self { host, port })
    }
}

impl fmt::Display for NetworkGrant {
    /// As it is written in a configuration.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        if host.contains(':') {
            write!(f, "[{host}]:{port}")
        } else {
            write!(f, "{host}:{port}")
        }
    }
}

/// What is understood as a duration.
pub(super) const DURATION: &str = "a duration such as \"500ms\", \"30s\" or \"2m\"";

/// Reads `500ms`, `30s`, `2m`, `1h`; nothing shorter than a millisecond is a duration.
pub(super) fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = number_and_unit(text)?;
    let milliseconds = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    number
        .checked_mul(milliseconds)
        .filter(|milliseconds| *milliseconds > 0)
        .map(Duration::from_millis)
}

/// What is understood as a size.
pub(super) const SIZE: &str = "a size such as \"64kB\" or \"512MiB\"";

/// Reads `100B`, `64kB`, `64KiB`, `512MiB`, `2GB`; nothing is no size.
pub(super) fn size(text: &str) -> Option<u64> {
    let (number, unit) = number_and_unit(text)?;
    let bytes = match unit {
        "B" => 1,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    number.checked_mul(bytes).filter(|bytes| *bytes > 0)
}

fn number_and_unit(text: &str) -> Option<(u64, &str)> {
    let text = text.trim();
    let end = text.find(|letter: char| !letter.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(end)?;
    Some((number.parse().ok()?, unit.trim_start()))
}
