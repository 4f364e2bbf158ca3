//! What an event of the file system means: nothing, a reason to look, or that a folder's watch may
//! have ended. Pure but for the time; which folders are watched is said by [`Rules`].

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::ops::Bound;
use std::path::{Path, PathBuf};

use notify::Event;
use notify::event::{AccessKind, AccessMode, CreateKind, EventKind, ModifyKind, RemoveKind};

use super::super::scan::{is_ignored, library_name};

/// What may matter of a watched folder's entries besides those that are named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Others {
    /// Nothing: only the named entries do.
    #[default]
    Nothing,
    /// Libraries and folders: it is the plugins folder.
    Plugins,
    /// Every file: a source may appear.
    Sources,
}

/// What counts of what happens in one watched folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) others: Others,
    /// Entries that are known to matter, whatever they are called.
    pub(super) names: BTreeSet<OsString>,
}

/// The rules of all folders, by the path under which each is watched.
pub(super) type Rules = BTreeMap<PathBuf, Rule>;

/// Whose doing an event is, as far as it can be told: what makes noise is looked at less often.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    /// A file or folder that is known to matter.
    Known(PathBuf),
    /// Some file in this folder.
    Folder(PathBuf),
    /// Events were lost.
    Lost,
}

/// What follows from one event.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Meaning {
    /// Reasons to look.
    pub(super) sources: Vec<Source>,
    /// Watches at and below this path may have ended.
    pub(super) ended: Option<PathBuf>,
    /// A library is being written.
    pub(super) writing: Option<Writing>,
}

/// How the writing of a library goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Writing {
    /// The file is there; maybe it is written, maybe it is a link to a whole file.
    Created(PathBuf),
    /// Some of it was written.
    GoesOn(PathBuf),
    /// It is whole, or gone.
    Ended(PathBuf),
}

/// Reads one event.
pub(super) fn meaning(rules: &Rules, event: &Event) -> Meaning {
    let mut meaning = Meaning::default();
    if event.need_rescan() || event.paths.is_empty() {
        meaning.sources.push(Source::Lost);
        return meaning;
    }
    meaning.writing = event.paths.iter().find_map(|path| {
        let folder = rules.get(path.parent()?)?;
        (folder.others == Others::Plugins && library_name(path).is_some())
            .then(|| writing(event.kind, path))?
    });
    if !says_change(event.kind) {
        return meaning;
    }
    let moves_away = matches!(
        event.kind,
        EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_))
    );
    for path in &event.paths {
        let held = moves_away && holds_watched(rules, path);
        if held {
            meaning.ended = Some(path.clone());
        }
        if let Some(source) = source(rules, event.kind, path, held) {
            meaning.sources.push(source);
        }
    }
    meaning
}

/// Whether an event may mean that a file's content, name or existence changed. A write that goes
/// on is no news yet; its end is. That a file was opened or read is none: the host itself does.
fn says_change(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) | EventKind::Modify(ModifyKind::Data(_)) => false,
        _ => true,
    }
}

fn writing(kind: EventKind, path: &Path) -> Option<Writing> {
    let path = path.to_owned();
    match kind {
        EventKind::Create(CreateKind::File) => Some(Writing::Created(path)),
        EventKind::Modify(ModifyKind::Data(_)) => Some(Writing::GoesOn(path)),
        EventKind::Access(AccessKind::Close(AccessMode::Write))
        | EventKind::Remove(_)
        | EventKind::Modify(ModifyKind::Name(_)) => Some(Writing::Ended(path)),
        _ => None,
    }
}

fn source(rules: &Rules, kind: EventKind, path: &Path, held: bool) -> Option<Source> {
    if held {
        return Some(Source::Known(path.to_owned()));
    }
    if rules.contains_key(path) {
        // The folder's own permissions, say.
        return Some(Source::Folder(path.to_owned()));
    }
    let (folder, name) = (path.parent()?, path.file_name()?);
    let rule = rules.get(folder)?;
    if rule.names.contains(name) {
        return Some(Source::Known(path.to_owned()));
    }
    if is_noise(name) {
        return None;
    }
    match rule.others {
        Others::Nothing => None,
        Others::Sources => Some(Source::Folder(folder.to_owned())),
        Others::Plugins if library_name(path).is_some() => Some(Source::Known(path.to_owned())),
        // What is written is a file, and no library.
        Others::Plugins if matches!(kind, EventKind::Access(_)) => None,
        Others::Plugins => match kind {
            EventKind::Create(CreateKind::Folder) | EventKind::Remove(RemoveKind::Folder) => {
                Some(Source::Known(path.to_owned()))
            }
            // It may be a link to a folder.
            _ => Some(Source::Folder(folder.to_owned())),
        },
    }
}

/// Whether a folder at or below the path is watched.
fn holds_watched(rules: &Rules, path: &Path) -> bool {
    let from = (Bound::Included(path), Bound::Unbounded);
    let mut folders = rules.range::<Path, _>(from);
    folders
        .next()
        .is_some_and(|(folder, _)| folder.starts_with(path))
}

/// Editors' lock, swap and backup files, and what else no build reads.
fn is_noise(name: &OsStr) -> bool {
    let bytes = name.as_encoded_bytes();
    let swap = |suffix: &[u8]| bytes.ends_with(suffix);
    is_ignored(name)
        || bytes == b"4913"
        || (bytes.starts_with(b"#") && bytes.ends_with(b"#"))
        || [&b".swp"[..], b".swo", b".swx"].into_iter().any(swap)
}

#[cfg(test)]
mod tests {
    use notify::event::{DataChange, Flag, MetadataKind, RenameMode};

    use super::*;

    fn rules() -> Rules {
        let rule = |others, names: &[&str]| Rule {
            others,
            names: names.iter().map(OsString::from).collect(),
        };
        Rules::from([
            ("/p".into(), rule(Others::Nothing, &["plugins", ".hidden"])),
            ("/p/plugins".into(), rule(Others::Plugins, &["one"])),
            (
                "/p/plugins/one/src".into(),
                rule(Others::Sources, &["lib.rs"]),
            ),
        ])
    }

    const CLOSED: EventKind = EventKind::Access(AccessKind::Close(AccessMode::Write));
    const CREATED: EventKind = EventKind::Create(CreateKind::File);

    fn read(kind: EventKind, path: &str) -> Meaning {
        meaning(&rules(), &Event::new(kind).add_path(path.into()))
    }

    fn sources(kind: EventKind, path: &str) -> Vec<Source> {
        read(kind, path).sources
    }

    #[test]
    fn reading_is_no_news() {
        for kind in [
            AccessKind::Open(AccessMode::Any),
            AccessKind::Close(AccessMode::Read),
            AccessKind::Read,
        ] {
            let path = "/p/plugins/one/src/lib.rs";
            assert_eq!(read(EventKind::Access(kind), path), Meaning::default());
        }
    }

    #[test]
    fn names_that_matter_are_told_from_noise() {
        let known = |path: &str| vec![Source::Known(path.into())];
        for path in [
            "/p/plugins/libx.so",
            "/p/plugins/libпогода🌦.so",
            "/p/plugins/one/src/lib.rs",
            "/p/.hidden",
        ] {
            assert_eq!(sources(CLOSED, path), known(path));
        }
        for path in [
            "/p/plugins/.#tool.rs",
            "/p/plugins/.x.so",
            "/p/plugins/notes.txt",
            "/p/plugins/one/src/4913",
            "/p/plugins/one/src/lib.rs~",
            "/p/plugins/one/src/x.swp",
            "/p/plugins/one/src/#lib.rs#",
            "/p/plugins/one/src/target",
            "/p/other.so",
            "/elsewhere/x.so",
        ] {
            assert_eq!(sources(CLOSED, path), [], "{path}");
        }
        // A new file may be a link to a crate's folder, and a new source.
        let folder = |path: &str| vec![Source::Folder(path.into())];
        assert_eq!(sources(CREATED, "/p/plugins/new"), folder("/p/plugins"));
        let new = "/p/plugins/one/src/new.rs";
        assert_eq!(sources(CLOSED, new), folder("/p/plugins/one/src"));
        let mode = EventKind::Modify(ModifyKind::Metadata(MetadataKind::Any));
        assert_eq!(sources(mode, "/p/plugins/one"), known("/p/plugins/one"));
    }

    #[test]
    fn folder_that_goes_takes_the_watches_below_it_along() {
        let removed = EventKind::Remove(RemoveKind::Folder);
        let moved = EventKind::Modify(ModifyKind::Name(RenameMode::From));
        for (kind, path) in [
            (removed, "/p/plugins"),
            (moved, "/p/plugins/one"),
            (moved, "/p"),
        ] {
            let meaning = read(kind, path);
            assert_eq!(meaning.ended, Some(path.into()));
            assert_eq!(meaning.sources, [Source::Known(path.into())]);
        }
        assert_eq!(read(removed, "/p/plugins/on").ended, None);
    }

    /// g4.overflow: such an event has no path.
    #[test]
    fn lost_events_are_a_reason_to_look() {
        let overflow = Event::new(EventKind::Other).set_flag(Flag::Rescan);
        assert_eq!(meaning(&rules(), &overflow).sources, [Source::Lost]);
    }

    #[test]
    fn writing_of_a_library_is_followed() {
        let path = "/p/plugins/libx.so";
        let goes_on = EventKind::Modify(ModifyKind::Data(DataChange::Any));
        let written = read(goes_on, path);
        assert_eq!(written.sources, []);
        assert_eq!(written.writing, Some(Writing::GoesOn(path.into())));
        let ended = Some(Writing::Ended(path.into()));
        assert_eq!(read(CLOSED, path).writing, ended);
        let created = Some(Writing::Created(path.into()));
        assert_eq!(read(CREATED, path).writing, created);
        assert_eq!(read(goes_on, "/p/plugins/one/src/x.so").writing, None);
    }
}
