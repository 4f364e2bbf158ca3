//! What a tool is: its attribute and its signature put together, defaults filled in. Rules over
//! more than one value are in `check`, code is made in `expand`.

use proc_macro2::{Ident, Span};
use syn::ext::IdentExt as _;
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Expr, ExprLit, ExprPath, Lit, LitInt, LitStr, Meta, MetaNameValue, Token, Type,
};

use crate::attr::{Example, ToolAttr};
use crate::errors::Errors;
use crate::excess::Excess;
use crate::item::Function;
use crate::name::{self, CASES, Case, Name};
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
    /// How many calls may run at the same time.
    pub(crate) max_concurrent: Option<u32>,
    /// Time limit of one call.
    pub(crate) timeout_ms: Option<u64>,
    /// What to use instead, where it should not be used any more.
    pub(crate) deprecated: Option<String>,
    /// What it does to the world, by the names of `Annotations`' fields.
    pub(crate) annotations: Vec<(&'static str, bool)>,
    /// Calls with their expected results.
    pub(crate) examples: Vec<Example>,
    /// Whether everything that a model sees must be described.
    pub(crate) require_docs: bool,
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
        let case = attr
            .rename_all
            .and_then(|case| errors.take(case_of(&case.value)));
        let max_concurrent = attr
            .max_concurrent
            .and_then(|most| errors.take(at_least_one(&most.value)));
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
                .filter_map(|input| Parameter::read(input, case, errors))
                .collect(),
            output: function.output(),
            is_async: signature.asyncness.is_some(),
            parallel: attr.parallel.map(|parallel| parallel.value),
            inline: attr.inline.map(|inline| inline.key.span()),
            max_concurrent,
            timeout_ms,
            deprecated: attr
                .deprecated
                .map(|note| note.value.0)
                .or_else(|| attributes.iter().find_map(deprecation)),
            annotations: [
                ("read_only", attr.read_only),
                ("destructive", attr.destructive),
                ("idempotent", attr.idempotent),
                ("open_world", attr.open_world),
            ]
            .into_iter()
            .filter_map(|(name, toggle)| Some((name, toggle?.value.0)))
            .collect(),
            examples: attr
                .example
                .map_or_else(Vec::new, |examples| examples.value.0),
            require_docs: attr.require_docs.is_some(),
            prepare: attr.prepare.map(|prepare| prepare.value),
            validate: attr.validate.map(|validate| validate.value),
            validate_only: attr.validate_only.map(|only| only.key.span()),
            inherited: function.inherited(),
            excess: Excess::of(function, "tool"),
        }
    }
}

fn case_of(written: &LitStr) -> syn::Result<Case> {
    let word = written.value();
    let known = CASES.iter().find(|(known, _)| *known == word);
    known.map(|(_, case)| *case).ok_or_else(|| {
        let words: Vec<String> = CASES.iter().map(|(word, _)| format!("{word:?}")).collect();
        let words = words.join(", ");
        let text = format!("{word:?} is no case of names: write one of {words}");
        syn::Error::new(written.span(), text)
    })
}

fn at_least_one(written: &LitInt) -> syn::Result<u32> {
    let text = match written.base10_parse() {
        Ok(0) => "no call could ever run: write a number from 1 on",
        Ok(most) => return Ok(most),
        Err(_) => "expected a number from 1 on, such as 4",
    };
    Err(syn::Error::new(written.span(), text))
}

/// The note of rustc's own `#[deprecated]`, which holds for models too.
fn deprecation(attribute: &Attribute) -> Option<String> {
    if !attribute.path().is_ident("deprecated") {
        return None;
    }
    let text = |value: &Expr| match value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => Some(text.value()),
        _ => None,
    };
    let note = match &attribute.meta {
        Meta::NameValue(pair) => text(&pair.value),
        Meta::List(list) => list
            .parse_args_with(Punctuated::<MetaNameValue, Token![,]>::parse_terminated)
            .ok()
            .and_then(|pairs| {
                let note = pairs.iter().find(|pair| pair.path.is_ident("note"))?;
                text(&note.value)
            }),
        Meta::Path(_) => None,
    };
    Some(note.unwrap_or_default())
}
