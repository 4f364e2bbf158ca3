//! Names as text: what may be one, the label that stands for one, and the known one that was
//! probably meant. Pure functions over `str`.

use proc_macro2::Span;

/// A name on the wire, and where it comes from.
#[derive(Debug)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) span: Span,
}

/// What providers accept as the name of a tool (requirement R20).
pub(crate) const TOOL_NAME: &str = "1 to 64 of the characters A-Z a-z 0-9 _ -";

/// What providers accept as the name of an argument.
pub(crate) const ARGUMENT_NAME: &str = "1 to 64 of the characters A-Z a-z 0-9 _ - .";

/// Whether the text is `^[A-Za-z0-9_-]{1,64}$`.
pub(crate) fn is_tool_name(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

/// Whether the text is `^[A-Za-z0-9_.-]{1,64}$`.
pub(crate) fn is_argument_name(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
}

/// The words of an identifier in title case: `get_weather` → `Get Weather`,
/// `getHTTPStatus` → `Get HTTP Status`.
pub(crate) fn label(identifier: &str) -> String {
    let words: Vec<String> = words(identifier)
        .iter()
        .map(|word| capitalised(word))
        .collect();
    words.join(" ")
}

/// How names are spelled on the wire, with the rules and words of `serde`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    /// `maxresults`.
    Lower,
    /// `MAXRESULTS`.
    Upper,
    /// `MaxResults`.
    Pascal,
    /// `maxResults`.
    Camel,
    /// `max_results`.
    Snake,
    /// `MAX_RESULTS`.
    ScreamingSnake,
    /// `max-results`.
    Kebab,
    /// `MAX-RESULTS`.
    ScreamingKebab,
}

/// Every case by its word.
pub(crate) const CASES: [(&str, Case); 8] = [
    ("lowercase", Case::Lower),
    ("UPPERCASE", Case::Upper),
    ("PascalCase", Case::Pascal),
    ("camelCase", Case::Camel),
    ("snake_case", Case::Snake),
    ("SCREAMING_SNAKE_CASE", Case::ScreamingSnake),
    ("kebab-case", Case::Kebab),
    ("SCREAMING-KEBAB-CASE", Case::ScreamingKebab),
];

impl Case {
    /// The name of a parameter in this case.
    pub(crate) fn spell(self, parameter: &str) -> String {
        let words = parameter.split('_').filter(|word| !word.is_empty());
        let lower: Vec<String> = words.map(str::to_lowercase).collect();
        let capitalised = || lower.iter().map(|word| capitalised(word));
        match self {
            Self::Lower => lower.concat(),
            Self::Upper => lower.concat().to_uppercase(),
            Self::Snake => lower.join("_"),
            Self::ScreamingSnake => lower.join("_").to_uppercase(),
            Self::Kebab => lower.join("-"),
            Self::ScreamingKebab => lower.join("-").to_uppercase(),
            Self::Pascal => capitalised().collect(),
            Self::Camel => {
                let first = lower.first().cloned().into_iter();
                first.chain(capitalised().skip(1)).collect()
            }
        }
    }
}

/// A word ends at `_` or `-`, before a capital that follows a small letter or a digit, and before
/// the last capital of a row that goes on in small letters.
fn words(identifier: &str) -> Vec<String> {
    let chars: Vec<char> = identifier.chars().collect();
    let mut words = vec![String::new()];
    for (position, &current) in chars.iter().enumerate() {
        if matches!(current, '_' | '-') {
            words.push(String::new());
            continue;
        }
        let before = position.checked_sub(1).and_then(|before| chars.get(before));
        let after = chars.get(position + 1);
        let ends_a_word = before.is_some_and(|before| before.is_lowercase() || before.is_numeric());
        let begins_a_word = before.is_some_and(|before| before.is_uppercase())
            && after.is_some_and(|after| after.is_lowercase());
        if current.is_uppercase() && (ends_a_word || begins_a_word) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.push(current);
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn capitalised(word: &str) -> String {
    let mut rest = word.chars();
    let first = rest.next().into_iter().flat_map(char::to_uppercase);
    first.chain(rest.as_str().chars()).collect()
}

/// The known name that is close enough to be what was meant.
pub(crate) fn closest<'a>(given: &str, known: &[&'a str]) -> Option<&'a str> {
    let given = given.to_lowercase();
    known
        .iter()
        .map(|name| (strsim::damerau_levenshtein(&given, name), *name))
        .filter(|(distance, name)| distance * 3 <= name.len().max(given.len()))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_has_the_words_in_title_case() {
        for (identifier, expected) in [
            ("get_weather", "Get Weather"),
            ("getWeather", "Get Weather"),
            ("getHTTPStatus", "Get HTTP Status"),
            ("HTTPStatus", "HTTP Status"),
            ("get_2d_map", "Get 2d Map"),
            ("utf8Length", "Utf8 Length"),
            ("__private__name_", "Private Name"),
            ("x", "X"),
            ("ärger_öl", "Ärger Öl"),
            ("_", ""),
        ] {
            assert_eq!(label(identifier), expected, "{identifier}");
        }
    }

    #[test]
    fn cases_spell_as_serde_does() {
        for (word, expected) in [
            ("lowercase", "maxresults2"),
            ("UPPERCASE", "MAXRESULTS2"),
            ("PascalCase", "MaxResults2"),
            ("camelCase", "maxResults2"),
            ("snake_case", "max_results_2"),
            ("SCREAMING_SNAKE_CASE", "MAX_RESULTS_2"),
            ("kebab-case", "max-results-2"),
            ("SCREAMING-KEBAB-CASE", "MAX-RESULTS-2"),
        ] {
            let (_, case) = CASES.iter().find(|(known, _)| *known == word).unwrap();
            assert_eq!(case.spell("max_results_2"), expected);
        }
    }

    #[test]
    fn r20_tool_names_are_what_every_provider_accepts() {
        let longest = "a".repeat(64);
        for good in ["a", "getWeather", "get-weather_2", "_", longest.as_str()] {
            assert!(is_tool_name(good), "{good}");
        }
        let too_long = "a".repeat(65);
        for bad in [
            "",
            "calendar.read",
            "get weather",
            "größe",
            "a\n",
            too_long.as_str(),
        ] {
            assert!(!is_tool_name(bad), "{bad}");
        }
    }

    #[test]
    fn argument_names_may_have_dots_too() {
        assert!(is_argument_name("filter.from"));
        for bad in ["", "größe", "a b", "a$"] {
            assert!(!is_argument_name(bad), "{bad}");
        }
    }

    #[test]
    fn closest_name_is_a_likely_slip_only() {
        let known = ["name", "label", "description", "parallel", "timeout"];
        for (given, expected) in [
            ("nmae", Some("name")),
            ("Name", Some("name")),
            ("desciption", Some("description")),
            ("paralel", Some("parallel")),
            ("time_out", Some("timeout")),
            ("title", None),
            ("x", None),
        ] {
            assert_eq!(closest(given, &known), expected, "{given}");
        }
    }
}
