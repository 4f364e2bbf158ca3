//! Neither a deprecated tool nor a deprecated type warns in generated code.
#![deny(warnings)]

use tool_sdk::prelude::*;

#[tool]
#[deprecated]
fn old() {}

#[deprecated]
type Old = u8;

#[tool]
#[allow(deprecated)]
fn allowed(old: Old) -> Old {
    old
}

#[tool]
#[expect(deprecated)]
fn expected(old: Option<Old>) -> Option<Old> {
    old
}
