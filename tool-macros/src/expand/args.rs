//! Arguments: their records, how they are taken out of the JSON, and how they are passed on.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::{Expr, Lit, Type, UnOp, parse_quote};

use super::{site, site_at};
use crate::kind::{self, Kind};
use crate::model::Tool;
use crate::parameter::{Argument, Keyword, Parameter, Source};
use crate::{literal, types};

/// One `ArgumentRecord` an argument:
///
/// ```text
/// __sdk::ArgumentRecord {
///     name: "city",
///     docs: &[" City name"],
///     shape: __sdk::ArgumentOf::<String>::shape,
///     ..__sdk::ArgumentRecord::PLAIN
/// },
/// ```
pub(super) fn records(tool: &Tool) -> TokenStream {
    let record = |(_, parameter, argument): (Ident, &Parameter, &Argument)| {
        let conditions = &parameter.conditions;
        let name = &argument.name.text;
        let docs = &argument.docs;
        let shape = by_type(parameter, argument, "shape");
        let default = default(argument);
        let keywords = keywords(argument);
        let in_rust = &argument.ident;
        let ident =
            (*in_rust != argument.name.text).then(|| quote_spanned!(site()=> ident: #in_rust,));
        let preset = argument
            .preset
            .then(|| quote_spanned!(site()=> preset: true,));
        quote_spanned! {site()=>
            #(#conditions)*
            __sdk::ArgumentRecord {
                name: #name,
                #ident
                docs: &[#(#docs),*],
                shape: #shape,
                #default
                #keywords
                #preset
                ..__sdk::ArgumentRecord::PLAIN
            },
        }
    };
    arguments(tool).map(record).collect()
}

/// Takes every argument out of the JSON into a local:
///
/// ```text
/// let __all = __args.all();   // where the tool asks for `&Args`
/// let __a0 = __sdk::ArgumentOf::<String>::take(__args, "city")?;
/// let __a1 = __sdk::state::<Db, _>(__ctx)?;
/// ```
pub(super) fn taken(tool: &Tool) -> TokenStream {
    let asks_for_all = tool
        .parameters
        .iter()
        .any(|parameter| matches!(parameter.source, Source::Arguments));
    let all = asks_for_all.then(|| quote_spanned!(site()=> let __all = __args.all();));
    let take = |(local, parameter, argument): (Ident, &Parameter, &Argument)| {
        let conditions = &parameter.conditions;
        let name = &argument.name.text;
        let take = by_type(parameter, argument, "take");
        let take = quote_spanned!(site_at(parameter.span)=> #take(__args, #name)?);
        quote_spanned!(site()=> #(#conditions)* let #local = #take;)
    };
    let lent = states(tool);
    all.into_iter()
        .chain(arguments(tool).map(take))
        .chain(lent)
        .collect()
}

/// Borrows what the plugin opened: `let __a1 = __sdk::state::<Db, _>(__ctx)?;`. Which opener made
/// it is found by the compiler, so the type may be of any crate.
fn states(tool: &Tool) -> impl Iterator<Item = TokenStream> {
    let parameters = tool.parameters.iter().enumerate();
    parameters.filter_map(|(index, parameter)| {
        let Source::State(ty) = &parameter.source else {
            return None;
        };
        let conditions = &parameter.conditions;
        let local = local(index);
        let state = quote_spanned!(site_at(parameter.span)=> __sdk::state::<#ty, _>(__ctx)?);
        Some(quote_spanned!(site()=> #(#conditions)* let #local = #state;))
    })
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
            Source::Argument(_) | Source::State(_) => quote_spanned!(site=> #local),
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
            Source::Context | Source::Arguments | Source::State(_) => None,
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

/// `default: __sdk::Some(|| __sdk::schema_value("celsius")),`
fn default(argument: &Argument) -> Option<TokenStream> {
    let value = argument.default.as_ref()?;
    let value = schema_value(value, value_type(argument, value, kind::without_wrapper));
    Some(quote_spanned!(site()=> default: __sdk::Some(|| #value),))
}

/// `keywords: &[__sdk::Keyword { key: "min", value: || __sdk::schema_value(1) }],`
fn keywords(argument: &Argument) -> Option<TokenStream> {
    if argument.keywords.is_empty() {
        return None;
    }
    let keywords = argument.keywords.iter().map(|keyword| {
        let key = keyword.key.to_string();
        let value = keyword_value(argument, keyword);
        quote_spanned!(site()=> __sdk::Keyword { key: #key, value: || #value })
    });
    Some(quote_spanned!(site()=> keywords: &[#(#keywords),*],))
}

/// Values of `one_of` are taken one by one: each is typed as a default is.
fn keyword_value(argument: &Argument, Keyword { key, value }: &Keyword) -> TokenStream {
    let of_values = |value: &Expr| value_type(argument, value, kind::of_values);
    match key.to_string().as_str() {
        "min_length" | "max_length" => schema_value(value, Some(parse_quote!(__sdk::usize))),
        "pattern" | "format" => schema_value(value, Some(parse_quote!(&__sdk::str))),
        "example" => schema_value(value, value_type(argument, value, kind::without_wrapper)),
        "one_of" if let Some(list) = literal::list(value) => {
            let values = list.elems.iter();
            let values = values.map(|value| schema_value(value, of_values(value)));
            quote_spanned!(site()=> __sdk::schema_values([#(#values),*]))
        }
        _ => schema_value(value, of_values(value)),
    }
}

/// `__sdk::schema_value("celsius")`, with the type that the value must have where that is known.
fn schema_value(value: &Expr, ty: Option<Type>) -> TokenStream {
    let generics = ty.map(|ty| quote_spanned!(site()=> ::<#ty>));
    quote_spanned!(site()=> __sdk::schema_value #generics (#value))
}

/// The type that a value must have. A literal for a primitive type has that type, so that the
/// compiler finds `256` for `u8`; a whole number may stand for a float. Whole numbers for other
/// types get one that holds large ones. Everything else may be whatever serialises: `"celsius"` is
/// a good default for an enum.
fn value_type(argument: &Argument, value: &Expr, within: fn(&Type) -> &Type) -> Option<Type> {
    let literal = as_literal(value)?;
    if argument.is_text {
        return Some(parse_quote!(&__sdk::str));
    }
    let ty = within(&argument.ty);
    let whole = match literal {
        Lit::Int(number) if number.suffix().is_empty() => Some(parse_quote!(__sdk::i64)),
        _ => None,
    };
    if types::is_primitive(ty) && !(whole.is_some() && Kind::of(ty) == Kind::Float) {
        return Some(ty.clone());
    }
    whole
}

fn as_literal(value: &Expr) -> Option<&Lit> {
    match value {
        Expr::Lit(literal) => Some(&literal.lit),
        Expr::Group(group) => as_literal(&group.expr),
        Expr::Unary(negative) if matches!(negative.op, UnOp::Neg(_)) => as_literal(&negative.expr),
        _ => None,
    }
}
