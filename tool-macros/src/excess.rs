//! What a function may have and the macros' functions may not.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::Safety;

use crate::errors::Errors;
use crate::item::Function;

/// What a function may have and a tool may not, as it is written.
#[derive(Debug)]
pub(crate) struct Excess {
    /// The same attribute a second time.
    attribute: Option<TokenStream>,
    /// `unsafe`.
    unsafety: Option<TokenStream>,
    /// `<…>`.
    generics: Option<TokenStream>,
    /// `self` in any form.
    receiver: Option<TokenStream>,
    /// `...`.
    variadic: Option<TokenStream>,
}

impl Excess {
    /// What this function has too much, where `attribute` makes it something else.
    pub(crate) fn of(function: &Function, attribute: &str) -> Self {
        let Function {
            attributes,
            signature,
            ..
        } = function;
        let second = attributes
            .iter()
            .find(|written| written.path().is_ident(attribute));
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

    /// Reports everything there is too much of a tool.
    pub(crate) fn of_tool(&self, errors: &mut Errors) {
        // Two attributes would make two tools of the same name.
        let twice = "the function is a tool already: join the two `#[tool]`";
        report(self.attribute.as_ref(), twice, errors);
        let method = "a tool is a free function, without `self`: move it out of the `impl` block, \
                      and take what `self` holds as `&T`, which a function with \
                      `#[plugin_state]` opens";
        report(self.receiver.as_ref(), method, errors);
        // A model can't promise what an `unsafe fn` asks of its caller.
        let unsafety = "a model can't keep the promises that an `unsafe fn` asks for: make the \
                        function safe, and what is unsafe a block inside it";
        report(self.unsafety.as_ref(), unsafety, errors);
        // There is one schema and one entry, so there is one type for everything.
        let generics = "a tool has one schema, so it can't be generic: write the types \
                        themselves, and `&str` without a lifetime";
        report(self.generics.as_ref(), generics, errors);
        let variadic = "a tool has a fixed list of arguments: take a `Vec<…>`";
        report(self.variadic.as_ref(), variadic, errors);
    }

    /// Reports everything there is too much of a function that opens state.
    pub(crate) fn of_opener(&self, errors: &mut Errors) {
        let twice = "the function opens state already: remove one `#[plugin_state]`";
        report(self.attribute.as_ref(), twice, errors);
        let method = "state is opened by a free function, without `self`: move it out of the \
                      `impl` block";
        report(self.receiver.as_ref(), method, errors);
        let unsafety = "a host can't keep the promises that an `unsafe fn` asks for: make the \
                        function safe, and what is unsafe a block inside it";
        report(self.unsafety.as_ref(), unsafety, errors);
        let generics = "a plugin has one state of a type, so its opener can't be generic: write \
                        the types themselves";
        report(self.generics.as_ref(), generics, errors);
        let variadic = "settings come as one struct with `#[tool_type]`";
        report(self.variadic.as_ref(), variadic, errors);
    }
}

fn report(excess: Option<&TokenStream>, advice: &str, errors: &mut Errors) {
    if let Some(excess) = excess {
        errors.over(excess, advice);
    }
}
