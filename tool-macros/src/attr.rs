//! The syntax of `#[tool(…)]` and `#[arg(…)]`: which keys there are, what stands behind each, and
//! where. What the values mean is not decided here.
//!
//! A new key is one line in one of the two tables below.

mod form;

use proc_macro2::{TokenStream, TokenTree};
use syn::ext::IdentExt as _;
use syn::parse::{ParseStream, Parser as _};
use syn::{Attribute, Expr, ExprPath, Ident, LitInt, LitStr, Meta, Token};

use self::form::Form;
pub(crate) use self::form::{Example, Examples, Expected, Flag, Note, Toggle};
use crate::errors::Errors;
use crate::name;

/// A key as it was written, and the value behind it.
#[derive(Debug)]
pub(crate) struct Entry<T> {
    /// The key, for its span.
    pub(crate) key: Ident,
    /// The value.
    pub(crate) value: T,
}

/// Makes the struct of an attribute and its reader out of the table of its keys.
macro_rules! table {
    ($(#[$doc:meta])* $attribute:literal $table:ident { $($(#[$key_doc:meta])* $key:ident: $form:ty,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Default)]
        pub(crate) struct $table {
            $($(#[$key_doc])* pub(crate) $key: Option<Entry<$form>>,)*
        }

        impl $table {
            /// Adds what stands between the parentheses.
            pub(crate) fn read(&mut self, tokens: TokenStream, errors: &mut Errors) {
                let known = [$(stringify!($key)),*];
                read_list($attribute, &known, tokens, errors, |key, input| {
                    match key.unraw().to_string().as_str() {
                        $(stringify!($key) => fill(&mut self.$key, key, input),)*
                        _ => Err(unknown($attribute, &known, &key)),
                    }
                });
            }
        }
    };
}

table! {
    /// What stands in `#[tool(…)]`.
    "tool" ToolAttr {
        /// Name on the wire.
        name: LitStr,
        /// Name for people.
        label: LitStr,
        /// Replaces the doc comment.
        description: Expr,
        /// How the parameters' names are spelled on the wire.
        rename_all: LitStr,
        /// Whether calls may overlap others.
        parallel: bool,
        /// How many calls may run at the same time.
        max_concurrent: LitInt,
        /// The author's promise never to wait.
        inline: Flag,
        /// Time limit of one call.
        timeout: LitStr,
        /// What to use instead.
        deprecated: Note,
        /// It changes nothing.
        read_only: Toggle,
        /// It may delete or overwrite.
        destructive: Toggle,
        /// A second equal call changes nothing more.
        idempotent: Toggle,
        /// It deals with more than a closed set of things.
        open_world: Toggle,
        /// A call with its expected result; may be given often.
        example: Examples,
        /// Everything that a model sees must be described.
        require_docs: Flag,
        /// Changes the arguments before they are validated.
        prepare: ExprPath,
        /// Checks the arguments after their schema did.
        validate: ExprPath,
        /// The validator runs instead of the schema.
        validate_only: Flag,
    }
}

table! {
    /// What stands in `#[arg(…)]`.
    "arg" ArgAttr {
        /// The value that stands in for an absent one.
        default: Expr,
        /// Name on the wire.
        rename: LitStr,
        /// Replaces the parameter's doc comment.
        description: Expr,
        /// Smallest number.
        min: Expr,
        /// Largest number.
        max: Expr,
        /// A number below all others.
        exclusive_min: Expr,
        /// A number above all others.
        exclusive_max: Expr,
        /// Fewest characters, items or keys.
        min_length: Expr,
        /// Most characters, items or keys.
        max_length: Expr,
        /// A regular expression that is found in the text.
        pattern: Expr,
        /// The only values.
        one_of: Expr,
        /// A format of JSON Schema.
        format: LitStr,
        /// A value that shows what is meant.
        example: Expr,
        /// The value comes from the configuration and no model sees it.
        preset: Flag,
    }
}

impl ArgAttr {
    /// Reads every `#[arg(…)]` of a parameter as if they were one.
    pub(crate) fn of(attributes: &[Attribute], errors: &mut Errors) -> Self {
        let mut all = Self::default();
        for attribute in attributes.iter().filter(|attribute| is_arg(attribute)) {
            match &attribute.meta {
                Meta::List(list) => all.read(list.tokens.clone(), errors),
                Meta::Path(_) | Meta::NameValue(_) => errors.over(
                    attribute,
                    "write the keys in parentheses: `#[arg(default = …)]`",
                ),
            }
        }
        all
    }
}

/// Whether the attribute is `#[arg …]`.
pub(crate) fn is_arg(attribute: &Attribute) -> bool {
    attribute.path().is_ident("arg")
}

/// Reads the value of a key.
fn fill<T: Form>(
    slot: &mut Option<Entry<T>>,
    key: Ident,
    input: ParseStream<'_>,
) -> syn::Result<()> {
    let missing = nothing_follows(input);
    let value = T::parse(input).map_err(|error| {
        let advice = format!("{error}; write `{key}{}`", T::EXAMPLE);
        // Where the value is missing altogether, the key is the nearest thing to point at.
        let span = if missing { key.span() } else { error.span() };
        syn::Error::new(span, advice)
    })?;
    match slot {
        None => *slot = Some(Entry { key, value }),
        Some(first) => {
            if !first.value.join(value) {
                let text = format!("`{key}` is given twice; keep one");
                return Err(syn::Error::new(key.span(), text));
            }
        }
    }
    Ok(())
}

/// Whether there is nothing behind a key, or behind its `=`.
fn nothing_follows(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    let _equals: syn::Result<Option<Token![=]>> = ahead.parse();
    ahead.is_empty() || ahead.peek(Token![,])
}

/// Reads `key …, key …`. After a mistake it goes on behind the next comma.
fn read_list(
    attribute: &str,
    known: &[&str],
    tokens: TokenStream,
    errors: &mut Errors,
    mut read: impl FnMut(Ident, ParseStream<'_>) -> syn::Result<()>,
) {
    let list = |input: ParseStream<'_>| {
        while !input.is_empty() {
            let entry = key(attribute, known, input).and_then(|key| read(key, input));
            let complete = entry.and_then(|()| at_comma(input));
            if errors.take(complete).is_none() {
                skip_to_comma(input)?;
            }
            input.parse::<Option<Token![,]>>()?;
        }
        Ok(())
    };
    let parsed = list.parse2(tokens);
    errors.take(parsed);
}

fn key(attribute: &str, known: &[&str], input: ParseStream<'_>) -> syn::Result<Ident> {
    input.call(Ident::parse_any).map_err(|error| {
        let known = listed(known);
        syn::Error::new(
            error.span(),
            format!("expected a key of `#[{attribute}(…)]`: {known}"),
        )
    })
}

fn at_comma(input: ParseStream<'_>) -> syn::Result<()> {
    if input.is_empty() || input.peek(Token![,]) {
        Ok(())
    } else {
        Err(input.error("expected `,` before the next key"))
    }
}

fn skip_to_comma(input: ParseStream<'_>) -> syn::Result<()> {
    while !input.is_empty() && !input.peek(Token![,]) {
        input.parse::<TokenTree>()?;
    }
    Ok(())
}

fn unknown(attribute: &str, known: &[&str], key: &Ident) -> syn::Error {
    let meant = name::closest(&key.to_string(), known)
        .map(|meant| format!("; did you mean `{meant}`?"))
        .unwrap_or_default();
    let known = listed(known);
    let message = format!("`#[{attribute}(…)]` has no key `{key}`{meant} (there are {known})");
    syn::Error::new(key.span(), message)
}

fn listed(known: &[&str]) -> String {
    let quoted: Vec<String> = known.iter().map(|key| format!("`{key}`")).collect();
    quoted.join(", ")
}
