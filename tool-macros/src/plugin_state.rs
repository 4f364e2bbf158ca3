//! `#[plugin_state]`: a function that opens what a plugin's tools share.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, quote};
use syn::{Attribute, FnArg, Type};

use crate::errors::Errors;
use crate::excess::Excess;
use crate::item::Function;
use crate::{check, expand, types};

/// A function that opens state.
#[derive(Debug)]
pub(crate) struct Opener {
    /// The function.
    pub(crate) ident: Ident,
    /// What fills its parameters, in order.
    pub(crate) parameters: Vec<Filled>,
    /// What it returns.
    pub(crate) output: Type,
    /// The state: what it returns, without `Result`.
    pub(crate) opens: Type,
    /// That as a person would write it.
    pub(crate) written: String,
    /// Whether it is an `async fn`.
    pub(crate) is_async: bool,
    /// Attributes of the function that hold for the generated code too.
    pub(crate) inherited: Vec<Attribute>,
}

/// What fills a parameter of an opener.
#[derive(Debug)]
pub(crate) enum Filled {
    /// The plugin's settings.
    Settings(Type),
    /// `&PluginContext`.
    Context(Type),
}

/// Expands `#[plugin_state]`. The function comes out in any case, as of `#[tool]`.
pub(crate) fn expand(
    attribute: &TokenStream,
    item: &TokenStream,
    sdk: &TokenStream,
) -> TokenStream {
    let function = match Function::parse(item.clone(), "plugin_state") {
        Ok(function) => function,
        Err(error) => {
            let error = error.into_compile_error();
            return quote!(#item #error);
        }
    };
    let mut errors = Errors::new();
    if !attribute.is_empty() {
        let text = "`#[plugin_state]` has no keys; settings are a parameter of the function";
        errors.over(attribute, text);
    }
    let opener = Opener::new(&function, &mut errors);
    let generated = match errors.finish() {
        Ok(()) => expand::state::registration(&opener, sdk),
        Err(errors) => errors.into_compile_error(),
    };
    quote!(#function #generated)
}

impl Opener {
    fn new(function: &Function, errors: &mut Errors) -> Self {
        Excess::of(function, "plugin_state").of_opener(errors);
        let signature = &function.signature;
        if signature.asyncness.is_some() && !cfg!(feature = "async") {
            errors.at(signature.ident.span(), check::NO_RUNTIME);
        }
        let output = function.output();
        let opens = types::success(&output).clone();
        if let Some(advice) = no_state(&opens) {
            // Without a return type there is only the name to point at.
            match &signature.output {
                syn::ReturnType::Type(_, written) => errors.over(written, advice),
                syn::ReturnType::Default => errors.over(&signature.ident, advice),
            }
        }
        Self {
            ident: signature.ident.clone(),
            parameters: parameters(function, errors),
            written: types::written(&opens),
            opens,
            output,
            is_async: signature.asyncness.is_some(),
            inherited: function.inherited(),
        }
    }

    /// The type of the settings.
    pub(crate) fn settings(&self) -> Option<&Type> {
        self.parameters
            .iter()
            .find_map(|parameter| match parameter {
                Filled::Settings(ty) => Some(ty),
                Filled::Context(_) => None,
            })
    }
}

/// Why a type can't be state, and what to write instead.
fn no_state(ty: &Type) -> Option<&'static str> {
    match types::peel(ty) {
        Type::Tuple(tuple) if tuple.elems.is_empty() => {
            Some("tools find state by its type: return what is opened, for example `Result<Db>`")
        }
        Type::ImplTrait(_) => Some("tools find state by its type: write the type itself"),
        Type::Reference(_) => {
            Some("state is owned by the plugin: return the value itself, not a reference")
        }
        Type::Never(_) => Some("an opener has to return what it opens"),
        _ => None,
    }
}

fn parameters(function: &Function, errors: &mut Errors) -> Vec<Filled> {
    let mut parameters = Vec::new();
    let mut has_settings = false;
    for input in &function.signature.inputs {
        let FnArg::Typed(parameter) = input else {
            continue;
        };
        let ty = &*parameter.ty;
        match types::peel(ty) {
            Type::Reference(reference) if types::is_named(&reference.elem, "PluginContext") => {
                parameters.push(Filled::Context(ty.clone()));
            }
            Type::Reference(_) => errors.over(
                ty,
                "an opener takes its settings owned, and `&PluginContext`; for settings write the \
                 type without `&`",
            ),
            _ if has_settings => errors.over(
                ty,
                "a plugin has one table of settings: put all of them into one struct with \
                 `#[tool_type]`",
            ),
            _ => {
                has_settings = true;
                for misfit in types::argument_misfits(ty) {
                    errors.over(misfit.part.to_token_stream(), misfit.advice);
                }
                parameters.push(Filled::Settings(ty.clone()));
            }
        }
    }
    parameters
}
