//! The author's function: read without its body, and given back without what only `#[tool]`
//! understands.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, FnArg, Meta, ReturnType, Signature, Type, Visibility, parse_quote, token};

use crate::{attr, docs};

/// A function whose body stays unread: what does not concern the macro can't disturb it.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) attributes: Vec<Attribute>,
    visibility: Visibility,
    pub(crate) signature: Signature,
    body: TokenStream,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let signature = input.parse()?;
        if !input.peek(token::Brace) {
            return Err(input.error("expected a body"));
        }
        Ok(Self {
            attributes,
            visibility,
            signature,
            body: input.parse()?,
        })
    }
}

impl Function {
    /// Reads the function, or says that the attribute belongs on one.
    pub(crate) fn parse(tokens: TokenStream, attribute: &str) -> syn::Result<Self> {
        syn::parse2(tokens).map_err(|error| {
            let text =
                format!("{error}; `#[{attribute}]` goes on a function: `fn name(…) -> … {{ … }}`");
            syn::Error::new(error.span(), text)
        })
    }

    /// The written return type, `()` where there is none.
    pub(crate) fn output(&self) -> Type {
        match &self.signature.output {
            ReturnType::Type(_, ty) => (**ty).clone(),
            ReturnType::Default => parse_quote!(()),
        }
    }

    /// What holds for the generated code as well: conditions, and what the author tolerates, since
    /// the types of the signature are repeated there.
    pub(crate) fn inherited(&self) -> Vec<Attribute> {
        self.attributes.iter().filter_map(inherited).collect()
    }
}

/// An expectation is met only once, so it becomes a permission; and the call of a deprecated tool
/// is none of the author's.
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

impl ToTokens for Function {
    /// The function as rustc accepts it: parameters have no `#[arg(…)]` and no doc comments.
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let mut signature = self.signature.clone();
        for input in &mut signature.inputs {
            let attributes = match input {
                FnArg::Receiver(receiver) => &mut receiver.attrs,
                FnArg::Typed(parameter) => &mut parameter.attrs,
            };
            attributes.retain(|attribute| !attr::is_arg(attribute) && !docs::is_doc(attribute));
        }
        for attribute in &self.attributes {
            attribute.to_tokens(tokens);
        }
        self.visibility.to_tokens(tokens);
        signature.to_tokens(tokens);
        self.body.to_tokens(tokens);
    }
}
