//! The rules for a whole tool, one function a rule. Each says what is wrong, where, and what to
//! write instead.

mod literals;
mod values;

use std::collections::HashSet;

use crate::errors::Errors;
use crate::model::Tool;
use crate::name::{self, ARGUMENT_NAME, TOOL_NAME};
use crate::parameter::{Argument, Source};
use crate::{docs, types};

/// Applies every rule.
pub(crate) fn tool(tool: &Tool, errors: &mut Errors) {
    for rule in [
        is_an_ordinary_function,
        has_a_name_for_every_provider,
        arguments_have_names_for_every_provider,
        arguments_have_distinct_names,
        arguments_have_types_that_a_model_can_fill_in,
        result_has_a_type_that_can_be_shown,
        inline_tool_does_not_wait,
        async_tool_has_a_runtime,
        something_is_validated,
        annotations_agree,
        everything_is_described,
        values::keys_fit_their_types,
        literals::fit_their_types,
        values::formats_are_known,
        values::bounds_leave_room,
        values::defaults_and_examples_are_allowed,
    ] {
        rule(tool, errors);
    }
}

/// The parameters that are filled in by name.
fn arguments(tool: &Tool) -> impl Iterator<Item = &Argument> {
    tool.parameters
        .iter()
        .filter_map(|parameter| match &parameter.source {
            Source::Argument(argument) => Some(&**argument),
            Source::Context | Source::Arguments | Source::State(_) => None,
        })
}

/// Without a validator, `validate_only` would let every argument pass.
fn something_is_validated(tool: &Tool, errors: &mut Errors) {
    if let Some(span) = tool.validate_only
        && tool.validate.is_none()
    {
        errors.at(
            span,
            "`validate_only` needs a validator beside it: `validate = path`",
        );
    }
}

fn is_an_ordinary_function(tool: &Tool, errors: &mut Errors) {
    tool.excess.of_tool(errors);
}

/// Requirement R20.
fn has_a_name_for_every_provider(tool: &Tool, errors: &mut Errors) {
    let name = &tool.name;
    if !name::is_tool_name(&name.text) {
        errors.at(
            name.span,
            format!(
                "`{}` is no name of a tool: providers accept {TOOL_NAME}; write \
                 `#[tool(name = \"…\")]` with such a name",
                name.text
            ),
        );
    }
}

fn arguments_have_names_for_every_provider(tool: &Tool, errors: &mut Errors) {
    for Argument { name, .. } in arguments(tool) {
        if !name::is_argument_name(&name.text) {
            errors.at(
                name.span,
                format!(
                    "`{}` is no name of an argument: providers accept {ARGUMENT_NAME}; write \
                     `#[arg(rename = \"…\")]` with such a name",
                    name.text
                ),
            );
        }
    }
}

/// A JSON object has each key once.
fn arguments_have_distinct_names(tool: &Tool, errors: &mut Errors) {
    let mut seen = HashSet::new();
    // Parameters under a condition may be alternatives to each other.
    for parameter in tool
        .parameters
        .iter()
        .filter(|parameter| parameter.conditions.is_empty())
    {
        let Source::Argument(argument) = &parameter.source else {
            continue;
        };
        let name = &argument.name;
        if !seen.insert(name.text.as_str()) {
            errors.at(
                name.span,
                format!(
                    "two arguments are called `{}`: rename one of them",
                    name.text
                ),
            );
        }
    }
}

fn arguments_have_types_that_a_model_can_fill_in(tool: &Tool, errors: &mut Errors) {
    for argument in arguments(tool).filter(|argument| !argument.is_text) {
        for misfit in types::argument_misfits(&argument.ty) {
            errors.over(misfit.part, misfit.advice);
        }
    }
}

fn result_has_a_type_that_can_be_shown(tool: &Tool, errors: &mut Errors) {
    for misfit in types::result_misfits(&tool.output) {
        errors.over(misfit.part, misfit.advice);
    }
}

/// The SDK hands its own features on to this crate.
fn async_tool_has_a_runtime(tool: &Tool, errors: &mut Errors) {
    if tool.is_async && !cfg!(feature = "async") {
        errors.at(tool.ident.span(), NO_RUNTIME);
    }
}

/// What an `async fn` is told where there is no runtime for it.
pub(crate) const NO_RUNTIME: &str = "an `async fn` needs the feature `async` of tool-sdk: in \
    Cargo.toml, take `default-features = false` away or write `features = [\"async\"]`";

/// What changes nothing destroys nothing.
fn annotations_agree(tool: &Tool, errors: &mut Errors) {
    let says = |name, value| tool.annotations.contains(&(name, value));
    if says("read_only", true) && says("destructive", true) {
        errors.at(
            tool.ident.span(),
            "`read_only` and `destructive` contradict each other: remove one of them",
        );
    }
}

/// What `require_docs` asks for. Text that is no literal counts as a description here; the SDK
/// looks at it when it makes the schema.
fn everything_is_described(tool: &Tool, errors: &mut Errors) {
    if !tool.require_docs {
        return;
    }
    if docs::is_blank(&tool.docs) {
        let text = "`require_docs`: say in a doc comment what the tool does";
        errors.at(tool.ident.span(), text);
    }
    for argument in arguments(tool).filter(|argument| !argument.preset) {
        let is_listed = [&argument.name.text, &argument.ident]
            .iter()
            .any(|name| docs::may_list(&tool.docs, name));
        if docs::is_blank(&argument.docs) && !is_listed {
            let text = format!(
                "`require_docs`: say in a doc comment what `{}` is",
                argument.name.text
            );
            errors.at(argument.name.span, text);
        }
    }
}

/// An inline tool runs on the caller's thread, where nothing polls it.
fn inline_tool_does_not_wait(tool: &Tool, errors: &mut Errors) {
    if let Some(span) = tool.inline.filter(|_| tool.is_async) {
        errors.at(
            span,
            "`inline` promises never to wait, which is what `async` is for: remove one of them",
        );
    }
}
