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
    /// What is taken away: one name of those that are required, else the keyword as a whole.
    taken: Value,
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

    /// A schema without what is taken away.
    fn without(&self, root: &Value) -> Value {
        let mut without = root.clone();
        if let Some(Value::Object(part)) = without.pointer_mut(self.pointer) {
            let names = part.get_mut(self.keyword).and_then(Value::as_array_mut);
            match names {
                Some(names) if self.keyword == "required" => {
                    names.retain(|name| *name != self.taken);
                }
                _ => drop(part.shift_remove(self.keyword)),
            }
            let taken = json!({"keyword": self.keyword, "value": self.taken});
            part.insert(WITHOUT.to_owned(), taken);
        }
        without
    }

    /// The schema of the one argument that it is about, which takes less time; of all, where it is
    /// about none or may be about several.
    fn narrowed(&self) -> Value {
        let mut root = self.root.clone();
        let Some(name) = self.pointer.strip_prefix("/properties/") else {
            return root;
        };
        let name = name.split('/').next().unwrap_or_default();
        if let Some(Value::Object(properties)) = root.get_mut("properties") {
            properties.retain(|property, _| property == name);
        }
        if let Some(Value::Array(names)) = root.get_mut("required") {
            names.retain(|required| required == name);
        }
        root
    }

    fn shown(&self) -> String {
        let part = Value::from(self.part.clone());
        format!("{}/{} {}: {part}", self.pointer, self.keyword, self.taken)
    }

    /// Whether there are arguments on which the schema and that without the keyword differ.
    fn is_missed(&self) -> bool {
        let root = self.narrowed();
        let without = self.without(&root);
        let whole = validator(&root).unwrap();
        let Ok(lax) = validator(&without) else {
            return true;
        };
        if self.allows() {
            differ(&whole, &lax, &root)
        } else {
            differ(&lax, &whole, &without)
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

/// Every keyword that decides what is accepted, and every name that is required.
fn places<'s>(root: &'s Value, parts: &'s [(String, &'s Keywords)]) -> Vec<Place<'s>> {
    let mut places = Vec::new();
    for (pointer, part) in parts {
        for (keyword, value) in *part {
            let taken = match value {
                Value::Array(names) if keyword == "required" => names.clone(),
                whole => vec![whole.clone()],
            };
            let place = |taken| Place {
                root,
                pointer,
                part,
                keyword,
                taken,
            };
            places.extend(taken.into_iter().map(place));
        }
    }
    places.retain(|place| !TOLD.contains(&place.keyword));
    places
}

/// Looks for arguments that show what each keyword is for.
pub(super) fn check(tool: &str) {
    let root = testing::describe(tool).unwrap().input_schema;
    let parts = parts(&root);
    let places = places(&root, &parts);
    let is_idle = |place: &&Place<'_>| !place.is_implied() && !place.is_missed();
    let idle: Vec<String> = places.iter().filter(is_idle).map(Place::shown).collect();
    assert!(
        idle.is_empty(),
        "{tool}: no arguments show what these are for:\n{}",
        idle.join("\n")
    );
}
