//! A regular expression in the dialect of schemas, to be found in a text.
//!
//! Takes linear time where it can and a bounded number of steps where it looks around, like every
//! pattern of a schema.

use serde_json::json;

use super::ArgumentSchema;

/// A regular expression that can be looked for.
#[derive(Debug)]
pub struct Pattern(ArgumentSchema);

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(pattern: &str) -> Result<Self, String> {
        let schema = json!({"type": "object", "properties": {"text": {"pattern": pattern}}});
        ArgumentSchema::compile(&schema)
            .map(Self)
            .map_err(|error| error.reason)
    }

    /// Whether it matches anywhere in the text.
    pub fn is_found_in(&self, text: &str) -> bool {
        self.0.problems(&json!({"text": text})).is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pattern_is_found_anywhere_unless_it_is_anchored() {
        let check = |pattern: &str, text: &str, expected: bool| {
            let pattern = Pattern::new(pattern).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(pattern.is_found_in(text), expected, "{pattern:?} {text}");
        };
        check("[0-9]+ °C", "It is 22 °C.", true);
        check("^[0-9]", "It is 22 °C.", false);
        check("(?<!-)22", "It is 22 °C.", true);
        check("", "", true);
        assert!(Pattern::new("([").is_err_and(|error| error.contains("([")));
    }
}
