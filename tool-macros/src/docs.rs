//! Doc comments as expressions. They are put together at run time (`tool_sdk`'s `docs`), since
//! `#[doc = include_str!(…)]` is no text yet when the macro runs.

use syn::{Attribute, Expr, Meta};

/// The pieces of a doc comment in order, whatever other attributes stand between them.
pub(crate) fn collect(attributes: &[Attribute]) -> Vec<Expr> {
    attributes.iter().filter_map(piece).cloned().collect()
}

/// Whether the attribute is a doc comment, or anything else of `#[doc …]`.
pub(crate) fn is_doc(attribute: &Attribute) -> bool {
    attribute.path().is_ident("doc")
}

/// The text of `#[doc = …]`; `#[doc(hidden)]` and its like have none.
fn piece(attribute: &Attribute) -> Option<&Expr> {
    match &attribute.meta {
        Meta::NameValue(pair) if is_doc(attribute) => Some(&pair.value),
        Meta::NameValue(_) | Meta::Path(_) | Meta::List(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use quote::ToTokens as _;
    use syn::parse_quote;

    use super::*;

    #[test]
    fn pieces_keep_their_order_across_other_attributes() {
        let function: syn::ItemFn = parse_quote! {
            /// First
            #[allow(dead_code)]
            #[doc = include_str!("x.md")]
            #[doc(hidden)]
            /// last
            fn f() {}
        };
        let pieces: Vec<String> = collect(&function.attrs)
            .iter()
            .map(|piece| {
                piece
                    .to_token_stream()
                    .to_string()
                    .trim_start_matches('r')
                    .to_owned()
            })
            .collect();
        assert_eq!(
            pieces,
            ["\" First\"", "include_str ! (\"x.md\")", "\" last\""]
        );
    }
}
