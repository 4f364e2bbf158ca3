//! What cargo, the compiler and manifests have against a crate, as reasons with codes.

use crate::build::{BuildError, Diagnostic, ManifestError};
use crate::plugin::Reason;

/// Each message of the compiler by itself, else the one sentence of the failure.
pub(super) fn of_build(error: &BuildError) -> Vec<Reason> {
    let told = |text: String| Reason::new("build", text);
    let hint = error.hint();
    match error {
        BuildError::Compile { errors, .. } if !errors.is_empty() => errors
            .iter()
            .map(|error| told(with_hint(first_line(error), hint.as_deref())))
            .collect(),
        _ => vec![told(with_hint(
            one_line(&error.to_string()),
            hint.as_deref(),
        ))],
    }
}

/// Why a folder is no plugin crate.
pub(in crate::cli) fn of_manifest(error: &ManifestError) -> Reason {
    let text = one_line(&error.to_string());
    Reason::new("manifest", with_hint(text, error.hint().as_deref()))
}

/// The place, what is wrong there, and the code to look up.
fn first_line(error: &Diagnostic) -> String {
    let message = error.message.lines().next().unwrap_or_default();
    let place = error.span.as_ref();
    let place = place.map(|span| format!("{}:{}:{}: ", span.file, span.line, span.column));
    let code = error.code.as_ref().map(|code| format!(" ({code})"));
    let (place, code) = (place.unwrap_or_default(), code.unwrap_or_default());
    format!("{place}{message}{code}")
}

fn one_line(text: &str) -> String {
    text.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

fn with_hint(text: String, hint: Option<&str>) -> String {
    match hint {
        Some(hint) => format!("{text}; {hint}"),
        None => text,
    }
}
