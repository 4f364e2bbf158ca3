//! Every key at once, in every place where it may stand.
#![deny(warnings)]

use tool_sdk::prelude::*;

const LIMIT: usize = 10;

/// Does nothing.
#[tool(
    name = "every-key",
    label = "Every key",
    rename_all = "camelCase",
    parallel = true,
    max_concurrent = 4,
    timeout = "1s",
    deprecated = "use another",
    read_only,
    destructive = false,
    idempotent = true,
    open_world = false,
    require_docs,
    example({"maxResults": 5, "kind": "a"}),
    example({"maxResults": 5, "kind": "a"}, "5"),
    example({"maxResults": 5, "kind": "a"}, {"found": [1, null, true]}),
    example({"maxResults": 5, "kind": "a"}, pattern = "^5$",),
)]
fn every_key(
    /// How many
    #[arg(min = 1, max = LIMIT, example = LIMIT - 1)]
    max_results: usize,
    /// Which
    #[arg(one_of = ["a", "b"], default = "a")]
    kind: String,
    /// When
    #[arg(format = "date", min_length = 10, max_length = 10)]
    day: Option<String>,
    /// What
    #[arg(pattern = r"^\d+$", rename = "Codes", max_length = 3)]
    codes: Vec<String>,
    #[arg(preset)] api_key: String,
    #[arg(exclusive_min = 0, exclusive_max = 1, description = "Share")] share: f64,
) -> usize {
    let _ = (kind, day, codes, api_key, share);
    max_results
}

#[test]
fn it_stays_a_function() {
    let text = String::new;
    assert_eq!(every_key(1, text(), None, Vec::new(), text(), 0.5), 1);
}
