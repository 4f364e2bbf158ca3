//! `#[tool_type]`: an author's struct or enum as an argument or a result, through the SDK's own
//! serde and schemars.

use proc_macro2::TokenStream;
use quote::quote;
use syn::punctuated::Punctuated;
use syn::{Attribute, Data, DeriveInput, Field, Fields, Meta, Path, Token, parse_quote};

use crate::errors::Errors;
use crate::types;

/// Expands `#[tool_type]`:
///
/// ```text
/// #[derive(::tool_sdk::__private::serde::Serialize, …)]
/// …the author's attributes…
/// #[serde(crate = "::tool_sdk::__private::serde")]
/// #[serde(deny_unknown_fields)]
/// #[schemars(crate = "::tool_sdk::__private::schemars")]
/// …the item as it is…
/// ```
pub(crate) fn expand(
    attribute: &TokenStream,
    item: &TokenStream,
    sdk: &TokenStream,
) -> TokenStream {
    let mut errors = Errors::new();
    if !attribute.is_empty() {
        errors.over(
            attribute,
            "`#[tool_type]` has no keys; how fields and variants are called and read is said by \
             `#[serde(…)]` below it",
        );
    }
    let parsed = syn::parse2::<DeriveInput>(item.clone()).map_err(|error| {
        let message = format!("{error}; `#[tool_type]` goes on a struct or an enum");
        syn::Error::new(error.span(), message)
    });
    // With wrong keys the type is completed all the same: without the derives every use of it would
    // be one more error.
    let output = match errors.take(parsed.and_then(without_union)) {
        Some(parsed) => {
            check_fields(&parsed, &mut errors);
            completed(parsed, sdk)
        }
        None => item.clone(),
    };
    let errors = errors.finish().err().map(syn::Error::into_compile_error);
    quote!(#errors #output)
}

fn without_union(item: DeriveInput) -> syn::Result<DeriveInput> {
    match &item.data {
        Data::Struct(_) | Data::Enum(_) => Ok(item),
        Data::Union(data) => Err(syn::Error::new(
            data.union_token.span,
            "nothing tells which field of a union is meant: write an enum",
        )),
    }
}

/// What neither an argument nor a result can hold, as far as the spelling of a field's type tells. A
/// field that serde reads in another way, or not at all, may have any type.
fn check_fields(item: &DeriveInput, errors: &mut Errors) {
    let data = &item.data;
    // serde writes the tag and reads it, and schemars knows nothing of it.
    if matches!(data, Data::Struct(_))
        && words(&item.attrs, "serde").iter().any(|word| word == "tag")
    {
        let text =
            "`tag` tells the variants of an enum apart: remove it, or give the struct a field";
        errors.over(&item.ident, text);
    }
    let is_special = |field: &Field| {
        let special = ["skip", "skip_deserializing", "with", "deserialize_with"];
        let written = words(&field.attrs, "serde");
        written.iter().any(|word| special.contains(&word.as_str()))
    };
    let fields = all_fields(data).into_iter().flatten();
    for field in fields.filter(|field| !is_special(field)) {
        for misfit in types::wide_integers(&field.ty) {
            errors.over(misfit.part, misfit.advice);
        }
    }
}

/// The fields of a struct, or of each variant of an enum.
fn all_fields(data: &Data) -> Vec<&Fields> {
    match data {
        Data::Struct(data) => vec![&data.fields],
        Data::Enum(data) => data
            .variants
            .iter()
            .map(|variant| &variant.fields)
            .collect(),
        Data::Union(_) => Vec::new(),
    }
}

/// The item with what it lacks. Nothing that the author wrote is said twice.
fn completed(mut item: DeriveInput, sdk: &TokenStream) -> TokenStream {
    let private = quote!(#sdk::__private);
    let already = words(&item.attrs, "derive");
    let derives = [
        ("Serialize", quote!(#private::serde::Serialize)),
        ("Deserialize", quote!(#private::serde::Deserialize)),
        ("JsonSchema", quote!(#private::schemars::JsonSchema)),
    ]
    .into_iter()
    .filter(|(name, _)| !already.iter().any(|derived| derived == name))
    .map(|(_, path)| path);
    let derives = quote!(#[derive(#(#derives),*)]);

    let serde = words(&item.attrs, "serde");
    let has = |word: &str| serde.iter().any(|written| written == word);
    // With the first three the item's own fields are not what is read.
    let decides = ["transparent", "from", "try_from", "deny_unknown_fields"];
    let denies = !decides.into_iter().any(has) && can_deny_unknown_fields(&item.data);
    let knows_serde = has("crate");
    let knows_schemars = words(&item.attrs, "schemars")
        .iter()
        .any(|word| word == "crate");

    // Helper attributes stand behind the derives that they belong to, also behind the author's.
    let path = |of: &str| format!("{private}::{of}").replace(' ', "");
    if !knows_serde {
        let path = path("serde");
        item.attrs.push(parse_quote!(#[serde(crate = #path)]));
    }
    if denies {
        item.attrs.push(parse_quote!(#[serde(deny_unknown_fields)]));
    }
    if !knows_schemars {
        let path = path("schemars");
        item.attrs.push(parse_quote!(#[schemars(crate = #path)]));
    }
    quote!(#derives #item)
}

/// Unknown fields are refused where there are named fields, unless some are collected by
/// `#[serde(flatten)]`, which serde can't do both.
fn can_deny_unknown_fields(data: &Data) -> bool {
    let all = all_fields(data);
    let named = all.iter().any(|fields| matches!(fields, Fields::Named(_)));
    let flattened = all.iter().flat_map(|fields| fields.iter()).any(|field| {
        words(&field.attrs, "serde")
            .iter()
            .any(|word| word == "flatten")
    });
    named && !flattened
}

/// The last names of what is listed in every `#[attribute(…)]`: of `serde::Serialize` in a derive,
/// of `rename = "…"` in helper attributes.
fn words(attributes: &[Attribute], attribute: &str) -> Vec<String> {
    let list = |attribute: &Attribute| match &attribute.meta {
        // What does not parse here is reported by the derive that it belongs to.
        Meta::List(list) => list
            .parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
            .ok(),
        Meta::Path(_) | Meta::NameValue(_) => None,
    };
    let last_name = |path: &Path| {
        path.segments
            .last()
            .map(|segment| segment.ident.to_string())
    };
    attributes
        .iter()
        .filter(|written| written.path().is_ident(attribute))
        .filter_map(list)
        .flatten()
        .filter_map(|meta| last_name(meta.path()))
        .collect()
}
