//! Where messages about a type point.

use proc_macro2::Span;
use syn::Type;
use syn::spanned::Spanned as _;

use crate::types::{generic_types, peel};

/// Where messages about the whole type point: stable compilers can't join spans, and the last
/// name of a path says more than its first.
pub(crate) fn of_type(ty: &Type) -> Span {
    match peel(ty) {
        Type::Path(path) => path
            .path
            .segments
            .last()
            .map_or(ty.span(), |last| last.ident.span()),
        Type::Reference(reference) => of_type(&reference.elem),
        other => other.span(),
    }
}

/// Where messages about the value of a result point: inside `Result<…>`, if it is written so.
pub(crate) fn of_value(ty: &Type) -> Span {
    of_type(inside_result(ty).next().unwrap_or(ty))
}

/// Where messages about the error of a result point.
pub(crate) fn of_error(ty: &Type) -> Span {
    of_type(inside_result(ty).nth(1).unwrap_or(ty))
}

fn inside_result(ty: &Type) -> impl Iterator<Item = &Type> {
    let last = match peel(ty) {
        Type::Path(path) => path
            .path
            .segments
            .last()
            .filter(|last| last.ident == "Result"),
        _ => None,
    };
    last.into_iter()
        .flat_map(|last| generic_types(&last.arguments))
}
