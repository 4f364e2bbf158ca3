//! What to say of a value that fits no branch of `anyOf` or `oneOf`: one line for one mistake.
//!
//! Where no branch takes a value of that kind, all of them are named; else the problems of the
//! branch that was most likely meant.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde_json::Value;

use super::problem::{self, Problem, Problems, not_allowed, plain, type_names};

/// The errors of one branch.
type Branch = Vec<ValidationError<'static>>;

/// What a branch takes instead of the value.
enum Wanted {
    Type(String),
    Options(Vec<Value>),
}

/// Adds what is wrong with a value that fits no branch.
pub(super) fn describe(
    root: &Value,
    error: &ValidationError<'_>,
    branches: &[Branch],
    problems: &mut Problems,
) {
    let at = error.instance_path().as_str();
    let wanted: Vec<Wanted> = branches
        .iter()
        .filter_map(|branch| Wanted::of(at, branch))
        .collect();
    if wanted.len() == branches.len() {
        problems.push(of_kind(error, wanted));
        return;
    }
    let candidates = branches
        .iter()
        .filter(|branch| Wanted::of(at, branch).is_none());
    let candidates: Vec<&Branch> = candidates.collect();
    if let Some(problem) = of_tag(&candidates) {
        problems.push(problem);
        return;
    }
    let nearest = candidates
        .into_iter()
        .min_by_key(|branch| distance(at, branch));
    for error in nearest.into_iter().flatten() {
        problem::describe(root, error, problems);
    }
}

impl Wanted {
    /// `None` when the value is of the kind that the branch takes.
    fn of(at: &str, branch: &Branch) -> Option<Self> {
        let own = |error: &&ValidationError<'_>| error.instance_path().as_str() == at;
        branch
            .iter()
            .filter(own)
            .find_map(|error| match error.kind() {
                ValidationErrorKind::Type { kind } => Some(Self::Type(type_names(kind))),
                ValidationErrorKind::Constant { expected_value } => {
                    Some(Self::Options(vec![Value::clone(expected_value)]))
                }
                ValidationErrorKind::Enum { options } => Some(Self::Options(
                    options.as_array().cloned().unwrap_or_default(),
                )),
                _ => None,
            })
    }
}

fn of_kind(error: &ValidationError<'_>, wanted: Vec<Wanted>) -> Problem {
    let mut types: Vec<String> = Vec::new();
    let mut options: Vec<Value> = Vec::new();
    for one in wanted {
        match one {
            Wanted::Type(kind) if !types.contains(&kind) => types.push(kind),
            Wanted::Type(_) => {}
            Wanted::Options(more) => options.extend(more),
        }
    }
    let types = types.join(" or ");
    if options.is_empty() {
        return Problem {
            expected: Some(types),
            ..plain(error, "wrong type")
        };
    }
    let or = if types.is_empty() {
        types
    } else {
        format!(" or {types}")
    };
    not_allowed(error, &options, &or)
}

/// The problem of a tag that no branch has, with those of all of them.
fn of_tag(branches: &[&Branch]) -> Option<Problem> {
    let (first, rest) = branches.split_first()?;
    let is_tag = |error: &&ValidationError<'_>| {
        matches!(
            error.kind(),
            ValidationErrorKind::Constant { .. } | ValidationErrorKind::Enum { .. }
        )
    };
    let error = first.iter().find(is_tag).filter(|_| !rest.is_empty())?;
    let at = error.instance_path().as_str();
    let mut options = Vec::new();
    for branch in branches {
        match Wanted::of(at, branch)? {
            Wanted::Options(more) => options.extend(more),
            Wanted::Type(_) => return None,
        }
    }
    Some(not_allowed(error, &options, ""))
}

/// How far a value is from a branch: first by its tags, then by the number of mistakes, then by
/// how deep the first mistake lies.
fn distance(at: &str, branch: &Branch) -> (usize, usize, std::cmp::Reverse<usize>) {
    let depth = |error: &ValidationError<'_>| {
        let path = error.instance_path().as_str();
        path.get(at.len()..)
            .unwrap_or_default()
            .matches('/')
            .count()
    };
    let is_tag = |error: &&ValidationError<'_>| {
        let fixed = matches!(
            error.kind(),
            ValidationErrorKind::Constant { .. } | ValidationErrorKind::Enum { .. }
        );
        fixed && depth(error) == 1
    };
    let tags = branch.iter().filter(is_tag).count();
    let deepest = branch.iter().map(depth).max().unwrap_or_default();
    (tags, branch.len(), std::cmp::Reverse(deepest))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Checks what is said of `v` under these branches.
    #[expect(clippy::needless_pass_by_value, reason = "callers write `json!(…)`")]
    fn check(branches: Value, value: Value, expected: &[&str]) {
        for keyword in ["anyOf", "oneOf"] {
            let schema = json!({"properties": {"v": {keyword: branches}}});
            let validator = jsonschema::validator_for(&schema).unwrap();
            let problems = problem::collect(&schema, &validator, &json!({"v": value}));
            let text = problems.report("t", &Value::Null);
            let lines: Vec<&str> = text
                .lines()
                .filter_map(|line| line.strip_prefix("  - "))
                .collect();
            assert_eq!(lines, expected, "{branches}");
        }
    }

    #[test]
    fn value_of_no_branch_names_all_kinds() {
        let text_or_number = json!([{"type": "string"}, {"type": "integer"}, {"type": "string"}]);
        let expected = "/v: wrong type (expected string or integer, got boolean true)";
        check(text_or_number, json!(true), &[expected]);
        let options =
            json!([{"const": "north"}, {"const": "south"}, {"enum": ["east"]}, {"type": "null"}]);
        let expected = "/v: not one of the allowed values, did you mean \"north\"? \
                        (expected one of \"north\", \"south\", \"east\" or null, got string \"nort\")";
        check(options, json!("nort"), &[expected]);
    }

    #[test]
    fn tag_decides_which_branch_was_meant() {
        let shapes = json!([
            {"type": "object", "required": ["kind", "radius"], "properties": {
                "kind": {"const": "circle"}, "radius": {"type": "number"}}},
            {"type": "object", "required": ["kind", "width"], "additionalProperties": false,
             "properties": {"kind": {"const": "square"}, "width": {"type": "number"}}},
            {"type": "string"},
        ]);
        let check = |value, expected: &[&str]| check(shapes.clone(), value, expected);
        check(
            json!({"kind": "circle"}),
            &["/v/radius: missing required argument (expected number)"],
        );
        check(
            json!({"kind": "square", "width": 1, "widht": 2}),
            &["/v/widht: unknown argument, did you mean \"width\"? (allowed: kind, width)"],
        );
        check(
            json!({"kind": "square", "width": "x", "z": 2}),
            &[
                "/v/width: wrong type (expected number, got string \"x\")",
                "/v/z: unknown argument (allowed: kind, width)",
            ],
        );
        check(
            json!(5),
            &["/v: wrong type (expected object or string, got number 5)"],
        );
    }

    #[test]
    fn branch_with_the_fewest_mistakes_is_nearest() {
        let lists = json!([
            {"type": "array", "items": {"type": "string"}},
            {"type": "array", "items": {"type": "integer"}},
        ]);
        check(
            lists,
            json!([1, 2, "x"]),
            &["/v/2: wrong type (expected integer, got string \"x\")"],
        );
        let nested = json!([
            {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "integer", "maximum": 9}]}},
            {"type": "null"},
        ]);
        check(
            nested,
            json!(["a", 10]),
            &["/v/1: too large (expected at most 9, got number 10)"],
        );
    }
}
