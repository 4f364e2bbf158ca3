//! What is known of a crate without building it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::cargo::Profile;
use super::record::Record;
use super::{Builder, CrateManifest};

impl Builder {
    /// One hash over everything that the crate would be built from now, as far as it is known
    /// before a build. Nothing when the files can't be read: a build says why.
    pub async fn inputs_hash(self: &Arc<Self>, manifest: &CrateManifest) -> Option<String> {
        self.look(manifest)
            .await
            .ok()
            .map(|look| look.digest(manifest))
    }

    /// Where the crate's last successful build put its library, which may be gone.
    pub fn library_of(state: &Path, manifest: &CrateManifest) -> Option<PathBuf> {
        let record = Record::load(&Record::file(state, &manifest.package, Profile::Dev))?;
        (record.conditions.manifest == manifest.file()).then_some(record.library)
    }

    /// The library of the crate's last successful build, whether or not it still fits its source.
    pub fn built_before(state: &Path, manifest: &CrateManifest) -> Option<PathBuf> {
        Self::library_of(state, manifest).filter(|library| library.is_file())
    }
}
