//! What a schema says of arguments and what a tool makes of them: for tools of every type and every
//! key, what the host accepts is read, and no keyword says too much or nothing.

mod advertised;
#[expect(
    clippy::needless_pass_by_value,
    clippy::too_many_arguments,
    reason = "these tools are there for their signatures"
)]
mod catalogue;
mod depth;
mod digits;
mod generator;
mod keywords;
mod names;
mod reading;
mod schema;

use tool_sdk::tool::TOOLS;

/// Makes the tests of each tool.
macro_rules! agree {
    ($($tool:ident)*) => {
        const TESTED: &[&str] = &[$(stringify!($tool)),*];

        $(mod $tool {
            #[test]
            fn what_the_host_accepts_is_read() {
                super::reading::check(stringify!($tool));
            }

            #[test]
            fn what_is_advertised_is_valid() {
                super::advertised::check(stringify!($tool));
            }

            #[test]
            fn schema_is_as_written() {
                super::keywords::is_as_written(stringify!($tool));
            }

            #[test]
            fn no_keyword_is_idle() {
                super::keywords::check(stringify!($tool));
            }
        })*
    };
}

agree! {
    agree_adjacent
    agree_bounded_floats
    agree_bounded_integers
    agree_bounded_single_floats
    agree_boxed_texts
    agree_choices
    agree_defaults
    agree_examples
    agree_external
    agree_flattened
    agree_floats
    agree_formats
    agree_integers
    agree_internal
    agree_keyword_names
    agree_lengths
    agree_lengths_of_text
    agree_lists
    agree_maps
    agree_narrow_structs
    agree_nonzero_integers
    agree_nothing
    agree_optional_integers
    agree_optional_scalars
    agree_other_structs
    agree_patterns
    agree_presets
    agree_recursive_enums
    agree_recursive_structs
    agree_recursive_untagged
    agree_renamed
    agree_scalars
    agree_sets
    agree_single_floats
    agree_structs
    agree_structs_with_defaults
    agree_tuples
    agree_untagged
    agree_words
}

#[test]
fn every_tool_of_the_catalogue_is_tested() {
    let mut linked: Vec<&str> = TOOLS
        .iter()
        .filter(|tool| tool.file.contains("agreement"))
        .map(|tool| tool.name)
        .collect();
    linked.sort_unstable();
    assert_eq!(linked, TESTED);
}
