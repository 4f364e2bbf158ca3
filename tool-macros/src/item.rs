//! The author's function: read without its body, and given back without what only `#[tool]`
//! understands.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, FnArg, Signature, Visibility, token};

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
        let wrong_item = |error: syn::Error| {
            syn::Error::new(
                error.span(),
                format!("{error}; `#[tool]` goes on a function: `fn name(…) -> … {{ … }}`"),
            )
        };
        let signature = input.parse().map_err(wrong_item)?;
        if !input.peek(token::Brace) {
            return Err(wrong_item(input.error("expected a body")));
        }
        Ok(Self {
            attributes,
            visibility,
            signature,
            body: input.parse()?,
        })
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
