//! Which folders should be watched, and what counts in each.
//!
//! Looked at are names and times of folders only; a folder that has not changed is not read again.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use fs_err as fs;

use super::events::{Others, Rule, Rules};
use crate::fingerprint::{Fingerprint, now};

/// Most folders that are watched. The system has a limit for all programs of a user together, and
/// every watch takes memory of the kernel; whoever has more folders has most likely put something
/// into a crate that is no source.
pub(super) const FOLDERS: usize = 8192;

/// Bits of a folder into which everybody may write, like `/tmp`.
const SHARED_BY_ALL: u32 = 0o1002;

/// What to cover.
#[derive(Debug)]
pub(super) struct Wish<'a> {
    /// The plugins folder.
    pub(super) plugins: &'a Path,
    /// The folder of the host's own state.
    pub(super) state: &'a Path,
    /// Files and folders whose change should be noticed.
    pub(super) paths: &'a BTreeSet<PathBuf>,
}

/// Folders to watch, the most important ones first.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    pub(super) folders: Vec<PathBuf>,
    pub(super) rules: Rules,
    /// Whether there are more than may be watched.
    pub(super) too_many: bool,
    most: usize,
}

impl Wanted {
    fn add(&mut self, folder: &Path, others: Others) -> Option<&mut Rule> {
        if !self.rules.contains_key(folder) {
            if self.folders.len() >= self.most {
                self.too_many = true;
                return None;
            }
            self.folders.push(folder.to_owned());
        }
        let rule = self.rules.entry(folder.to_owned()).or_default();
        rule.others = rule.others.max(others);
        Some(rule)
    }

    /// The entry of a folder matters.
    fn name(&mut self, path: &Path) {
        if let (Some(folder), Some(name)) = (path.parent(), path.file_name())
            && let Some(rule) = self.add(folder, Others::Nothing)
        {
            rule.names.insert(name.to_owned());
        }
    }

    /// The entry of a folder that is not the host's matters.
    fn name_outside(&mut self, path: &Path) {
        if path.parent().is_some_and(is_private) {
            self.name(path);
        }
    }
}

/// The folders of crates, as they were when they were read.
#[derive(Debug)]
pub(super) struct Trees {
    seen: BTreeMap<PathBuf, Seen>,
    most: usize,
}

impl Default for Trees {
    fn default() -> Self {
        Self {
            seen: BTreeMap::new(),
            most: FOLDERS,
        }
    }
}

#[derive(Debug)]
struct Seen {
    fingerprint: Fingerprint,
    taken: i64,
    is_cache: bool,
    folders: Vec<PathBuf>,
}

impl Trees {
    /// Every folder in which one of these paths lies, and the folders below crates.
    pub(super) fn wanted(&mut self, wish: &Wish<'_>) -> Wanted {
        let mut wanted = Wanted {
            most: self.most,
            ..Wanted::default()
        };
        wanted.add(wish.plugins, Others::Plugins);
        wanted.name_outside(wish.plugins);
        let (below, elsewhere): (Vec<&PathBuf>, Vec<&PathBuf>) = wish
            .paths
            .iter()
            .partition(|path| path.starts_with(wish.plugins));
        let mut outside: BTreeMap<&Path, Vec<&Path>> = BTreeMap::new();
        let mut roots = VecDeque::new();
        for path in below {
            wanted.name(path);
            if path.parent() == Some(wish.plugins) {
                if path.is_dir() {
                    roots.push_back(path.clone());
                } else if let Some(target) = target_of_link(path) {
                    wanted.name_outside(&target);
                }
            }
        }
        self.walk(&mut wanted, roots, wish.state);
        for path in elsewhere {
            if let Some(folder) = path.parent() {
                outside.entry(folder).or_default().push(path);
            }
        }
        for (folder, paths) in outside {
            // Where nothing that matters lies, the sweep sees it appear.
            if is_private(folder) && paths.iter().any(|path| path.exists()) {
                for path in paths {
                    wanted.name(path);
                }
            }
        }
        wanted
    }

    /// Adds folders and what lies below them, level by level, without build outputs and hidden
    /// folders.
    fn walk(&mut self, wanted: &mut Wanted, mut folders: VecDeque<PathBuf>, state: &Path) {
        let mut before = std::mem::take(&mut self.seen);
        while let Some(folder) = folders.pop_front() {
            let known = before.remove(&folder);
            let Some(seen) = Seen::look(&folder, known) else {
                continue;
            };
            if seen.is_cache || folder == state {
                self.seen.insert(folder, seen);
                continue;
            }
            if wanted.add(&folder, Others::Sources).is_none() {
                break;
            }
            folders.extend(seen.folders.iter().cloned());
            self.seen.insert(folder, seen);
        }
    }
}

impl Seen {
    /// Looks at a folder, which is not read again if it is the one that is `known`.
    fn look(folder: &Path, known: Option<Self>) -> Option<Self> {
        let taken = now();
        let metadata = fs::metadata(folder).ok()?;
        let fingerprint = Fingerprint::of(&metadata);
        if let Some(known) = known
            && known.fingerprint == fingerprint
            && !fingerprint.is_fresh_at(known.taken)
        {
            return Some(known);
        }
        let mut folders = Vec::new();
        let mut is_cache = false;
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            is_cache |= name == "CACHEDIR.TAG";
            let skip = name.as_encoded_bytes().starts_with(b".") || name == "target";
            if !skip && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            }
        }
        folders.sort();
        Some(Self {
            fingerprint,
            taken,
            is_cache,
            folders,
        })
    }
}

/// Where a link leads in the end, if it is one.
fn target_of_link(path: &Path) -> Option<PathBuf> {
    let metadata = fs::symlink_metadata(path).ok()?;
    metadata
        .is_symlink()
        .then(|| fs::canonicalize(path).ok())
        .flatten()
}

/// Whether a folder exists and is none in which everybody works: what happens in `/tmp` or `/`
/// would keep the watcher busy all day.
fn is_private(folder: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let shared = |mode: u32| mode & SHARED_BY_ALL == SHARED_BY_ALL;
    folder.parent().is_some()
        && fs::metadata(folder)
            .is_ok_and(|metadata| metadata.is_dir() && !shared(metadata.permissions().mode()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders(trees: &mut Trees, root: &Path, paths: &[&str]) -> Vec<String> {
        let plugins = root.join("plugins");
        let paths = paths.iter().map(|path| root.join(path)).collect();
        let wanted = trees.wanted(&Wish {
            plugins: &plugins,
            state: &root.join("plugins/one/state"),
            paths: &paths,
        });
        let relative = wanted.folders.iter();
        let relative = relative.map(|folder| folder.strip_prefix(root).unwrap_or(folder));
        relative.map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn sources_are_watched_and_outputs_are_not() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        for folder in [
            "plugins/one/src/deep",
            "plugins/one/.git/objects",
            "plugins/one/target/debug",
            "plugins/one/state/store",
            "plugins/one/out/debug",
            "plugins/not-a-plugin/x",
            "sdk/src",
            "none",
        ] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::write(root.join("sdk/src/lib.rs"), "").unwrap();
        let mut trees = Trees::default();
        let paths = [
            "plugins/one",
            "plugins/libx.so",
            "sdk/src/lib.rs",
            "sdk/src/absent.rs",
            "none/absent.toml",
        ];
        let mut look = || folders(&mut trees, root, &paths).join(" ");
        let expected = "plugins  plugins/one plugins/one/out plugins/one/src plugins/one/out/debug plugins/one/src/deep sdk/src";
        assert_eq!(look(), expected);
        fs::write(root.join("plugins/one/out/CACHEDIR.TAG"), "").unwrap();
        fs::create_dir(root.join("plugins/one/src/new")).unwrap();
        let expected =
            "plugins  plugins/one plugins/one/src plugins/one/src/deep plugins/one/src/new sdk/src";
        assert_eq!(look(), expected);
    }

    #[test]
    fn folders_where_everybody_works_are_not_watched() {
        use std::os::unix::fs::PermissionsExt;
        let root = tempfile::tempdir().unwrap();
        assert!(is_private(root.path()));
        fs::set_permissions(root.path(), PermissionsExt::from_mode(0o1777)).unwrap();
        assert!(!is_private(root.path()));
        assert!(!is_private(Path::new("/")));
    }

    #[test]
    fn link_to_a_library_has_its_target_watched() {
        let root = tempfile::tempdir().unwrap();
        let root = &fs::canonicalize(root.path()).unwrap();
        for folder in ["plugins", "made"] {
            fs::create_dir(root.join(folder)).unwrap();
        }
        fs::write(root.join("made/x.so"), "").unwrap();
        std::os::unix::fs::symlink("../made/x.so", root.join("plugins/libx.so")).unwrap();
        let found = folders(&mut Trees::default(), root, &["plugins/libx.so"]);
        assert_eq!(found, ["plugins", "", "made"]);
    }

    #[test]
    fn folders_without_number_are_not_all_watched() {
        let root = tempfile::tempdir().unwrap();
        for number in 0..20 {
            let folder = format!("plugins/one/{number}");
            fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        let (plugins, paths) = (root.path().join("plugins"), BTreeSet::new());
        let mut wish = Wish {
            plugins: &plugins,
            state: Path::new("/state"),
            paths: &paths,
        };
        let limited = |wish: &Wish<'_>| {
            let mut trees = Trees {
                most: 10,
                ..Trees::default()
            };
            trees.wanted(wish)
        };
        assert!(!limited(&wish).too_many);
        let paths = BTreeSet::from([plugins.join("one")]);
        wish.paths = &paths;
        let wanted = limited(&wish);
        assert!(wanted.too_many);
        assert_eq!(wanted.folders.len(), 10);
    }
}
