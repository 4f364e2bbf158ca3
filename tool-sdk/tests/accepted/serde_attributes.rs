//! What authors tell `serde` and `schemars` about a type stays.
use tool_sdk::prelude::*;

#[tool_type]
#[derive(Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
#[schemars(title = "Place")]
pub struct Place<'a, T: Default = String>
where
    T: Clone,
{
    #[serde(rename = "n", alias = "name", skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[schemars(range(min = 1, max = 5))]
    pub stars: u8,
    #[serde(skip)]
    pub marker: std::marker::PhantomData<&'a T>,
}

#[tool_type]
pub struct Unit;

#[tool_type]
pub struct Tuple(u8, String);

#[tool_type]
#[serde(untagged)]
pub enum Untagged {
    Number(f64),
    Named { name: String },
}

#[tool_type]
#[serde(tag = "t", content = "c")]
pub enum Adjacent {
    A(u8),
    B { b: u8 },
}

#[tool_type]
pub enum Flat {
    A {
        #[serde(flatten)]
        rest: Map<String, Value>,
    },
}

#[tool]
fn with_serde(a: Place<'_, String>, b: Unit, c: Tuple, d: Untagged, e: Adjacent, f: Flat) {
    let _ = (a, b, c, d, e, f);
}
