//! Whether cargo has noticed every change.
//!
//! Owns which packages cargo may have old output of. Does not own making it forget them, which is
//! [`super::cargo`]'s.
//!
//! Cargo judges by times of modification. A file that was restored, renamed or unpacked with an
//! older time has changed without cargo's noticing it.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fs_err as fs;

use super::cargo::LocalPackage;
use super::manifest::CrateManifest;
use super::record::Record;
use super::steps::Look;

/// What a run of cargo is judged by.
pub(super) struct Doubt<'a> {
    /// The look before it.
    pub(super) look: &'a Look,
    pub(super) manifest: &'a CrateManifest,
    /// The packages that are compiled from folders.
    pub(super) local: &'a [LocalPackage],
    /// The files that were read for them.
    pub(super) compiled: &'a BTreeSet<PathBuf>,
}

impl Doubt<'_> {
    /// The packages to compile anew where cargo took the library with this hash for new.
    pub(super) fn about_old_library(&self, library: &str) -> Vec<LocalPackage> {
        let record = self.look.record.as_ref();
        let is_remembered = |record: &&Record| {
            record.conditions == self.look.conditions && record.artifact.hash == library
        };
        let mut packages: Vec<LocalPackage> = self.own().into_iter().collect();
        let Some(known) = record.filter(is_remembered) else {
            // Nobody knows what this library was made from: an earlier record is lost, or another
            // package or toolchain wrote a file of the same name in between. What it depends on has
            // fingerprints of its own.
            packages.extend(self.of_unnoticed_files());
            return unique(packages);
        };
        if self.look.inputs.has_content_of(&known.inputs) {
            return Vec::new();
        }
        for path in self.changed(known) {
            packages.extend(self.owners(path));
        }
        unique(packages)
    }

    /// The packages to compile anew where cargo compiled the crate, and perhaps not all that it
    /// should have.
    pub(super) fn about_new_library(&self) -> Vec<LocalPackage> {
        unique(self.of_unnoticed_files())
    }

    /// The packages of files that have changed without having become younger. The crate itself was
    /// compiled or will be; its build script may not have run.
    fn of_unnoticed_files(&self) -> Vec<LocalPackage> {
        let is_own = |package: &LocalPackage| package.folder == self.manifest.folder;
        let has_script = self.manifest.build_script.is_some();
        let since_last = self.look.record.iter().flat_map(|known| {
            self.changed(known)
                .filter(|path| !is_younger(path, known.inputs.taken))
                .flat_map(|path| self.owners(path))
        });
        since_last
            .chain(self.of_files_after_their_libraries())
            .filter(|package| has_script || !is_own(package))
            .collect()
    }

    /// The dependencies of which a file has become what it is after they were compiled, with a time
    /// from before. Nothing may be remembered of that: another plugin may have had them compiled.
    fn of_files_after_their_libraries(&self) -> impl Iterator<Item = LocalPackage> {
        let fresh = self.local.iter().filter(|package| package.fresh);
        let is_late = |package: &&LocalPackage| {
            let Ok(library) = fs::metadata(&package.library) else {
                return false;
            };
            let compiled = (library.mtime(), library.mtime_nsec());
            let mut files = self.compiled.iter();
            files.any(|path| {
                path.starts_with(&package.folder)
                    && fs::metadata(path).is_ok_and(|file| {
                        (file.mtime(), file.mtime_nsec()) <= compiled
                            && (file.ctime(), file.ctime_nsec()) > compiled
                    })
            })
        };
        fresh.filter(is_late).cloned()
    }

    /// Files that compilers and build scripts read and that are not what they were.
    fn changed<'s>(&'s self, known: &'s Record) -> impl Iterator<Item = &'s PathBuf> {
        let folder = &self.manifest.folder;
        let has_script = self.manifest.build_script.is_some();
        let files = self.look.inputs.files.keys();
        files.filter(move |path| {
            let is_read = self.compiled.contains(*path) || has_script && path.starts_with(folder);
            is_read
                && match known.inputs.hash(path) {
                    // Written while the last build ran, or just before: cargo sees that by the
                    // time, unless that was set to another.
                    Some("") => is_restored(path),
                    then => then != self.look.inputs.hash(path),
                }
        })
    }

    /// The package that a file lies in; a file beside every package may be any package's.
    fn owners(&self, path: &Path) -> Vec<LocalPackage> {
        let inner = self
            .local
            .iter()
            .filter(|package| path.starts_with(&package.folder))
            .max_by_key(|package| package.folder.components().count());
        inner.map_or_else(|| self.local.to_vec(), |inner| vec![inner.clone()])
    }

    fn own(&self) -> Option<LocalPackage> {
        let mut local = self.local.iter();
        local
            .find(|package| package.folder == self.manifest.folder)
            .cloned()
    }
}

/// Whether a file's time of modification is not that of its last change.
fn is_restored(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| {
        let modified = (metadata.mtime(), metadata.mtime_nsec());
        modified < (metadata.ctime() - 1, metadata.ctime_nsec())
    })
}

fn unique(mut packages: Vec<LocalPackage>) -> Vec<LocalPackage> {
    packages.sort_by(|left, right| left.id.cmp(&right.id));
    packages.dedup();
    packages
}

/// Whether a file's time of modification is after a moment of the system's clock. What is gone can
/// have no time; cargo notices that.
fn is_younger(path: &Path, moment: i64) -> bool {
    let moment = UNIX_EPOCH + Duration::from_nanos(u64::try_from(moment).unwrap_or_default());
    let modified = |path: &Path| fs::metadata(path)?.modified();
    modified(path).is_ok_and(|modified: SystemTime| modified > moment) || !path.exists()
}
