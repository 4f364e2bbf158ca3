//! Doc comments as expressions. They are put together at run time (`tool_sdk`'s `docs`), since
//! `#[doc = include_str!(…)]` is no text yet when the macro runs.

use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Meta};

/// The pieces of a doc comment in order, whatever other attributes stand between them.
pub(crate) fn collect(attributes: &[Attribute]) -> Vec<Expr> {
    attributes
        .iter()
        .filter_map(piece)
        .cloned()
        .map(without_frame)
        .collect()
}

/// Whether there is no text. What is no literal has some.
pub(crate) fn is_blank(pieces: &[Expr]) -> bool {
    pieces
        .iter()
        .all(|piece| text(piece).is_some_and(|text| text.trim().is_empty()))
}

/// Whether the doc comment of a function may describe the argument of this name: an item of a list
/// has it, or a part is no literal.
pub(crate) fn may_list(pieces: &[Expr], name: &str) -> bool {
    let is_item = |line: &str| {
        let line = line.trim_start();
        let item = line.strip_prefix("* ").or_else(|| line.strip_prefix("- "));
        let item = item.map(|item| item.trim_start_matches('`'));
        let rest = item.and_then(|item| item.strip_prefix(name));
        rest.is_some_and(|rest| {
            !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_')
        })
    };
    pieces
        .iter()
        .any(|piece| text(piece).is_none_or(|text| text.lines().any(is_item)))
}

fn text(piece: &Expr) -> Option<String> {
    match piece {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => Some(text.value()),
        _ => None,
    }
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

/// A `/** … */` comment without the stars in front of its lines, which are no text.
fn without_frame(piece: Expr) -> Expr {
    match piece {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            attrs,
        }) => {
            let unframed = unframed(&text.value());
            let text = unframed.map_or(text.clone(), |plain| LitStr::new(&plain, text.span()));
            Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                attrs,
            })
        }
        other => other,
    }
}

/// The text without stars, where every line but the first has one. The last line is often only
/// the indentation of `*/`.
fn unframed(text: &str) -> Option<String> {
    let (first, rest) = text.split_once('\n')?;
    let rest = rest.trim_end();
    let rest: Option<Vec<&str>> = rest
        .lines()
        .map(|line| line.trim_start().strip_prefix('*'))
        .collect();
    Some(format!("{first}\n{}", rest?.join("\n")))
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

    #[test]
    fn stars_of_a_block_comment_are_no_text() {
        for (comment, expected) in [
            ("\n * One\n *   two\n ", Some("\n One\n   two")),
            (" One\n * two ", Some(" One\n two")),
            (" One line ", None),
            ("\n One\n two\n ", None),
            ("\n * a list\n   goes on\n ", None),
        ] {
            assert_eq!(unframed(comment).as_deref(), expected, "{comment:?}");
        }
    }
}
