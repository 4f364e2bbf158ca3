//! Arguments: their records, how they are taken out of the JSON, and how they are passed on.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::{Expr, Lit, Type, UnOp, parse_quote};

use super::{site, site_at};
use crate::model::Tool;
use crate::parameter::{Argument, Parameter, Source};
use crate::types;

/// One `ArgumentRecord` an argument:
///
/// ```text
/// __sdk::ArgumentRecord {
///     name: "city",
///     docs: &[" City name"],
///     shape: __sdk::ArgumentOf::<String>::shape,
///     default: __sdk::None,
/// },
/// ```
pub(super) fn records(tool: &Tool) -> TokenStream {
    let record = |(_, parameter, argument): (Ident, &Parameter, &Argument)| {
        let conditions = &parameter.conditions;
        let name = &argument.name.text;
        let docs = &argument.docs;
        let shape = by_type(parameter, argument, "shape");
        let default = default(argument);
        quote_spanned! {site()=>
            #(#conditions)*
            __sdk::ArgumentRecord {
                name: #name,
                docs: &[#(#docs),*],
                shape: #shape,
                default: #default,
            },
        }
    };
    arguments(tool).map(record).collect()
}

/// Takes every argument out of the JSON into a local:
///
/// ```text
/// let __all = __args.clone();   // where the tool asks for `&Args`
/// let __a0 = __sdk::ArgumentOf::<String>::take(__args, "city")?;
/// ```
pub(super) fn taken(tool: &Tool) -> TokenStream {
    let asks_for_all = tool
        .parameters
        .iter()
        .any(|parameter| matches!(parameter.source, Source::Arguments));
    let all = asks_for_all.then(|| quote_spanned!(site()=> let __all = __args.clone();));
    let take = |(local, parameter, argument): (Ident, &Parameter, &Argument)| {
        let conditions = &parameter.conditions;
        let name = &argument.name.text;
        let take = by_type(parameter, argument, "take");
        let take = quote_spanned!(site_at(parameter.span)=> #take(__args, #name)?);
        quote_spanned!(site()=> #(#conditions)* let #local = #take;)
    };
    all.into_iter().chain(arguments(tool).map(take)).collect()
}

/// What the function is called with: `__a0, &__a1, __ctx,`.
pub(super) fn passed(tool: &Tool) -> TokenStream {
    let pass = |(index, parameter): (usize, &Parameter)| {
        let conditions = &parameter.conditions;
        let local = local(index);
        // A type that only has the name of the SDK's is reported where it is written.
        let site = site_at(parameter.span);
        let value = match &parameter.source {
            Source::Argument(argument) if argument.is_text => quote_spanned!(site=> &#local),
            Source::Argument(_) => quote_spanned!(site=> #local),
            Source::Context => quote_spanned!(site=> __ctx),
            Source::Arguments => quote_spanned!(site=> &__all),
        };
        quote_spanned!(site=> #(#conditions)* #value,)
    };
    tool.parameters.iter().enumerate().map(pass).collect()
}

fn arguments(tool: &Tool) -> impl Iterator<Item = (Ident, &Parameter, &Argument)> {
    tool.parameters
        .iter()
        .enumerate()
        .filter_map(|(index, parameter)| match &parameter.source {
            Source::Argument(argument) => Some((local(index), parameter, &**argument)),
            Source::Context | Source::Arguments => None,
        })
}

/// Locals go by position: parameters under conditions may share a name.
fn local(index: usize) -> Ident {
    format_ident!("__a{index}", span = site())
}

/// A function that is chosen by the argument's type, and reported where that is written:
/// `__sdk::ArgumentOf::<String>::take`. For `&str` a `String` is taken, and lent to the function.
fn by_type(parameter: &Parameter, argument: &Argument, function: &str) -> TokenStream {
    let site = site_at(parameter.span);
    let function = Ident::new(function, site);
    let written = &argument.ty;
    let ty = if argument.is_text {
        quote_spanned!(site=> __sdk::String)
    } else {
        quote_spanned!(site=> #written)
    };
    quote_spanned!(site=> __sdk::ArgumentOf::<#ty>::#function)
}

/// `__sdk::Some(|| __sdk::default_value("celsius"))`, or `__sdk::None`.
fn default(argument: &Argument) -> TokenStream {
    let Some(value) = &argument.default else {
        return quote_spanned!(site()=> __sdk::None);
    };
    let ty = default_type(argument, value);
    let generics = ty.map(|ty| quote_spanned!(site()=> ::<#ty>));
    quote_spanned!(site()=> __sdk::Some(|| __sdk::default_value #generics (#value)))
}

/// The type that a default must have. A literal for a primitive type has that type, so that the
/// compiler finds `256` for `u8`. Whole numbers for other types get one that holds large ones.
/// Everything else may be whatever serialises: `"celsius"` is a good default for an enum.
fn default_type(argument: &Argument, value: &Expr) -> Option<Type> {
    let literal = literal(value)?;
    if argument.is_text {
        return Some(parse_quote!(&str));
    }
    if types::is_primitive(&argument.ty) {
        return Some(argument.ty.clone());
    }
    match literal {
        Lit::Int(number) if number.suffix().is_empty() => Some(parse_quote!(i64)),
        _ => None,
    }
}

fn literal(value: &Expr) -> Option<&Lit> {
    match value {
        Expr::Lit(literal) => Some(&literal.lit),
        Expr::Group(group) => literal(&group.expr),
        Expr::Unary(negative) if matches!(negative.op, UnOp::Neg(_)) => literal(&negative.expr),
        _ => None,
    }
}
