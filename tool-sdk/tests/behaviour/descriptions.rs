//! What a model reads about a tool and its arguments, from doc comments.

use tool_sdk::prelude::*;

use super::{described, properties};

/// First line
/// wrapped here.
///
/// - item one
///   - item two
///
/// ```sh
/// # no heading
/// ```
///
/// # Errors
/// Not for the model.
#[tool]
fn documented() {}

#[test]
fn paragraphs_lists_and_fences_survive() {
    let expected =
        "First line\nwrapped here.\n\n- item one\n  - item two\n\n```sh\n# no heading\n```";
    assert_eq!(described("documented")["description"], expected);
}

/// Before,
#[inline]
/// between
#[tool]
#[doc(hidden)]
/// and after.
fn documented_in_pieces(
    /// Before
    #[arg(default = 1)]
    /// and after
    #[expect(unused_variables, reason = "an attribute between doc lines")]
    /// and last.
    number: u8,
) {
}

#[test]
fn attributes_between_doc_lines_lose_nothing() {
    assert_eq!(
        described("documented_in_pieces")["description"],
        "Before,\nbetween\nand after."
    );
    assert_eq!(
        properties("documented_in_pieces")["number"]["description"],
        "Before\nand after\nand last."
    );
}

#[doc = include_str!("description.md")]
#[tool]
fn documented_in_a_file(
    #[doc = include_str!("description.md")] a: u8,
    #[arg(description = include_str!("description.md"))] b: u8,
    #[doc = concat!(" put", " together")] c: u8,
) -> u8 {
    a + b + c
}

#[tool(description = include_str!("description.md"))]
fn described_in_a_file() {}

#[test]
fn descriptions_may_come_from_files() {
    let text = "From a file,\nin two lines.";
    assert_eq!(described("documented_in_a_file")["description"], text);
    assert_eq!(described("described_in_a_file")["description"], text);
    let properties = properties("documented_in_a_file");
    assert_eq!(properties["a"]["description"], text);
    assert_eq!(properties["b"]["description"], text);
    assert_eq!(properties["c"]["description"], "put together");
}

/**
 * Stars are no text,
 *   indentation is.
 */
#[tool]
fn documented_in_a_block(
    /** One line */
    number: u8,
) -> u8 {
    number
}

#[test]
fn block_comments_are_doc_comments() {
    let text = described("documented_in_a_block")["description"].take();
    assert_eq!(text, "Stars are no text,\n  indentation is.");
    assert_eq!(
        properties("documented_in_a_block")["number"]["description"],
        "One line"
    );
}

/// Listed below.
///
/// # Arguments
/// * `first` - the first,
///   in two lines
/// - `second`: the second
/// - third - not this one
#[tool]
fn documented_in_a_list(
    first: u8,
    second: u8,
    /// The third
    third: u8,
    fourth: u8,
) -> u8 {
    first + second + third + fourth
}

#[test]
fn arguments_may_be_described_in_a_list() {
    let byte = |description: &str| json!({"type": "integer", "description": description, "minimum": 0, "maximum": 255});
    let expected = json!({
        "first": byte("the first,\nin two lines"),
        "second": byte("the second"),
        "third": byte("The third"),
        "fourth": {"type": "integer", "minimum": 0, "maximum": 255},
    });
    assert_eq!(properties("documented_in_a_list"), expected);
    assert_eq!(
        described("documented_in_a_list")["description"],
        "Listed below."
    );
}

#[tool]
fn undocumented() {}

#[test]
fn tool_without_docs_has_no_description() {
    assert_eq!(described("undocumented")["description"], "");
}

/// Renamed.
///
/// # Arguments
/// * `max_results` - by its name in Rust
/// * `userId` - by its name on the wire
#[tool(rename_all = "camelCase", require_docs)]
fn documented_by_either_name(max_results: u8, user_id: u8) -> u8 {
    max_results + user_id
}

#[test]
fn list_of_arguments_may_have_either_name() {
    let shown = properties("documented_by_either_name");
    assert_eq!(shown["maxResults"]["description"], "by its name in Rust");
    assert_eq!(shown["userId"]["description"], "by its name on the wire");
}
