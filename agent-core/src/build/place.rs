//! Where a package's library lies: `STATE/builds/PACKAGE/`, whoever made it.
//!
//! Owns putting it there, in one step. Does not own what is made there by the crate's own compiler,
//! which is [`super::replay`]'s.
//!
//! One place for all of them, so that what is known by a library's path is known of the package:
//! cargo's file is overwritten by other packages and by people, and removed by `cargo clean`, and
//! the store removes what no path holds.

use std::io;
use std::path::{Path, PathBuf};

use fs_err as fs;

use super::inputs::Seen;
use super::steps::OUTPUT;
use super::{Builder, CrateManifest};

impl Builder {
    /// Where a crate's library lies.
    pub(super) fn place_of(&self, manifest: &CrateManifest) -> PathBuf {
        let name = manifest.library.replace('-', "_");
        let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
        self.record_file(&manifest.package)
            .with_extension("")
            .join(format!("{prefix}{name}{suffix}"))
    }
}

/// Puts a stored library in place, under a second name: nobody writes into what the store has.
pub(super) fn link(stored: &Path, place: &Path) -> io::Result<Option<Seen>> {
    put(place, |unfinished| {
        fs::hard_link(stored, unfinished).or_else(|_| fs::copy(stored, unfinished).map(drop))
    })
}

/// Puts a copy of cargo's library in place, which shares its blocks where the file system can.
pub(super) fn copy(library: &Path, place: &Path) -> io::Result<Option<Seen>> {
    put(place, |unfinished| {
        reflink_copy::reflink_or_copy(library, unfinished).map(drop)
    })
}

fn put(place: &Path, make: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<Option<Seen>> {
    fs::create_dir_all(place.parent().unwrap_or(place))?;
    let unfinished = place.with_extension(format!("{}.tmp", std::process::id()));
    drop(fs::remove_file(&unfinished));
    let done = make(&unfinished).and_then(|()| fs::rename(&unfinished, place));
    // Renaming one name of a file to another of the same file leaves both.
    drop(fs::remove_file(&unfinished));
    done?;
    Seen::look(place, None, OUTPUT)
}
