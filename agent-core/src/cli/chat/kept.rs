//! The file that a conversation is kept in between chats.
//!
//! Whoever reads it finds all of it or what was there before. What somebody else has written
//! meanwhile is not lost, and neither is what this chat has to keep.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use fs_err as fs;

use super::super::{CommandError, output};
use crate::agent::Conversation;
use crate::ids::ContentHash;

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
                let text = format!("`{}` holds no conversation: {error}", named.display());
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::message::{Message, Role};

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
