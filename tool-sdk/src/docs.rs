//! Doc comments as descriptions: Markdown and blank lines are kept, the common indentation goes.

/// What the doc comment of a function says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct FunctionDocs {
    /// Everything before the first heading.
    pub(crate) description: String,
    /// Name and description of each item under `# Arguments`.
    pub(crate) arguments: Vec<(String, String)>,
}

/// The doc comment as one text. A piece may hold several lines (`/** … */`, `include_str!`).
pub(crate) fn text(pieces: &[&str]) -> String {
    let lines: Vec<&str> = pieces.iter().flat_map(|piece| piece.split('\n')).collect();
    dedent(&lines)
}

/// Takes the doc comment of a function apart.
pub(crate) fn split(pieces: &[&str]) -> FunctionDocs {
    let text = text(pieces);
    let mut description = Vec::new();
    let mut arguments = Vec::new();
    let mut section: Option<&str> = None;
    let mut fenced = false;
    for line in text.lines() {
        fenced ^= line.trim_start().starts_with("```");
        match line.strip_prefix("# ").filter(|_| !fenced) {
            Some(heading) => section = Some(heading.trim()),
            None if section.is_none() => description.push(line),
            None if section == Some("Arguments") => argument_line(line, &mut arguments),
            None => {}
        }
    }
    FunctionDocs {
        description: description.join("\n").trim().to_owned(),
        arguments,
    }
}

/// Reads `* name - text`, with or without backticks and `:`; other lines go on with the last one.
fn argument_line(line: &str, arguments: &mut Vec<(String, String)>) {
    let item = line.strip_prefix("* ").or_else(|| line.strip_prefix("- "));
    let named = item.and_then(|item| item.split_once(" - ").or_else(|| item.split_once(": ")));
    if let Some((name, text)) = named {
        let name = name.trim().trim_matches('`').to_owned();
        arguments.push((name, text.trim().to_owned()));
    } else if let Some((_, text)) = arguments.last_mut()
        && !line.trim().is_empty()
    {
        text.push('\n');
        text.push_str(line.trim());
    }
}

fn dedent(lines: &[&str]) -> String {
    let indent = lines
        .iter()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start().len())
        .min()
        .unwrap_or(0);
    let kept: Vec<&str> = lines
        .iter()
        .map(|line| line.get(indent..).unwrap_or_default().trim_end())
        .collect();
    kept.join("\n").trim_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_and_blank_lines_survive() {
        let pieces = [
            " First line",
            " wrapped here.",
            "",
            " - item one",
            "   - item two",
        ];
        assert_eq!(
            text(&pieces),
            "First line\nwrapped here.\n\n- item one\n  - item two"
        );
    }

    #[test]
    fn description_ends_at_the_first_heading() {
        let docs = split(&[" Adds.", "", " Twice.", " # Errors", " Never.", " # Panics"]);
        assert_eq!(
            docs,
            FunctionDocs {
                description: "Adds.\n\nTwice.".into(),
                arguments: vec![]
            }
        );
    }

    #[test]
    fn arguments_section_names_them() {
        let docs = split(&[
            " Adds.",
            " # Arguments",
            " * `a` - the first,",
            "   a number",
            " - b: the other",
        ]);
        assert_eq!(
            docs.arguments,
            [
                ("a".to_owned(), "the first,\na number".to_owned()),
                ("b".to_owned(), "the other".to_owned())
            ]
        );
    }

    #[test]
    fn heading_inside_a_fence_is_text() {
        let docs = split(&[" Runs:", " ```sh", " # comment", " ```"]);
        assert_eq!(docs.description, "Runs:\n```sh\n# comment\n```");
    }
}
