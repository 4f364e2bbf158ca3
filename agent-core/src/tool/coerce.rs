//! Lossless coercion towards the declared type (R10), and null for what is optional (R2).
//!
//! Arguments and schema are walked together. Where a schema leaves a choice, a value is left as
//! it was sent; what does not fit then is validation's to tell.

use serde_json::{Map, Number, Value};

use super::problem::{Problem, shown};
use super::sent::{Sent, exact_integer};
use super::shape::{all_of, allows_null, escape, item, property, resolve, types};
use super::{Change, branch};
use crate::{json_value, limits};

/// Places that one walk looks at; a schema that needs more describes the same value many times.
const MOST_STEPS: usize = 10_000_000;

/// Alternatives that one walk looks into: where many may have taken a value, and values in it, their
/// number multiplies at every level.
const MOST_ALTERNATIVES: usize = 20_000;

/// Schemas of one place and of those around it: references may lead in a circle.
const MOST_LAYERS: usize = 4 * limits::ARGUMENT_DEPTH;

/// What of the arguments may be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// They are valid: only floats without a fraction become integers.
    Valid,
    /// They are not: everything that is lossless.
    Invalid,
}

/// One walk over arguments that records what it changes.
pub(super) struct Walk<'a> {
    root: &'a Value,
    /// The arguments as they were sent, for numbers whose digits matter.
    sent: Sent<'a>,
    extent: Extent,
    pointer: String,
    steps: usize,
    alternatives: usize,
    changes: Vec<Change>,
    /// Integers that no 64-bit type can hold: they would reach the tool rounded.
    too_large: Vec<Problem>,
}

impl<'a> Walk<'a> {
    /// A walk by this schema. `text` is what was sent.
    pub(super) fn new(root: &'a Value, text: Option<&'a str>, extent: Extent) -> Self {
        Self {
            root,
            sent: Sent::new(text),
            extent,
            pointer: String::new(),
            steps: 0,
            alternatives: 0,
            changes: Vec::new(),
            too_large: Vec::new(),
        }
    }

    /// Brings the arguments to their declared types where nothing is lost by it. Answers what was
    /// changed, and integers that can't be kept.
    pub(super) fn coerce(mut self, arguments: &mut Value) -> (Vec<Change>, Vec<Problem>) {
        self.value(self.root, arguments, 0);
        (self.changes, self.too_large)
    }

    fn value(&mut self, schema: &Value, value: &mut Value, depth: usize) {
        self.steps += 1;
        if depth > MOST_LAYERS || self.steps > MOST_STEPS {
            return;
        }
        let schema = if value.is_null() {
            schema
        } else {
            resolve(self.root, schema)
        };
        if let Some(changed) = self.converted(schema, value) {
            let from = std::mem::replace(value, changed.clone());
            let pointer = self.pointer.clone();
            self.changes.push(Change {
                pointer,
                from,
                to: Some(changed),
            });
        }
        match value {
            Value::Object(object) => self.object(schema, object, depth),
            Value::Array(items) => {
                for (index, value) in items.iter_mut().enumerate() {
                    if let Some(of) = item(schema, index) {
                        self.below(&index.to_string(), |walk| walk.value(of, value, depth + 1));
                    }
                }
            }
            _ => {}
        }
        for part in all_of(schema) {
            self.value(part, value, depth + 1);
        }
        for branch in branch::meant(self.root, schema, value, self.extent) {
            self.alternatives += 1;
            if self.alternatives <= MOST_ALTERNATIVES {
                self.value(branch, value, depth + 1);
            }
        }
    }

    fn object(&mut self, schema: &Value, object: &mut Map<String, Value>, depth: usize) {
        if self.extent == Extent::Invalid {
            self.drop_absent(schema, object);
        }
        for (name, value) in object.iter_mut() {
            if let Some(of) = property(schema, name) {
                self.below(&escape(name), |walk| walk.value(of, value, depth + 1));
            }
        }
    }

    /// R2: null for an optional argument means absent, where null is no value of it.
    fn drop_absent(&mut self, schema: &Value, object: &mut Map<String, Value>) {
        let properties = schema.get("properties");
        let required = schema.get("required").and_then(Value::as_array);
        let is_absent = |name: &str, value: &Value| {
            let of = properties.and_then(|properties| properties.get(name));
            let demanded = required.is_some_and(|names| names.iter().any(|one| one == name));
            value.is_null() && !demanded && of.is_some_and(|of| !allows_null(self.root, of))
        };
        let names = object.iter().filter(|(name, value)| is_absent(name, value));
        let absent: Vec<String> = names.map(|(name, _)| name.clone()).collect();
        for name in absent {
            object.shift_remove(&name);
            let pointer = format!("{}/{}", self.pointer, escape(&name));
            self.changes.push(Change {
                pointer,
                from: Value::Null,
                to: None,
            });
        }
    }

    fn below(&mut self, step: &str, visit: impl FnOnce(&mut Self)) {
        let length = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(step);
        visit(self);
        self.pointer.truncate(length);
    }

    /// The same value in a declared type, if it has another type and nothing is lost.
    fn converted(&mut self, schema: &Value, value: &Value) -> Option<Value> {
        let types = types(schema);
        let wants = |kind: &str| types.contains(&kind);
        let only_text =
            || wants("string") && types.iter().all(|kind| matches!(*kind, "string" | "null"));
        match value {
            Value::Number(number) if wants("integer") && !wants("number") && number.is_f64() => {
                self.integer(number)
            }
            _ if types.is_empty() || self.extent == Extent::Valid => None,
            Value::String(text) if !wants("string") => from_text(text, &wants),
            Value::Number(number) if only_text() => {
                let digits = self.sent.digits(&self.pointer).map(str::to_owned);
                Some(Value::String(digits.unwrap_or_else(|| number.to_string())))
            }
            _ => None,
        }
    }

    /// The integer that a float stands for. One that is too large is a problem, not a change.
    fn integer(&mut self, number: &Number) -> Option<Value> {
        let digits = self.sent.digits(&self.pointer);
        let integer = digits.map_or_else(|| integral(number), exact_integer);
        let whole = number.as_f64().is_some_and(|float| float.fract() == 0.0);
        if integer.is_none() && whole {
            let got = digits.map_or_else(
                || shown(&number.clone().into()),
                |digits| format!("number {digits}"),
            );
            self.too_large.push(Problem {
                pointer: self.pointer.clone(),
                problem: "out of range".to_owned(),
                expected: Some(format!("an integer from {} to {}", i64::MIN, u64::MAX)),
                got: Some(got),
                suggestion: None,
            });
        }
        integer.map(Value::Number)
    }
}

fn from_text(text: &str, wants: &impl Fn(&str) -> bool) -> Option<Value> {
    let text = text.trim();
    if wants("boolean") && (text == "true" || text == "false") {
        return Some(Value::Bool(text == "true"));
    }
    match json_value::parse(text).ok()? {
        Value::Number(number) if wants("number") => {
            // An integer that became a float has lost digits.
            let kept = !number.is_f64() || text.contains(['.', 'e', 'E']);
            kept.then_some(Value::Number(number))
        }
        Value::Number(_) if wants("integer") => exact_integer(text).map(Value::Number),
        container @ Value::Array(_) if wants("array") => Some(container),
        container @ Value::Object(_) if wants("object") => Some(container),
        _ => None,
    }
}

/// The integer that a float is, where it is one and an integer type can hold it.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "the bounds are compared before, and a float without a fraction converts exactly"
)]
fn integral(number: &Number) -> Option<Number> {
    let float = number.as_f64()?;
    if float.fract() != 0.0 {
        None
    } else if float >= i64::MIN as f64 && float < i64::MAX as f64 {
        Some((float as i64).into())
    } else if float >= 0.0 && float < u64::MAX as f64 {
        Some((float as u64).into())
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Checks one value `v` under one property schema: what becomes of it.
    #[expect(clippy::needless_pass_by_value, reason = "callers write `json!(…)`")]
    fn check(of: Value, sent: &str, expected: &Value) {
        let root = json!({"type": "object", "properties": {"v": of}});
        let mut arguments: Value = serde_json::from_str(sent).unwrap();
        let (changes, too_large) =
            Walk::new(&root, Some(sent), Extent::Invalid).coerce(&mut arguments);
        assert_eq!(&arguments, expected, "{sent} by {root}");
        assert_eq!(too_large, []);
        let differs = arguments != serde_json::from_str::<Value>(sent).unwrap();
        assert_eq!(differs, !changes.is_empty(), "{changes:?}");
    }

    #[test]
    fn r10_text_becomes_what_is_declared_where_nothing_is_lost() {
        let integer = || json!({"type": "integer"});
        check(integer(), r#"{"v": "5"}"#, &json!({"v": 5}));
        check(integer(), r#"{"v": " -7 "}"#, &json!({"v": -7}));
        check(integer(), r#"{"v": "5.0"}"#, &json!({"v": 5}));
        check(integer(), r#"{"v": "1e3"}"#, &json!({"v": 1000}));
        check(
            integer(),
            r#"{"v": "9007199254740993.0"}"#,
            &json!({"v": 9_007_199_254_740_993_u64}),
        );
        for kept in [
            "5.5",
            "abc",
            "",
            "05",
            "+5",
            "0x5",
            "NaN",
            "1e99",
            "18446744073709551616",
            "true",
        ] {
            let kept = json!({"v": kept});
            check(integer(), &kept.to_string(), &kept);
        }
        let number = || json!({"type": "number"});
        check(number(), r#"{"v": "2.50"}"#, &json!({"v": 2.5}));
        check(number(), r#"{"v": "3"}"#, &json!({"v": 3}));
        for kept in ["Infinity", "1e999", "123456789012345678901234567890"] {
            let kept = json!({"v": kept});
            check(number(), &kept.to_string(), &kept);
        }
        let boolean = || json!({"type": "boolean"});
        check(boolean(), r#"{"v": "true"}"#, &json!({"v": true}));
        check(boolean(), r#"{"v": "false "}"#, &json!({"v": false}));
        for kept in [
            json!({"v": "yes"}),
            json!({"v": "True"}),
            json!({"v": 1}),
            json!({"v": "1"}),
        ] {
            check(boolean(), &kept.to_string(), &kept);
        }
    }

    #[test]
    fn r10_containers_in_text_are_unpacked_where_a_container_is_declared() {
        let list = json!({"type": "array", "items": {"type": "integer"}});
        check(
            list.clone(),
            r#"{"v": "[1, \"2\", 3.0]"}"#,
            &json!({"v": [1, 2, 3]}),
        );
        check(list.clone(), r#"{"v": "{}"}"#, &json!({"v": "{}"}));
        check(list, r#"{"v": "a"}"#, &json!({"v": "a"}));
        let object = json!({"type": "object", "properties": {"n": {"type": "number"}}});
        check(
            object,
            r#"{"v": "{\"n\": \"1.5\"}"}"#,
            &json!({"v": {"n": 1.5}}),
        );
        check(
            json!({"type": "string"}),
            r#"{"v": "[1]"}"#,
            &json!({"v": "[1]"}),
        );
        check(
            json!({"type": ["string", "array"]}),
            r#"{"v": "[1]"}"#,
            &json!({"v": "[1]"}),
        );
    }

    #[test]
    fn r10_numbers_become_text_with_the_digits_that_were_sent() {
        let digits = "1234567890123456789012345";
        for of in [
            json!({"type": "string"}),
            json!({"type": ["string", "null"]}),
        ] {
            check(of.clone(), r#"{"v": 1.10}"#, &json!({"v": "1.10"}));
            check(of.clone(), r#"{"v": -0}"#, &json!({"v": "-0"}));
            check(of.clone(), r#"{"v": 1E5}"#, &json!({"v": "1E5"}));
            check(
                of.clone(),
                &format!("{{\"v\": {digits}}}"),
                &json!({"v": digits}),
            );
            check(of, r#"{"v": true}"#, &json!({"v": true}));
        }
        let list = json!({"type": "array", "items": {"type": "string"}});
        check(list, r#"{"v": "[1.10, 2]"}"#, &json!({"v": ["1.10", "2"]}));
        check(
            json!({"type": ["string", "boolean"]}),
            r#"{"v": 1}"#,
            &json!({"v": 1}),
        );
    }

    #[test]
    fn integral_floats_become_integers_exactly() {
        let integer = || json!({"type": ["integer", "null"]});
        check(integer(), r#"{"v": 5.0}"#, &json!({"v": 5}));
        check(integer(), r#"{"v": -0.0}"#, &json!({"v": 0}));
        check(
            integer(),
            r#"{"v": 9007199254740993.0}"#,
            &json!({"v": 9_007_199_254_740_993_u64}),
        );
        check(integer(), r#"{"v": 5.5}"#, &json!({"v": 5.5}));
        check(
            json!({"type": "number"}),
            r#"{"v": 5.0}"#,
            &json!({"v": 5.0}),
        );
        check(
            json!({"type": ["integer", "number"]}),
            r#"{"v": 5.0}"#,
            &json!({"v": 5.0}),
        );
    }

    #[test]
    fn integers_without_text_keep_the_value_of_their_float() {
        let integral = |float| integral(&Number::from_f64(float).unwrap());
        assert_eq!(integral(5.0), Some(5.into()));
        assert_eq!(
            integral(-9_223_372_036_854_775_808.0),
            Some(i64::MIN.into())
        );
        assert_eq!(
            integral(9_223_372_036_854_775_808.0),
            Some(9_223_372_036_854_775_808_u64.into())
        );
        assert_eq!(integral(18_446_744_073_709_551_616.0), None);
        assert_eq!(integral(0.5), None);
    }

    #[test]
    fn integer_that_no_type_can_hold_is_a_problem() {
        let root = json!({"properties": {"v": {"type": "integer"}}});
        let text = r#"{"v": 123456789012345678901234567890}"#;
        let mut arguments: Value = serde_json::from_str(text).unwrap();
        let (changes, too_large) =
            Walk::new(&root, Some(text), Extent::Valid).coerce(&mut arguments);
        assert_eq!(changes, []);
        let expected = "an integer from -9223372036854775808 to 18446744073709551615";
        let problem = Problem {
            pointer: "/v".to_owned(),
            problem: "out of range".to_owned(),
            expected: Some(expected.to_owned()),
            got: Some("number 123456789012345678901234567890".to_owned()),
            suggestion: None,
        };
        assert_eq!(too_large, [problem]);
    }

    #[test]
    fn r2_null_for_what_is_optional_is_taken_out_where_it_is_no_value() {
        let text = || json!({"type": "string"});
        check(text(), r#"{"v": null}"#, &json!({}));
        check(json!({"enum": ["a"]}), r#"{"v": null}"#, &json!({}));
        check(json!({"const": 1}), r#"{"v": null}"#, &json!({}));
        check(json!({"allOf": [text()]}), r#"{"v": null}"#, &json!({}));
        check(
            json!({"anyOf": [text(), {"type": "integer"}]}),
            r#"{"v": null}"#,
            &json!({}),
        );
        let nested = json!({"type": "array", "items": {"properties": {"x": text()}}});
        check(
            nested,
            r#"{"v": [{"x": null, "y": null}]}"#,
            &json!({"v": [{"y": null}]}),
        );
        let kept = json!({"v": null});
        for of in [
            json!({}),
            json!(true),
            json!({"type": ["string", "null"]}),
            json!({"enum": ["a", null]}),
            json!({"anyOf": [text(), {"type": "null"}]}),
            json!({"$ref": "#/properties/v"}),
        ] {
            check(of, &kept.to_string(), &kept);
        }
    }

    #[test]
    fn r2_null_for_what_is_required_stays_to_be_refused() {
        let root = json!({"properties": {"v": {"type": "string"}}, "required": ["v"]});
        let mut arguments = json!({"v": null});
        let (changes, _) = Walk::new(&root, None, Extent::Invalid).coerce(&mut arguments);
        assert_eq!((arguments, changes), (json!({"v": null}), vec![]));
    }

    #[test]
    fn names_that_a_pattern_covers_are_left_alone() {
        let of = json!({
            "patternProperties": {"^t_": {"type": "string"}},
            "additionalProperties": {"type": "integer"},
        });
        let sent = json!({"v": {"t_a": "5"}});
        check(of, &sent.to_string(), &sent);
    }

    #[test]
    fn references_in_a_circle_end() {
        let sent = json!({"v": "5"});
        check(json!({"$ref": "#/properties/v"}), &sent.to_string(), &sent);
        check(
            json!({"allOf": [{"$ref": "#/properties/v"}]}),
            &sent.to_string(),
            &sent,
        );
        let nulls = json!({"v": null});
        check(
            json!({"anyOf": [{"$ref": "#/properties/v"}]}),
            &nulls.to_string(),
            &nulls,
        );
    }
}
