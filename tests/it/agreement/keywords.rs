//! No keyword of a published schema is idle: without it, arguments would be accepted that are
//! refused, or something that a model reads would be missing.

use jsonschema::Validator;
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};
use tool_sdk::testing;

use super::generator::{self, WITHOUT};
use super::schema::{Keywords, parts, validator};

/// Keywords that only tell a model something. The snapshot of the schema misses them.
const TOLD: [&str; 4] = ["description", "default", "examples", "title"];

/// How many arguments are tried before a keyword is taken for idle.
const MOST_TRIES: usize = 2000;

/// A keyword where it stands.
struct Place<'s> {
    root: &'s Value,
    /// JSON pointer to the schema that it stands in.
    pointer: &'s str,
    part: &'s Keywords,
    keyword: &'s str,
    /// What is taken away: the value, or one of its names.
    taken: &'s Value,
}

/// Keywords that no arguments can miss: which, where, and why they are shown.
type Implied = (&'static str, fn(&Place<'_>) -> bool, &'static str);

const IMPLIED: &[Implied] = &[
    (
        "type",
        |place| place.pointer.is_empty(),
        "arguments are an object before they are looked at; no host takes a schema without",
    ),
    (
        "type",
        lists_values,
        "models and clients read it, and arguments are brought to it",
    ),
    (
        "type",
        is_one_of_objects,
        "clients read it: an object stays one in every alternative",
    ),
    ("minimum", lists_values, OF_TYPE),
    ("maximum", lists_values, OF_TYPE),
    ("minLength", lists_values, OF_TYPE),
    ("maxLength", lists_values, OF_TYPE),
    ("minLength", |place| place.has("pattern"), OF_TYPE),
    ("minimum", |place| place.has("exclusiveMinimum"), OF_TYPE),
    ("maximum", |place| place.has("exclusiveMaximum"), OF_TYPE),
    (
        "properties",
        |place| place.value() == &json!({}),
        "clients read it: a tool without arguments has an empty object",
    ),
    ("additionalProperties", is_true, ALOUD),
    ("items", is_true, ALOUD),
];

const OF_TYPE: &str = "what the type holds; its author allows less";

const ALOUD: &str = "says aloud that anything goes";

fn is_true(place: &Place<'_>) -> bool {
    place.value() == true
}

fn lists_values(place: &Place<'_>) -> bool {
    place.has("enum") || place.has("const")
}

/// Fields that are flattened stand in alternatives beside those of the struct.
fn is_one_of_objects(place: &Place<'_>) -> bool {
    let around = place.pointer.rsplit_once("/oneOf/");
    let around = around.and_then(|(around, _)| place.root.pointer(around));
    place.value() == "object"
        && (place.has("oneOf") || around.is_some_and(|around| around.get("type").is_some()))
}

impl Place<'_> {
    fn value(&self) -> &Value {
        &self.part[self.keyword]
    }

    fn has(&self, keyword: &str) -> bool {
        self.part.contains_key(keyword)
    }

    fn is_implied(&self) -> bool {
        let known = |(keyword, holds, _): &Implied| *keyword == self.keyword && holds(self);
        IMPLIED.iter().any(known)
    }

    /// Whether less is accepted without it: names are known beside others that are refused, and
    /// what stands behind `not` is refused.
    fn allows(&self) -> bool {
        self.keyword == "properties" || self.pointer.ends_with("/not")
    }

    /// The schema without the keyword.
    fn without(&self) -> Value {
        let mut without = self.root.clone();
        if let Some(Value::Object(part)) = without.pointer_mut(self.pointer) {
            part.shift_remove(self.keyword);
            let taken = json!({"keyword": self.keyword, "value": self.value()});
            part.insert(WITHOUT.to_owned(), taken);
        }
        without
    }

    /// Whether there are arguments on which the schema and that without the keyword differ.
    fn is_missed(&self, whole: &Validator) -> bool {
        let without = self.without();
        let Ok(lax) = validator(&without) else {
            return true;
        };
        if self.allows() {
            differ(whole, &lax, self.root)
        } else {
            differ(&lax, whole, &without)
        }
    }
}

/// Whether the second validator refuses what the first accepts. `from` is what arguments are made
/// from; they are the same in every run.
fn differ(lax: &Validator, strict: &Validator, from: &Value) -> bool {
    let strategy = generator::arguments(from);
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let mut tries = (0..MOST_TRIES).map(|_| strategy.new_tree(&mut runner).unwrap().current());
    tries.any(|arguments| lax.is_valid(&arguments) && !strict.is_valid(&arguments))
}

/// The schema as a whole: whatever is taken out of it is missed here.
pub(super) fn is_as_written(tool: &str) {
    let root = testing::describe(tool).unwrap().input_schema;
    insta::assert_json_snapshot!(tool, root);
}

/// Looks for arguments that show what each keyword is for.
pub(super) fn check(tool: &str) {
    let root = testing::describe(tool).unwrap().input_schema;
    let whole = validator(&root).unwrap();
    let mut idle = Vec::new();
    for (pointer, part) in &parts(&root) {
        for keyword in part
            .keys()
            .filter(|keyword| !TOLD.contains(&keyword.as_str()))
        {
            let place = Place {
                root: &root,
                pointer,
                part,
                keyword,
            };
            if !place.is_implied() && !place.is_missed(&whole) {
                idle.push(format!(
                    "{pointer}/{keyword}: {}",
                    Value::from((*part).clone())
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
