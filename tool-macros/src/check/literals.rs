//! The rule for literals behind the keys of `#[arg(…)]`: each is of the argument's type. The compiler
//! would say so too, but not in the same run as the other mistakes of the function.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Expr, Type};

use super::arguments;
use crate::errors::Errors;
use crate::kind::{self, Kind};
use crate::literal::{self, Literal};
use crate::model::Tool;
use crate::parameter::Argument;
use crate::types::peel;

/// What a literal should be, and is not.
type Mismatch = String;

/// Whole numbers by their type.
const RANGES: [(&str, i128, i128); 10] = [
    ("i8", i8::MIN as i128, i8::MAX as i128),
    ("i16", i16::MIN as i128, i16::MAX as i128),
    ("i32", i32::MIN as i128, i32::MAX as i128),
    ("i64", i64::MIN as i128, i64::MAX as i128),
    ("isize", i64::MIN as i128, i64::MAX as i128),
    ("u8", 0, u8::MAX as i128),
    ("u16", 0, u16::MAX as i128),
    ("u32", 0, u32::MAX as i128),
    ("u64", 0, u64::MAX as i128),
    ("usize", 0, u64::MAX as i128),
];

/// Every literal has the type that its key asks for.
pub(super) fn fit_their_types(tool: &Tool, errors: &mut Errors) {
    for argument in arguments(tool) {
        let whole = kind::without_wrapper(&argument.ty);
        if let Some(default) = &argument.default {
            check(default, |literal| of_type(literal, whole), errors);
        }
        for keyword in &argument.keywords {
            let values = kind::of_values(&argument.ty);
            let value = &keyword.value;
            match keyword.key.to_string().as_str() {
                "example" => check(value, |literal| of_type(literal, whole), errors),
                "pattern" => check(value, text, errors),
                // A literal by its form, and another rule's.
                "format" => {}
                "min_length" | "max_length" => check(value, length, errors),
                "one_of" => {
                    let list = literal::list(value).into_iter();
                    for value in list.flat_map(|list| &list.elems) {
                        check(value, |literal| of_type(literal, values), errors);
                    }
                }
                _ if is_number(argument) => {
                    check(value, |literal| of_type(literal, values), errors);
                }
                _ => {}
            }
        }
    }
}

/// A bound of what is no number is another mistake, which is told once.
fn is_number(argument: &Argument) -> bool {
    let kind = Kind::of(kind::of_values(&argument.ty));
    matches!(kind, Kind::Whole | Kind::Float)
}

fn check(value: &Expr, fits: impl FnOnce(&Literal) -> Result<(), Mismatch>, errors: &mut Errors) {
    let tokens: TokenStream = value.to_token_stream();
    if let Some(literal) = Literal::of(value)
        && let Err(mismatch) = fits(&literal)
    {
        errors.over(tokens, mismatch);
    }
}

fn of_type(literal: &Literal, ty: &Type) -> Result<(), Mismatch> {
    let expected = match (Kind::of(ty), literal) {
        (Kind::Whole, Literal::Whole(number)) => return in_range(*number, ty),
        (Kind::Whole, _) => "a whole number, such as `3`",
        (Kind::Float, Literal::Text(_) | Literal::Bool(_)) => "a number, such as `0.5`",
        (Kind::Text, Literal::Text(_)) | (Kind::Bool, Literal::Bool(_)) => return Ok(()),
        (Kind::Text, _) => "a text, such as `\"rome\"`",
        (Kind::Bool, _) => "`true` or `false`",
        (Kind::Char, Literal::Text(text)) if text.chars().count() == 1 => return Ok(()),
        (Kind::Char, _) => "one character, such as `'a'`",
        _ => return Ok(()),
    };
    Err(format!("expected {expected}, found {literal}"))
}

fn in_range(number: i128, ty: &Type) -> Result<(), Mismatch> {
    let Type::Path(path) = peel(ty) else {
        return Ok(());
    };
    let Some(name) = path.path.segments.last() else {
        return Ok(());
    };
    let range = RANGES.iter().find(|(known, ..)| name.ident == known);
    match range {
        Some((name, low, high)) if !(low..=high).contains(&&number) => Err(format!(
            "{number} does not fit into `{name}`, which holds {low} to {high}"
        )),
        _ => Ok(()),
    }
}

fn text(literal: &Literal) -> Result<(), Mismatch> {
    match literal {
        Literal::Text(_) => Ok(()),
        other => Err(format!(
            "expected a regular expression, such as `\"^[a-z]+$\"`, found {other}"
        )),
    }
}

fn length(literal: &Literal) -> Result<(), Mismatch> {
    match literal {
        Literal::Whole(0..) => Ok(()),
        other => Err(format!("expected a length, such as `3`, found {other}")),
    }
}
