//! The rules for a whole tool, one function a rule. Each says what is wrong, where, and what to
//! write instead.

use std::collections::HashSet;

use crate::errors::Errors;
use crate::model::Tool;
use crate::name::{self, ARGUMENT_NAME, TOOL_NAME};
use crate::parameter::{Argument, Source};
use crate::types;

/// Applies every rule.
pub(crate) fn tool(tool: &Tool, errors: &mut Errors) {
    for rule in [
        is_marked_once,
        is_a_free_function,
        is_safe,
        is_not_generic,
        has_a_fixed_list_of_arguments,
        has_a_name_for_every_provider,
        arguments_have_names_for_every_provider,
        arguments_have_distinct_names,
        arguments_have_types_that_a_model_can_fill_in,
        result_has_a_type_that_can_be_shown,
        inline_tool_does_not_wait,
        something_is_validated,
    ] {
        rule(tool, errors);
    }
}

fn arguments(tool: &Tool) -> impl Iterator<Item = &Argument> {
    tool.parameters
        .iter()
        .filter_map(|parameter| match &parameter.source {
            Source::Argument(argument) => Some(&**argument),
            Source::Context | Source::Arguments => None,
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

/// Two attributes would make two tools of the same name.
fn is_marked_once(tool: &Tool, errors: &mut Errors) {
    if let Some(attribute) = &tool.excess.attribute {
        errors.over(
            attribute,
            "the function is a tool already: join the two `#[tool]`",
        );
    }
}

fn is_a_free_function(tool: &Tool, errors: &mut Errors) {
    if let Some(receiver) = &tool.excess.receiver {
        errors.over(
            receiver,
            "a tool is a free function, without `self`: move it out of the `impl` block",
        );
    }
}

/// A model can't promise what an `unsafe fn` asks of its caller.
fn is_safe(tool: &Tool, errors: &mut Errors) {
    if let Some(keyword) = &tool.excess.unsafety {
        errors.over(
            keyword,
            "a model can't keep the promises that an `unsafe fn` asks for: make the function \
             safe, and what is unsafe a block inside it",
        );
    }
}

/// There is one schema and one entry, so there is one type for everything.
fn is_not_generic(tool: &Tool, errors: &mut Errors) {
    if let Some(generics) = &tool.excess.generics {
        errors.over(
            generics,
            "a tool has one schema, so it can't be generic: write the types themselves, and \
             `&str` without a lifetime",
        );
    }
}

fn has_a_fixed_list_of_arguments(tool: &Tool, errors: &mut Errors) {
    if let Some(variadic) = &tool.excess.variadic {
        errors.over(
            variadic,
            "a tool has a fixed list of arguments: take a `Vec<…>`",
        );
    }
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

/// An inline tool runs on the caller's thread, where nothing polls it.
fn inline_tool_does_not_wait(tool: &Tool, errors: &mut Errors) {
    if let Some(span) = tool.inline.filter(|_| tool.is_async) {
        errors.at(
            span,
            "`inline` promises never to wait, which is what `async` is for: remove one of them",
        );
    }
}
