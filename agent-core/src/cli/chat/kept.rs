//! The file that a conversation is kept in between chats.
//!
//! Whoever reads it finds all of it or what was there before. What somebody else has written
//! meanwhile is not lost, and neither is what this chat has to keep.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use fs_err as fs;
use serde::Deserialize as _;
use serde_json::Value;

use super::super::{CommandError, output};
use crate::agent::Conversation;
use crate::ids::ContentHash;
use crate::json_text::{shortened, spaced};
use crate::message::{Block, Role};

/// How much of what should not be there is shown, in characters.
const SHOWN: usize = 80;

/// A conversation's file.
pub(super) struct Kept {
    /// Where links lead to.
    file: PathBuf,
    /// What it held when it was last read or written here; `None` where it did not exist.
    content: Option<ContentHash>,
}

impl Kept {
    /// Reads the file. That it can be written is tried now, and not when there is something to lose.
    pub(super) fn open(named: &Path) -> Result<(Self, Conversation), CommandError> {
        // A link stays one.
        let file = named.canonicalize().unwrap_or_else(|_| named.to_owned());
        let refuse = |reason: String| {
            let text = format!(
                "the conversation can't be kept in `{}`: {reason}",
                named.display()
            );
            CommandError::usage(text)
        };
        let text = match fs::read_to_string(&file) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(CommandError::usage(error)),
        };
        if text.is_some() && fs::metadata(&file).is_ok_and(|found| found.permissions().readonly()) {
            return Err(refuse("it may not be written".to_owned()));
        }
        drop(beside(&file).map_err(|error| refuse(error.to_string()))?);
        let conversation = match text.as_deref().map(str::trim) {
            None | Some("") => Conversation::default(),
            Some(text) => serde_json::from_str(text).map_err(|error| {
                let reason = fault(text).unwrap_or_else(|| error.to_string());
                let text = format!("`{}` holds no conversation: {reason}", named.display());
                CommandError::usage(text)
            })?,
        };
        let content = text.map(|text| ContentHash::of(text.as_bytes()));
        Ok((Self { file, content }, conversation))
    }

    /// Keeps the conversation as it is now.
    pub(super) fn keep(&mut self, conversation: &Conversation) -> Result<(), CommandError> {
        let text = serde_json::to_string_pretty(conversation).map_err(CommandError::failed)?;
        let found = fs::read(&self.file).ok();
        let found = found.map(|bytes| ContentHash::of(&bytes));
        if found.is_some() && found != self.content {
            let other = format!("{}.{}", self.file.display(), std::process::id());
            output::complain(
                &format!(
                    "`{}` was changed by somebody else meanwhile",
                    self.file.display()
                ),
                &format!("this conversation is kept in `{other}` from now on"),
            );
            self.file = PathBuf::from(other);
        }
        self.write(&text).map_err(CommandError::failed)?;
        self.content = Some(ContentHash::of(text.as_bytes()));
        Ok(())
    }

    fn write(&self, text: &str) -> std::io::Result<()> {
        let mut new = beside(&self.file)?;
        new.write_all(text.as_bytes())?;
        // Who may read it is what it was; a new one is its owner's alone.
        if let Ok(found) = fs::metadata(&self.file) {
            new.as_file().set_permissions(found.permissions())?;
        }
        new.persist(&self.file)?;
        Ok(())
    }
}

/// A file in the same folder that nobody else has.
fn beside(file: &Path) -> std::io::Result<tempfile::NamedTempFile> {
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    tempfile::NamedTempFile::new_in(folder.unwrap_or_else(|| Path::new(".")))
}

/// Where JSON is no list of messages, as a pointer, with what is expected there and what is found;
/// `None` where that is not the fault.
fn fault(text: &str) -> Option<String> {
    let value: Value = serde_json::from_str(text).ok()?;
    let wrong = |at: &str, expected: &str, found: Option<&Value>| {
        let found = found.map_or("nothing".to_owned(), |found| {
            shortened(&spaced(found), SHOWN)
        });
        let at = if at.is_empty() { "the whole" } else { at };
        Some(format!("{at}: expected {expected}, found {found}"))
    };
    let Some(messages) = value.as_array() else {
        return wrong("", "a list of messages", Some(&value));
    };
    for (at, message) in messages.iter().enumerate() {
        if !message.is_object() {
            let expected = "a message, {\"role\": …, \"content\": […]}";
            return wrong(&format!("/{at}"), expected, Some(message));
        }
        let role = message.get("role");
        if role.is_none_or(|role| Role::deserialize(role).is_err()) {
            let expected = "\"system\", \"user\", \"assistant\" or \"tool\"";
            return wrong(&format!("/{at}/role"), expected, role);
        }
        let content = message.get("content");
        let Some(blocks) = content.and_then(Value::as_array) else {
            return wrong(&format!("/{at}/content"), "a list of blocks", content);
        };
        let is_none = |block: &Value| Block::deserialize(block).is_err();
        if let Some((index, block)) = blocks.iter().enumerate().find(|(_, one)| is_none(one)) {
            let expected = "a block such as {\"type\": \"text\", \"text\": …}";
            return wrong(&format!("/{at}/content/{index}"), expected, Some(block));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::message::Message;

    fn saying(text: &str) -> Conversation {
        let mut conversation = Conversation::default();
        conversation.say(Message::text(Role::User, text));
        conversation
    }

    fn read(file: &Path) -> Conversation {
        serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
    }

    #[test]
    fn mode_links_and_neighbours_stay_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("talk.json"), folder.path().join("link"));
        fs::write(folder.path().join("talk.unfinished"), "mine").unwrap();
        fs::write(&file, "\n").unwrap();
        fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let (mut kept, conversation) = Kept::open(&link).unwrap();
        assert_eq!(conversation, Conversation::default());
        kept.keep(&saying("a")).unwrap();
        kept.keep(&saying("b")).unwrap();
        assert_eq!(read(&file), saying("b"));
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    }

    #[test]
    fn what_somebody_else_wrote_is_not_lost_and_neither_is_this() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("talk.json");
        let (mut one, _) = Kept::open(&file).unwrap();
        let (mut other, _) = Kept::open(&file).unwrap();
        one.keep(&saying("a")).unwrap();
        other.keep(&saying("b")).unwrap();
        other.keep(&saying("c")).unwrap();
        assert_eq!(read(&file), saying("a"));
        assert_eq!(read(&other.file), saying("c"));
    }

    #[test]
    fn what_is_no_conversation_is_told_by_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("talk.json");
        let good = r#"{"role": "user", "content": [{"type": "text", "text": "Hi"}]}"#;
        for (text, expected) in [
            ("7", "the whole: expected a list of messages, found 7"),
            (
                "[7]",
                "/0: expected a message, {\"role\": …, \"content\": […]}, found 7",
            ),
            (
                &format!(r#"[{good}, {{"role": "usr", "content": []}}]"#),
                "/1/role: expected \"system\", \"user\", \"assistant\" or \"tool\", found \"usr\"",
            ),
            (
                r#"[{"role": "user"}]"#,
                "/0/content: expected a list of blocks, found nothing",
            ),
            (
                r#"[{"role": "user", "content": 7}]"#,
                "/0/content: expected a list of blocks, found 7",
            ),
            (
                r#"[{"role": "user", "content": [{"type": "txt"}]}]"#,
                "/0/content/0: expected a block such as {\"type\": \"text\", \"text\": …}, found {\"type\": \"txt\"}",
            ),
            (
                r#"[{"role": "user", "content": []}]"#,
                "the conversation can't be taken up: message 0: it is empty",
            ),
            ("[\n{]", "key must be a string at line 2 column 2"),
        ] {
            fs::write(&file, text).unwrap();
            let told = Kept::open(&file).err().unwrap().message;
            let (_, told) = told.split_once(" holds no conversation: ").unwrap();
            assert_eq!(told, expected);
        }
    }

    #[test]
    fn what_cant_be_kept_is_refused_at_the_start() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |file: &Path| Kept::open(file).err().unwrap().message;
        assert!(refused(&folder.path().join("no/talk.json")).contains("can't be kept"));
        let file = folder.path().join("talk.json");
        fs::write(&file, "{}").unwrap();
        assert!(refused(&file).contains("holds no conversation"));
        fs::write(&file, "[]").unwrap();
        fs::set_permissions(&file, std::fs::Permissions::from_mode(0o444)).unwrap();
        assert!(refused(&file).contains("may not be written"));
    }
}
