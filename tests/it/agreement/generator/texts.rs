//! Text of a length, of a form, of a pattern, in letters of one to four bytes.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::string::string_regex;
use serde_json::{Value, json};

/// Letters of one, two, three and four bytes, one that joins the letter before it, and one that
/// has to be escaped.
const LETTERS: [char; 8] = ['a', 'Z', '5', 'ß', '€', '🥳', '\u{301}', '\u{0}'];

const WORDS: [&str; 12] = [
    "",
    "a",
    "Rome",
    "5",
    "-1",
    "1.50",
    "true",
    "null",
    "{\"a\":1}",
    "[1]",
    " x ",
    "ß\u{301}🥳\n",
];

/// Text that the schema accepts, unless it has a pattern beside a length or a form.
pub(super) fn texts(schema: &Value) -> BoxedStrategy<Value> {
    if let Some(format) = schema.get("format").and_then(Value::as_str) {
        return select(of_format(format)).boxed();
    }
    let limit = |keyword: &str| {
        let limit = schema.get(keyword)?.as_u64()?;
        usize::try_from(limit).ok()
    };
    let least = limit("minLength").unwrap_or_default();
    let most = limit("maxLength");
    if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
        return of_pattern(pattern, most);
    }
    let words: Vec<Value> = WORDS
        .iter()
        .filter(|word| {
            let length = word.chars().count();
            length >= least && most.is_none_or(|most| length <= most)
        })
        .map(|word| json!(word))
        .collect();
    let long = prop_oneof![4 => Just(least + 3), 1 => Just(least + 300)];
    let of_length = long.prop_flat_map(move |long| of_length(least, most.unwrap_or(long)));
    if words.is_empty() {
        of_length.boxed()
    } else {
        prop_oneof![2 => select(words), 1 => of_length].boxed()
    }
}

/// Text of so many letters; the shortest and the longest often.
pub(super) fn of_length(least: usize, most: usize) -> BoxedStrategy<Value> {
    let length = prop_oneof![Just(least), Just(most), least..=most];
    length
        .prop_flat_map(|length| proptest::collection::vec(select(LETTERS.to_vec()), length))
        .prop_map(|letters| letters.into_iter().collect::<String>().into())
        .boxed()
}

fn of_pattern(pattern: &str, most: Option<usize>) -> BoxedStrategy<Value> {
    let from_start = pattern.strip_prefix('^');
    let inner = from_start.unwrap_or(pattern);
    let to_end = inner.strip_suffix('$');
    let text = string_regex(to_end.unwrap_or(inner)).unwrap();
    let around = move |open: bool| {
        if open {
            select(vec!["", "a", "🥳"])
        } else {
            select(vec![""])
        }
    };
    (around(from_start.is_none()), text, around(to_end.is_none()))
        .prop_map(move |(before, text, after)| {
            let text = format!("{before}{text}{after}");
            text.chars()
                .take(most.unwrap_or(usize::MAX))
                .collect::<String>()
                .into()
        })
        .boxed()
}

/// Text of a format, some of it at the edges.
fn of_format(format: &str) -> Vec<Value> {
    let texts: &[&str] = match format {
        "date" => &["2024-02-29", "0001-01-01", "9999-12-31"],
        "date-time" => &["2024-02-29T23:59:60Z", "1985-04-12T23:20:50.52+02:00"],
        "time" => &["00:00:00Z", "23:59:59.999-12:00"],
        "duration" => &["PT1H30M", "P1Y2M3DT4H5M6S", "P4W"],
        "email" => &["ada@example.com", "a.b+c@[192.0.2.1]"],
        "uuid" => &[
            "67e55044-10b1-426f-9247-bb680e5fe0c8",
            "00000000-0000-0000-0000-000000000000",
        ],
        "uri" => &[
            "https://example.com/a?b=c#d",
            "mailto:ada@example.com",
            "urn:x:y",
        ],
        "ipv4" => &["192.0.2.1", "0.0.0.0", "255.255.255.255"],
        "ipv6" => &["::", "2001:db8::1", "::ffff:192.0.2.1"],
        "hostname" => &["example.com", "a", "xn--bcher-kva.example"],
        other => panic!("no text of the form {other} is known here"),
    };
    texts.iter().map(|text| json!(text)).collect()
}
