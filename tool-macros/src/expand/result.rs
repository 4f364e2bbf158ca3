//! Results: what a tool returns becomes an outcome, on the concrete type.

use proc_macro2::TokenStream;
use quote::quote_spanned;

use super::{site, site_at};
use crate::model::Tool;
use crate::place;

/// The schema of the result, where it has one:
///
/// ```text
/// |__g| __sdk::ReturnOf::<Result<Forecast>>::value().schema(__g)
/// ```
pub(super) fn schema(tool: &Tool) -> TokenStream {
    let ty = &tool.output;
    let site = site_at(place::of_value(ty));
    quote_spanned!(site=> |__g| __sdk::ReturnOf::<#ty>::value().schema(__g))
}

/// The outcome of `__returned`:
///
/// ```text
/// let __returned = __sdk::ReturnOf::<Result<String>>::split(__returned);
/// __returned.outcome()
/// ```
pub(super) fn outcome(tool: &Tool) -> TokenStream {
    let ty = &tool.output;
    let of_error = site_at(place::of_error(ty));
    let of_value = site_at(place::of_value(ty));
    let split = quote_spanned!(of_error=> __sdk::ReturnOf::<#ty>::split(__returned));
    let outcome = quote_spanned!(of_value=> __returned.outcome());
    quote_spanned!(site()=> let __returned = #split; #outcome)
}
