//! Whether a file is what it was, as far as that can be told without reading it.
//!
//! A fingerprint betrays every change but one: a second write within the same tick of the file
//! system's clock. So whoever remembers a fingerprint also remembers when it was taken, and does
//! not trust one that was young then.

use std::os::unix::fs::MetadataExt as _;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// Nanoseconds of one tick of a file system's clock, with room to spare.
const TICK: i64 = 50_000_000;

/// The same for file systems that keep whole seconds only.
pub(crate) const COARSE_TICK: i64 = 2_000_000_000;

/// What the file system says about a file without its content being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fingerprint {
    size: u64,
    modified: i64,
    /// Nobody can set this time back: it betrays a restored time of modification.
    changed: i64,
    inode: u64,
}

impl Fingerprint {
    /// The fingerprint of an open or named file.
    pub fn of(metadata: &std::fs::Metadata) -> Self {
        let nanoseconds =
            |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
        Self {
            size: metadata.size(),
            modified: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            changed: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
        }
    }

    /// Whether the file was written so shortly before `moment` that a write after it might have
    /// left the same fingerprint.
    pub fn is_fresh_at(&self, moment: i64) -> bool {
        let whole_seconds = self.changed % 1_000_000_000 == 0;
        let tick = if whole_seconds { COARSE_TICK } else { TICK };
        self.changed.max(self.modified).saturating_add(tick) >= moment
    }
}

/// The system's clock, in the unit of fingerprints.
pub fn now() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
