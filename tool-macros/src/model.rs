//! What a tool is: its attribute and its signature put together, defaults filled in. Rules over
//! more than one value are in `check`, code is made in `expand`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt as _;
use syn::{Attribute, Expr, ExprPath, Meta, ReturnType, Safety, Signature, Type, parse_quote};

use crate::attr::ToolAttr;
use crate::errors::Errors;
use crate::item::Function;
use crate::name::{self, Name};
use crate::parameter::Parameter;
use crate::{docs, duration};

/// A tool.
#[derive(Debug)]
pub(crate) struct Tool {
    /// The function.
    pub(crate) ident: Ident,
    /// Name on the wire.
    pub(crate) name: Name,
    /// Name for people.
    pub(crate) label: String,
    /// The pieces of its description.
    pub(crate) docs: Vec<Expr>,
    /// What its parameters are filled with, in order.
    pub(crate) parameters: Vec<Parameter>,
    /// What it returns.
    pub(crate) output: Type,
    /// Whether it is an `async fn`.
    pub(crate) is_async: bool,
    /// Whether calls may overlap others.
    pub(crate) parallel: Option<bool>,
    /// Where it is promised never to wait.
    pub(crate) inline: Option<Span>,
    /// Time limit of one call.
    pub(crate) timeout_ms: Option<u64>,
    /// Changes the arguments before they are validated.
    pub(crate) prepare: Option<ExprPath>,
    /// Checks the arguments after their schema did.
    pub(crate) validate: Option<ExprPath>,
    /// Where it is said that the validator runs instead of the schema.
    pub(crate) validate_only: Option<Span>,
    /// Attributes of the function that hold for the generated code too.
    pub(crate) inherited: Vec<Attribute>,
    /// What a function may have and a tool may not.
    pub(crate) excess: Excess,
}

/// What a function may have and a tool may not, as it is written.
#[derive(Debug)]
pub(crate) struct Excess {
    /// A second `#[tool]`.
    pub(crate) attribute: Option<TokenStream>,
    /// `unsafe`.
    pub(crate) unsafety: Option<TokenStream>,
    /// `<…>`.
    pub(crate) generics: Option<TokenStream>,
    /// `self` in any form.
    pub(crate) receiver: Option<TokenStream>,
    /// `...`.
    pub(crate) variadic: Option<TokenStream>,
}

impl Tool {
    /// Puts the parts together; what is wrong with one value alone is said here.
    pub(crate) fn new(attr: ToolAttr, function: &Function, errors: &mut Errors) -> Self {
        let Function {
            attributes,
            signature,
            ..
        } = function;
        let identifier = signature.ident.unraw().to_string();
        let name = match attr.name {
            Some(name) => Name {
                text: name.value.value(),
                span: name.value.span(),
            },
            None => Name {
                text: identifier.clone(),
                span: signature.ident.span(),
            },
        };
        let timeout_ms = attr.timeout.and_then(|timeout| {
            let milliseconds = duration::milliseconds(&timeout.value.value());
            let span = timeout.value.span();
            errors.take(milliseconds.map_err(|problem| syn::Error::new(span, problem)))
        });
        Self {
            ident: signature.ident.clone(),
            name,
            label: attr
                .label
                .map_or_else(|| name::label(&identifier), |label| label.value.value()),
            docs: match attr.description {
                Some(description) => vec![description.value],
                None => docs::collect(attributes),
            },
            parameters: signature
                .inputs
                .iter()
                .filter_map(|input| Parameter::read(input, errors))
                .collect(),
            output: output(signature),
            is_async: signature.asyncness.is_some(),
            parallel: attr.parallel.map(|parallel| parallel.value),
            inline: attr.inline.map(|inline| inline.key.span()),
            timeout_ms,
            prepare: attr.prepare.map(|prepare| prepare.value),
            validate: attr.validate.map(|validate| validate.value),
            validate_only: attr.validate_only.map(|only| only.key.span()),
            inherited: attributes.iter().filter_map(inherited).collect(),
            excess: Excess::of(function),
        }
    }
}

impl Excess {
    fn of(function: &Function) -> Self {
        let Function {
            attributes,
            signature,
            ..
        } = function;
        let second = attributes
            .iter()
            .find(|attribute| attribute.path().is_ident("tool"));
        Self {
            attribute: second.map(ToTokens::to_token_stream),
            unsafety: match &signature.safety {
                Safety::Unsafe(keyword) => Some(keyword.to_token_stream()),
                Safety::Safe(_) | Safety::Default => None,
            },
            generics: Some(&signature.generics)
                .filter(|generics| !generics.params.is_empty())
                .map(ToTokens::to_token_stream),
            receiver: signature.receiver().map(ToTokens::to_token_stream),
            variadic: signature.variadic.as_ref().map(ToTokens::to_token_stream),
        }
    }
}

/// The written return type, `()` where there is none.
fn output(signature: &Signature) -> Type {
    match &signature.output {
        ReturnType::Type(_, ty) => (**ty).clone(),
        ReturnType::Default => parse_quote!(()),
    }
}

/// What holds for the generated code as well: conditions, and what the author tolerates, since the
/// types of the signature are repeated there. An expectation is met only once, so it becomes a
/// permission; and the call of a deprecated tool is none of the author's.
fn inherited(attribute: &Attribute) -> Option<Attribute> {
    let path = attribute.path();
    if path.is_ident("cfg") || path.is_ident("allow") {
        return Some(attribute.clone());
    }
    if path.is_ident("deprecated") {
        return Some(parse_quote!(#[allow(deprecated)]));
    }
    match &attribute.meta {
        Meta::List(list) if path.is_ident("expect") => {
            let lints = &list.tokens;
            Some(parse_quote!(#[allow(#lints)]))
        }
        Meta::List(_) | Meta::Path(_) | Meta::NameValue(_) => None,
    }
}
