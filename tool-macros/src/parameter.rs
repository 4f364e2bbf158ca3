//! One parameter of a tool: what fills it, and what a model is told about it.

use proc_macro2::{Ident, Span};
use syn::ext::IdentExt as _;
use syn::{Attribute, Expr, ExprLit, FnArg, Lit, Pat, PatType, Type};

use crate::attr::{ArgAttr, Entry};
use crate::errors::Errors;
use crate::name::{Case, Name};
use crate::types::Role;
use crate::{attr, docs, place, types};

/// One parameter, in the place where the function has it.
#[derive(Debug)]
pub(crate) struct Parameter {
    /// The conditions under which the function has it.
    pub(crate) conditions: Vec<Attribute>,
    /// Where messages about its value point.
    pub(crate) span: Span,
    /// What fills it.
    pub(crate) source: Source,
}

/// What fills a parameter.
#[derive(Debug)]
pub(crate) enum Source {
    /// The model.
    Argument(Box<Argument>),
    /// The surroundings of the call.
    Context,
    /// All arguments of the call as JSON.
    Arguments,
    /// A value that the plugin opened when it was loaded; its type.
    State(Box<Type>),
}

/// A parameter that the model fills in.
#[derive(Debug)]
pub(crate) struct Argument {
    /// Name on the wire.
    pub(crate) name: Name,
    /// Name in Rust.
    pub(crate) ident: String,
    /// The pieces of its description.
    pub(crate) docs: Vec<Expr>,
    /// The type as it is written.
    pub(crate) ty: Type,
    /// Whether the function takes `&str`.
    pub(crate) is_text: bool,
    /// The value that stands in for an absent one.
    pub(crate) default: Option<Expr>,
    /// What narrows or describes the values of its type.
    pub(crate) keywords: Vec<Keyword>,
    /// Whether no model sees it.
    pub(crate) preset: bool,
}

/// A key of `#[arg(…)]` that becomes a keyword of the schema.
#[derive(Debug)]
pub(crate) struct Keyword {
    /// The key as it is written.
    pub(crate) key: Ident,
    /// What stands behind it.
    pub(crate) value: Expr,
}

impl Argument {
    /// What stands behind a key.
    pub(crate) fn keyword(&self, key: &str) -> Option<&Keyword> {
        self.keywords.iter().find(|keyword| keyword.key == key)
    }
}

impl Parameter {
    /// Reads a parameter; what is wrong with it alone is said here.
    pub(crate) fn read(input: &FnArg, case: Option<Case>, errors: &mut Errors) -> Option<Self> {
        // A receiver is the function's mistake, not the parameter's.
        let FnArg::Typed(parameter) = input else {
            return None;
        };
        let attr = ArgAttr::of(&parameter.attrs, errors);
        let source = match types::role(&parameter.ty) {
            Role::Unknown(advice) => {
                errors.over(&parameter.ty, advice);
                None
            }
            Role::Value => argument(parameter, attr, case, false, errors),
            Role::Text => argument(parameter, attr, case, true, errors),
            Role::Context => hidden(parameter, Source::Context, errors),
            Role::Arguments => hidden(parameter, Source::Arguments, errors),
            Role::State(ty) => hidden(parameter, Source::State(ty), errors),
        }?;
        let conditions = parameter
            .attrs
            .iter()
            .filter(|attr| attr.path().is_ident("cfg"));
        Some(Self {
            conditions: conditions.cloned().collect(),
            span: place::of_type(&parameter.ty),
            source,
        })
    }
}

/// A parameter that the model does not see has nothing to describe.
fn hidden(parameter: &PatType, source: Source, errors: &mut Errors) -> Option<Source> {
    let Some(attribute) = parameter
        .attrs
        .iter()
        .find(|attribute| attr::is_arg(attribute))
    else {
        return Some(source);
    };
    errors.over(
        attribute,
        "a model does not fill in this parameter, so there is nothing to describe: remove it",
    );
    None
}

fn argument(
    parameter: &PatType,
    mut attr: ArgAttr,
    case: Option<Case>,
    is_text: bool,
    errors: &mut Errors,
) -> Option<Source> {
    let ident = errors.take(plain_name(&parameter.pat))?;
    let in_rust = ident.unraw().to_string();
    let name = match (attr.rename.take(), ident) {
        (Some(rename), _) => Name {
            text: rename.value.value(),
            span: rename.value.span(),
        },
        (None, ident) => errors.take(wire_name(&ident, case))?,
    };
    let docs = match attr.description.take() {
        Some(description) => vec![description.value],
        None => docs::collect(&parameter.attrs),
    };
    Some(Source::Argument(Box::new(Argument {
        name,
        ident: in_rust,
        docs,
        ty: (*parameter.ty).clone(),
        is_text,
        default: attr.default.take().map(|default| default.value),
        preset: attr.preset.is_some(),
        keywords: keywords(attr),
    })))
}

/// What becomes a keyword of the schema, in the order in which a schema shows it.
fn keywords(attr: ArgAttr) -> Vec<Keyword> {
    let format = attr.format.map(|format| Entry {
        key: format.key,
        value: Expr::Lit(ExprLit {
            attrs: Vec::new(),
            lit: Lit::Str(format.value),
        }),
    });
    let all = [
        attr.one_of,
        attr.min,
        attr.max,
        attr.exclusive_min,
        attr.exclusive_max,
        attr.min_length,
        attr.max_length,
        attr.pattern,
        format,
        attr.example,
    ];
    let keyword = |Entry { key, value }| Keyword { key, value };
    all.into_iter().flatten().map(keyword).collect()
}

/// The parameter's name; a pattern has none.
fn plain_name(pattern: &Pat) -> syn::Result<Ident> {
    match pattern {
        Pat::Ident(pattern) if pattern.subpat.is_none() => Ok(pattern.ident.clone()),
        Pat::Wild(_) => Err(syn::Error::new_spanned(
            pattern,
            "an argument needs a name: a model fills it in by that",
        )),
        _ => Err(syn::Error::new_spanned(
            pattern,
            "a pattern has no name that a model could fill in: write `name: Type` and take it \
             apart in the body",
        )),
    }
}

fn wire_name(ident: &Ident, case: Option<Case>) -> syn::Result<Name> {
    let text = ident.unraw().to_string();
    let visible = text.trim_start_matches('_');
    match text.strip_prefix('_').map(|_| visible) {
        None => Ok(Name {
            text: case.map_or_else(|| text.clone(), |case| case.spell(&text)),
            span: ident.span(),
        }),
        Some(visible) => Err(syn::Error::new(
            ident.span(),
            format!(
                "a model would read `{text}` too: call it `{visible}`, or say that you mean it \
                 with `#[arg(rename = \"{text}\")]`"
            ),
        )),
    }
}
