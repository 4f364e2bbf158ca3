//! Results: what a tool returns becomes an outcome, on the concrete type.

use proc_macro2::TokenStream;
use quote::quote_spanned;

use super::{site, site_at};
use crate::model::Tool;
use crate::types;

/// The schema of the result, where it has one:
///
/// ```text
/// |__g| (&(&__sdk::ReturnTag::<Result<Forecast>>::NEW).split().value()).value_kind().schema(__g)
/// ```
pub(super) fn schema(tool: &Tool) -> TokenStream {
    let ty = &tool.output;
    let site = site_at(types::value_anchor(ty));
    quote_spanned! {site=>
        |__g| (&(&__sdk::ReturnTag::<#ty>::NEW).split().value()).value_kind().schema(__g)
    }
}

/// The outcome of `__returned`:
///
/// ```text
/// let __split = (&__sdk::ReturnTag::<Result<String>>::NEW).split();
/// let __value = __split.apply(__returned);
/// (&__split.value()).value_kind().outcome(__value)
/// ```
pub(super) fn outcome(tool: &Tool) -> TokenStream {
    let ty = &tool.output;
    let of_error = site_at(types::error_anchor(ty));
    let of_value = site_at(types::value_anchor(ty));
    let split = quote_spanned!(site()=> let __split = (&__sdk::ReturnTag::<#ty>::NEW).split(););
    let value = quote_spanned!(of_error=> let __value = __split.apply(__returned););
    let outcome = quote_spanned!(of_value=> (&__split.value()).value_kind().outcome(__value));
    quote_spanned!(site()=> #split #value #outcome)
}
