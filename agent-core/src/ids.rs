//! Names and numbers that have a meaning: of plugins, generations and contents.
//!
//! Tool names are plain strings with the rule [`is_tool_name`], since models send any text.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Name of a plugin: of its crate, or of its library file without `lib` and suffix. Plugins are
/// ordered by the bytes of this name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PluginName(Arc<str>);

impl PluginName {
    /// The name.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PluginName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for PluginName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// The how-manieth load of one plugin a tool belongs to, from 1; 0 for tools that never reload.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct GenerationNumber(pub u64);

impl fmt::Display for GenerationNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// BLAKE3 hash of a file's bytes: what the file *is*, whatever it is called.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    /// The hash of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// Reads 64 hexadecimal digits.
    pub fn from_hex(text: &str) -> Option<Self> {
        blake3::Hash::from_hex(text)
            .ok()
            .map(|hash| Self(*hash.as_bytes()))
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for ContentHash {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ContentHash {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let wrong = || serde::de::Error::custom("expected 64 hexadecimal digits");
        Self::from_hex(&text).ok_or_else(wrong)
    }
}

/// Whether two names are those of one plugin: a finished library is called by its file, in which
/// every `-` of the crate's name is `_`.
pub fn is_same_plugin(one: &str, other: &str) -> bool {
    one.replace('-', "_") == other.replace('-', "_")
}

/// The rule for tool names (R20): `^[A-Za-z0-9_-]{1,64}$`.
pub fn is_tool_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R20.
    #[test]
    fn r20_tool_names_are_1_to_64_of_the_allowed_letters() {
        for name in ["a", "getWeather", "get_weather-2", &"x".repeat(64)] {
            assert!(is_tool_name(name), "{name}");
        }
        for name in ["", "a b", "../x", "naïve", "a.b", &"x".repeat(65)] {
            assert!(!is_tool_name(name), "{name}");
        }
    }

    #[test]
    fn hash_reads_back_from_its_text() {
        let hash = ContentHash::of(b"a");
        assert_eq!(ContentHash::from_hex(&hash.to_string()), Some(hash));
        assert_eq!(ContentHash::from_hex("abc"), None);
    }
}
