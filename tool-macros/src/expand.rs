//! From tokens to tokens: the stages in order, and the frame around the generated pieces.

mod args;
mod record;
mod result;
pub(crate) mod state;

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};

use crate::attr::ToolAttr;
use crate::check;
use crate::errors::Errors;
use crate::item::Function;
use crate::model::Tool;

/// Expands `#[tool(…)]`. The author's function comes out in any case, so that what calls it
/// raises no errors of its own; on mistakes the errors stand beside it.
pub(crate) fn tool(attribute: TokenStream, item: &TokenStream, sdk: &TokenStream) -> TokenStream {
    let function = match Function::parse(item.clone(), "tool") {
        Ok(function) => function,
        Err(error) => {
            let error = error.into_compile_error();
            return quote!(#item #error);
        }
    };
    let mut errors = Errors::new();
    let mut attr = ToolAttr::default();
    attr.read(attribute, &mut errors);
    let tool = Tool::new(attr, &function, &mut errors);
    check::tool(&tool, &mut errors);
    let generated = match errors.finish() {
        Ok(()) => registration(&tool, sdk),
        Err(errors) => errors.into_compile_error(),
    };
    quote!(#function #generated)
}

/// Everything that makes the function a tool, in a scope of its own:
///
/// ```text
/// const _: () = {
///     use ::tool_sdk::__private as __sdk;
///     use __sdk::by_type::*;
///     …name…
///     …marker…
///     …record…
/// };
/// ```
fn registration(tool: &Tool, sdk: &TokenStream) -> TokenStream {
    let inherited = &tool.inherited;
    let once = record::once(tool);
    let marker = record::marker(tool);
    let record = record::record(tool);
    quote_spanned! {site()=>
        #(#inherited)*
        const _: () = {
            use #sdk::__private as __sdk;
            use __sdk::by_type::*;
            #once
            #marker
            #record
        };
    }
}

/// The span of generated code: its locals are invisible to the author's expressions and the
/// other way round, and the compiler knows that the author did not write it.
fn site() -> Span {
    Span::mixed_site()
}

/// Generated code whose errors the compiler reports at a place of the author's.
fn site_at(place: Span) -> Span {
    site().located_at(place)
}

#[cfg(test)]
mod tests;
