//! `seen.json`: what each path held when it was last looked at.
//!
//! Owns the form in which that is kept. What is wrong with the file costs time, never a start.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use fs_err as fs;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, percent_encode};
use serde::{Deserialize, Serialize};

use crate::fingerprint::Fingerprint;
use crate::ids::ContentHash;

/// What a path held when it was last looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Seen {
    pub(super) fingerprint: Fingerprint,
    /// When the look began.
    pub(super) taken: i64,
    pub(super) hash: ContentHash,
    /// What served from here last, which may be older.
    #[serde(default)]
    pub(super) served: Option<ContentHash>,
}

/// Names of files are any bytes, keys of JSON are Unicode: what is not plain ASCII is written as
/// `%` and two digits, and so is `%` itself.
const ESCAPED: &AsciiSet = &CONTROLS.add(b'%');

/// What is kept; nothing where that can't be read.
pub(super) fn read(file: &Path) -> BTreeMap<PathBuf, Seen> {
    let kept: Option<BTreeMap<String, Seen>> = fs::read(file)
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let path = |key: &str| PathBuf::from(OsString::from_vec(percent_decode_str(key).collect()));
    let kept = kept.unwrap_or_default().into_iter();
    kept.map(|(key, seen)| (path(&key), seen)).collect()
}

/// The form in which it is kept.
pub(super) fn to_json(seen: &BTreeMap<PathBuf, Seen>) -> serde_json::Result<Vec<u8>> {
    let key = |path: &Path| percent_encode(path.as_os_str().as_bytes(), ESCAPED).to_string();
    let keyed: BTreeMap<String, &Seen> =
        seen.iter().map(|(path, seen)| (key(path), seen)).collect();
    serde_json::to_vec(&keyed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_path_reads_back() {
        let folder = tempfile::tempdir().unwrap();
        let metadata = fs::metadata(folder.path()).unwrap();
        let seen = Seen {
            fingerprint: Fingerprint::of(&metadata),
            taken: 7,
            hash: ContentHash::of(b"a"),
            served: Some(ContentHash::of(b"b")),
        };
        let names = [
            &b"/a/libb.so"[..],
            b"/\xff\xfe.so",
            "/ü %41.so".as_bytes(),
            b"/a\nb\0%",
        ];
        let paths = names.map(|name| PathBuf::from(OsString::from_vec(name.to_vec())));
        let all: BTreeMap<PathBuf, Seen> = paths.map(|path| (path, seen)).into();
        let file = folder.path().join("seen.json");
        fs::write(&file, to_json(&all).unwrap()).unwrap();
        assert_eq!(read(&file), all);
        assert_eq!(all.len(), names.len());
    }

    #[test]
    fn what_cannot_be_read_is_nothing() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()), BTreeMap::new(), "a folder");
        let file = folder.path().join("seen.json");
        assert_eq!(read(&file), BTreeMap::new(), "no file");
        for garbage in ["", "{", "[]", "{\"/a\": 3}", "\0\0"] {
            fs::write(&file, garbage).unwrap();
            assert_eq!(read(&file), BTreeMap::new(), "{garbage}");
        }
    }
}
