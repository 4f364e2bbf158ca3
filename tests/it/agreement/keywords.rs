//! No keyword of a published schema is idle: without it, arguments would be accepted that are
//! refused, or something that a model reads would be missing.

use jsonschema::Validator;
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};
use tool_sdk::testing;

use super::generator::{self, WITHOUT};
use super::schema::{Keywords, parts, step, validator};

/// Keywords that only tell a model something. The snapshot of the schema misses them.
const TOLD: [&str; 4] = ["description", "default", "examples", "title"];

/// How many arguments are tried before a keyword is taken for idle.
const MOST_TRIES: usize = 2000;

/// Keywords that are implied by another one beside them: which, when, and why it is shown.
type Implied = (&'static str, fn(&Keywords) -> bool, &'static str);

const IMPLIED: &[Implied] = &[
    ("type", lists_values, "a model reads it, and arguments are brought to it"),
    ("minimum", lists_values, "the type's own"),
    ("maximum", lists_values, "the type's own"),
    ("minLength", lists_values, "the type's own"),
    ("maxLength", lists_values, "the type's own"),
    ("minimum", |part| part.contains_key("exclusiveMinimum"), "the type's own"),
    ("maximum", |part| part.contains_key("exclusiveMaximum"), "the type's own"),
    ("additionalProperties", |part| part["additionalProperties"] == true, "says so aloud"),
];

fn lists_values(part: &Keywords) -> bool {
    part.contains_key("enum") || part.contains_key("const")
}

/// The schema as a whole: whatever is taken out of it is missed here.
pub(super) fn is_as_written(tool: &str) {
    let root = testing::describe(tool).unwrap().input_schema;
    insta::assert_json_snapshot!(tool, root);
}

/// Looks for arguments that show what each keyword is for.
pub(super) fn check(tool: &str) {
    let root = testing::describe(tool).unwrap().input_schema;
    let whole = validator(&root);
    let mut idle = Vec::new();
    for (pointer, part) in parts(&root) {
        for (keyword, value) in part {
            let implied = IMPLIED
                .iter()
                .any(|(implied, when, _)| implied == keyword && when(part));
            if TOLD.contains(&keyword.as_str())
                || keyword == "$defs"
                || implied
                || is_root_type(&pointer, keyword)
            {
                continue;
            }
            if witness(&whole, &root, &pointer, keyword, value).is_none() {
                idle.push(format!(
                    "{pointer}/{keyword}: {}",
                    Value::from(part.clone())
                ));
            }
        }
    }
    assert!(
        idle.is_empty(),
        "{tool}: no arguments show what these are for:\n{}",
        idle.join("\n")
    );
}

/// Arguments are an object before they are looked at; a host refuses a schema that does not say so.
fn is_root_type(pointer: &str, keyword: &str) -> bool {
    pointer.is_empty() && keyword == "type"
}

/// Arguments on which the schema with a keyword and that without it differ.
fn witness(
    whole: &Validator,
    root: &Value,
    pointer: &str,
    keyword: &str,
    value: &Value,
) -> Option<Value> {
    let mut without = root.clone();
    let part = without.pointer_mut(pointer)?.as_object_mut()?;
    part.shift_remove(keyword);
    part.insert(
        WITHOUT.to_owned(),
        json!({"keyword": keyword, "value": value}),
    );
    let lax = validator(&without);
    // Names that are known may be idle only where others are refused, so it is the other way round.
    let (lax, strict, from) = if keyword == "properties" { (whole, &lax, root) } else { (&lax, whole, &without) };
    let strategy = generator::arguments(from);
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let mut tries = (0..MOST_TRIES).map(|_| strategy.new_tree(&mut runner).unwrap().current());
    let mut n = 0;
    let began = std::time::Instant::now();
    let r = tries.find(|arguments| { n += 1; lax.is_valid(arguments) && !strict.is_valid(arguments) });
    eprintln!("TRIES {n} {:?} {pointer}/{keyword}", began.elapsed());
    r
}

#[test]
fn names_are_escaped() {
    assert_eq!(step("a/b~c"), "a~1b~0c");
}
