//! Text that is too long for a model: cut at a character, and the whole of it kept in a file.
//!
//! Files are named by their content, so that nothing that a model or a tool says becomes a path.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use fs_err as fs;
use serde_json::Value;
use tool_sdk::Content;

use crate::ids::ContentHash;
use crate::limits;
use crate::tool::ToolCallResult;
use crate::tool::outcome::joined;

/// How much a model sees, and where the rest is kept.
#[derive(Clone, Debug)]
pub(super) struct Overflow {
    /// Bytes of one result's text.
    pub(super) limit: usize,
    /// `None` where nothing is kept.
    folder: Option<PathBuf>,
}

impl Overflow {
    pub(super) fn new(limit: usize, state: Option<&Path>) -> Self {
        Self {
            limit,
            folder: state.map(|state| state.join("results")),
        }
    }

    /// Cuts what no model could read, and says so where it ends.
    pub(super) async fn cut(&self, result: &mut ToolCallResult) {
        let length = |block: &Content| block.as_text().map_or(0, str::len);
        let total: usize = result.content.iter().map(length).sum();
        if let Some(error) = &mut result.error {
            cut_at(&mut error.message, self.limit);
        }
        if total <= self.limit {
            return;
        }
        let content = std::mem::take(&mut result.content);
        let (content, kept) = self.keep_and_shorten(content).await;
        result.content = content;
        let limit = self.limit;
        let mut note = format!("[cut: the first {limit} of {total} bytes of text are shown");
        match kept {
            Ok(None) => note.push(']'),
            Ok(Some(path)) => {
                let path = path.to_string_lossy().into_owned();
                note = format!("{note}; the whole text is in {path}]");
                result
                    .details
                    .insert("fullText".to_owned(), Value::String(path));
            }
            Err(error) => {
                tracing::warn!(%error, "the whole text of a result could not be kept");
                note.push(']');
            }
        }
        result.content.push(Content::text(note));
    }

    /// Works where nothing else waits: for the disk, or for a text to be copied, which takes its
    /// time when it is long. A runtime that shuts down meanwhile leaves nothing of it.
    async fn keep_and_shorten(&self, mut content: Vec<Content>) -> (Vec<Content>, Kept) {
        let (limit, folder) = (self.limit, self.folder.clone());
        let work = tokio::task::spawn_blocking(move || {
            let kept = folder.map(|folder| keep(&folder, &joined(&content)));
            shorten(&mut content, limit);
            (content, kept.transpose())
        });
        work.await
            .unwrap_or_else(|error| (Vec::new(), Err(std::io::Error::other(error))))
    }
}

/// Where the whole text is, if it is kept.
type Kept = std::io::Result<Option<PathBuf>>;

fn cut_at(text: &mut String, limit: usize) {
    text.truncate(text.floor_char_boundary(limit));
    // What was cut would else stay in memory as long as the rest.
    text.shrink_to_fit();
}

/// Keeps the first bytes of all text blocks together; other blocks stay, and no block is empty.
fn shorten(content: &mut Vec<Content>, limit: usize) {
    let mut left = limit;
    content.retain_mut(|block| {
        let Content::Text { text } = block else {
            return true;
        };
        let length = text.len();
        cut_at(text, left);
        left = if text.len() < length {
            0
        } else {
            left - length
        };
        !text.is_empty()
    });
}

fn keep(folder: &Path, text: &str) -> std::io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    forget_old(folder);
    let path = folder.join(format!("{}.txt", ContentHash::of(text.as_bytes())));
    // Whoever reads the path finds all of it or nothing.
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    std::io::Write::write_all(&mut file, text.as_bytes())?;
    file.persist(&path)?;
    Ok(path)
}

/// Removes what was kept long ago. What can't be removed costs space and nothing else.
fn forget_old(folder: &Path) {
    let oldest = SystemTime::now().checked_sub(limits::RESULT_AGE);
    let is_old = |age: SystemTime| oldest.is_some_and(|oldest| age < oldest);
    for file in fs::read_dir(folder).into_iter().flatten().flatten() {
        let written = file.metadata().and_then(|metadata| metadata.modified());
        if written.is_ok_and(is_old) {
            fs::remove_file(file.path()).unwrap_or_default();
        }
    }
}
