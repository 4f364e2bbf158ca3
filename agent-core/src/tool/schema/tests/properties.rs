//! What holds for all schemas and all arguments.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::json;

use super::*;

/// A property's schema, small and of every kind that arguments have.
fn schemas() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "integer"})),
        Just(json!({"type": "integer", "minimum": 0, "default": 7})),
        Just(json!({"type": "number", "default": 0.5})),
        Just(json!({"type": "string"})),
        Just(json!({"type": "string", "enum": ["1", "true", "north"], "default": "north"})),
        Just(json!({"type": "boolean", "default": false})),
        Just(json!({"type": ["integer", "null"], "default": null})),
        Just(json!({"type": ["string", "null"]})),
        Just(json!({"type": ["string", "integer"]})),
        Just(json!({"anyOf": [{"type": "integer"}, {"type": "null"}]})),
        Just(json!({"anyOf": [{"type": "string"}, {"type": "array"}]})),
        Just(json!({"allOf": [{"type": "number"}, {"type": "integer"}]})),
        Just(json!({})),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            inner
                .clone()
                .prop_map(|items| json!({"type": "array", "items": items})),
            inner
                .clone()
                .prop_map(|rest| json!({"type": "object", "additionalProperties": rest})),
            (
                btree_map("[a-d]", inner, 0..4),
                any::<bool>(),
                any::<bool>()
            )
                .prop_map(|(properties, closed, demanding)| {
                    let required: Vec<&String> = properties.keys().filter(|_| demanding).collect();
                    json!({"type": "object", "properties": properties, "required": required,
                        "additionalProperties": !closed})
                }),
        ]
    })
}

/// What a model might send: values of all kinds, many of them as text.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        (-3i64..20).prop_map(Value::from),
        (-3i32..20).prop_map(|number| json!(f64::from(number))),
        Just(json!(0.5)),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
        prop_oneof![
            "1",
            "2.0",
            "1.5",
            "true",
            "north",
            "null",
            "[1]",
            "\\{\"a\":\"1\"\\}",
            ""
        ]
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map("[a-d]", inner, 0..4).prop_map(|values| json!(values)),
        ]
    })
}

/// Whether `got` is `sent` with floats as integers and more names.
fn is_same_and_more(sent: &Value, got: &Value) -> bool {
    match (sent, got) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Object(a), Value::Object(b)) => a
            .iter()
            .all(|(name, value)| b.get(name).is_some_and(|got| is_same_and_more(value, got))),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same_and_more(a, b))
        }
        _ => sent == got,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn checked_arguments_are_valid_and_checking_them_again_changes_nothing(
        properties in btree_map("[a-d]", schemas(), 0..4),
        sent in btree_map("[a-d]", values(), 0..4),
        as_text in any::<bool>(),
    ) {
        let schema = json!({"type": "object", "properties": properties});
        let sent = json!(sent);
        let text = sent.to_string();
        let compiled = ArgumentSchema::compile(&schema).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let checked = compiled.check(&sent, as_text.then_some(text.as_str()));
        if validator.is_valid(&sent) {
            let Checked { arguments, changes, .. } = checked.clone().expect("valid arguments are taken");
            prop_assert!(is_same_and_more(&sent, &arguments), "{sent} became {arguments}");
            for change in changes {
                let float = change.from.is_f64();
                prop_assert!(float && change.to.is_some_and(|to| to.is_i64() || to.is_u64()));
            }
        }
        if let Ok(Checked { arguments, as_sent, .. }) = checked {
            prop_assert!(!as_sent || arguments == sent, "{sent} became {arguments}");
            prop_assert!(validator.is_valid(&arguments), "{sent} became {arguments}");
            let again = compiled.check(&arguments, None);
            prop_assert_eq!(again, Ok(Checked { arguments, changes: vec![], as_sent: true }));
        }
    }
}
