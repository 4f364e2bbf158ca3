//! What the compiler said, as data.
//!
//! Owns the reduction of rustc's messages to what people and models are shown. Does not own the
//! reading of cargo's output, which is [`super::cargo`]'s.

use cargo_metadata::diagnostic::{
    Applicability, Diagnostic as Message, DiagnosticLevel, DiagnosticSpan,
};
use serde::Serialize;

/// How grave a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Level {
    /// Nothing was built because of it.
    Error,
    /// It was built all the same.
    Warning,
    /// It only explains.
    Note,
}

/// One message of the compiler.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Diagnostic {
    /// How grave it is.
    pub level: Level,
    /// The code to look up, such as `E0308`, or the name of a lint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// What is wrong, in one sentence.
    pub message: String,
    /// The whole message with source lines, as a terminal shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rendered: Option<String>,
    /// The place it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
    /// What the compiler proposes to write instead.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<Suggestion>,
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Span {
    /// The file, as the compiler names it: relative to the folder of the workspace.
    pub file: String,
    /// The first line, counted from one.
    pub line: usize,
    /// The first column in characters, counted from one.
    pub column: usize,
    /// The last line.
    pub end_line: usize,
    /// The column after the last character.
    pub end_column: usize,
    /// What the compiler says about just this place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// Text to put at a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Suggestion {
    /// Why.
    pub message: String,
    /// What is to be replaced.
    pub span: Span,
    /// The text to put there.
    pub replacement: String,
    /// Whether the compiler is sure of it.
    pub certain: bool,
}

impl Diagnostic {
    /// Reduces a message, or leaves out one that only sums up others.
    pub(super) fn from_message(message: Message) -> Option<Self> {
        let level = match message.level {
            DiagnosticLevel::Error | DiagnosticLevel::Ice => Level::Error,
            DiagnosticLevel::Warning => Level::Warning,
            DiagnosticLevel::FailureNote => return None,
            _ => Level::Note,
        };
        if is_summary(&message) {
            return None;
        }
        let suggestions = message
            .children
            .iter()
            .flat_map(|child| child.spans.iter().map(move |span| (child, span)))
            .filter_map(|(child, span)| suggestion(&child.message, span))
            .collect();
        Some(Self {
            level,
            code: message.code.map(|code| code.code),
            span: message
                .spans
                .iter()
                .find(|span| span.is_primary)
                .map(own_place),
            message: message.message,
            rendered: message.rendered,
            suggestions,
        })
    }
}

/// "aborting due to 2 previous errors", "1 warning emitted": no place, no code, nothing new.
fn is_summary(message: &Message) -> bool {
    let text = message.message.as_str();
    message.spans.is_empty()
        && message.code.is_none()
        && (text.starts_with("aborting due to ")
            || text.ends_with(" warning emitted")
            || text.ends_with(" warnings emitted"))
}

/// The place in the crate's own text: what a macro of another crate wrote is reported where the
/// macro was used.
fn own_place(span: &DiagnosticSpan) -> Span {
    let mut place = span;
    while let Some(expansion) = &place.expansion {
        if !is_foreign(&place.file_name) {
            break;
        }
        place = &expansion.span;
    }
    let mut place = to_span(place);
    place.label.clone_from(&span.label);
    place
}

/// Files of other crates are named by absolute paths, invented ones in angle brackets.
fn is_foreign(file: &str) -> bool {
    file.starts_with('<') || std::path::Path::new(file).is_absolute()
}

fn to_span(span: &DiagnosticSpan) -> Span {
    Span {
        file: span.file_name.clone(),
        line: span.line_start,
        column: span.column_start,
        end_line: span.line_end,
        end_column: span.column_end,
        label: span.label.clone(),
    }
}

fn suggestion(message: &str, span: &DiagnosticSpan) -> Option<Suggestion> {
    let replacement = span.suggested_replacement.clone()?;
    let certain = matches!(
        span.suggestion_applicability,
        Some(Applicability::MachineApplicable)
    );
    let mut span = to_span(span);
    span.label = None;
    Some(Suggestion {
        message: message.to_owned(),
        span,
        replacement,
        certain,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn span(file: &str, line: usize, more: &Value) -> Value {
        let mut span = json!({
            "file_name": file, "byte_start": 0, "byte_end": 1, "line_start": line,
            "line_end": line, "column_start": 3, "column_end": 9, "is_primary": true,
            "text": [], "label": "here", "suggested_replacement": null,
            "suggestion_applicability": null, "expansion": null,
        });
        for (key, value) in more.as_object().unwrap() {
            span[key] = value.clone();
        }
        span
    }

    fn reduced(message: Value) -> Option<Diagnostic> {
        Diagnostic::from_message(serde_json::from_value(message).unwrap())
    }

    #[test]
    fn an_error_keeps_its_place_code_and_suggestion() {
        let diagnostic = reduced(json!({
            "message": "mismatched types", "code": {"code": "E0308", "explanation": "…"},
            "level": "error", "rendered": "error[E0308]: mismatched types\n",
            "spans": [span("src/lib.rs", 7, &json!({}))],
            "children": [{
                "message": "try a string", "code": null, "level": "help", "children": [],
                "rendered": null,
                "spans": [span("src/lib.rs", 8, &json!({
                    "suggested_replacement": ".to_owned()",
                    "suggestion_applicability": "MachineApplicable",
                }))],
            }],
        }));
        let place = |line, label: Option<&str>| Span {
            file: "src/lib.rs".to_owned(),
            line,
            column: 3,
            end_line: line,
            end_column: 9,
            label: label.map(str::to_owned),
        };
        assert_eq!(
            diagnostic,
            Some(Diagnostic {
                level: Level::Error,
                code: Some("E0308".to_owned()),
                message: "mismatched types".to_owned(),
                rendered: Some("error[E0308]: mismatched types\n".to_owned()),
                span: Some(place(7, Some("here"))),
                suggestions: vec![Suggestion {
                    message: "try a string".to_owned(),
                    span: place(8, None),
                    replacement: ".to_owned()".to_owned(),
                    certain: true,
                }],
            })
        );
    }

    #[test]
    fn what_a_foreign_macro_wrote_is_placed_where_it_was_used() {
        let outer = span("src/lib.rs", 4, &json!({}));
        let expansion = json!({"span": outer, "macro_decl_name": "m!", "def_site_span": null});
        let inner = span("/sdk/src/macros.rs", 90, &json!({"expansion": expansion}));
        let diagnostic = reduced(json!({
            "message": "m", "code": null, "level": "error", "rendered": null, "children": [],
            "spans": [inner],
        }));
        let span = diagnostic.unwrap().span.unwrap();
        assert_eq!((span.file.as_str(), span.line), ("src/lib.rs", 4));
    }

    #[test]
    fn summaries_are_left_out() {
        for (level, text) in [
            ("error", "aborting due to 2 previous errors"),
            (
                "error",
                "aborting due to 1 previous error; 1 warning emitted",
            ),
            ("warning", "1 warning emitted"),
            ("warning", "2 warnings emitted"),
            (
                "failure-note",
                "For more information about this error, try `rustc --explain E0308`.",
            ),
        ] {
            let message = json!({"message": text, "code": null, "level": level, "rendered": null,
                "children": [], "spans": []});
            assert_eq!(reduced(message), None, "{text}");
        }
    }
}
