//! The stamp: bytes in a plugin library that say what it was built with, readable without
//! running a single instruction of it. Writer and reader stand here together.
//!
//! The stamp is one exported static without pointers, so it needs no relocation and survives
//! stripping, link-time optimisation and section garbage collection.

use std::fmt;

/// Length of the exported bytes; the text is padded with NUL.
pub const STAMP_LEN: usize = 256;

/// First line of every stamp.
const MAGIC: &str = "toolsmith stamp";

const TEXT: &str = concat!(
    "toolsmith stamp\nabi=",
    super::revision!(),
    "\nsdk=",
    env!("CARGO_PKG_VERSION"),
    "\nrustc=",
    env!("TOOLSMITH_RUSTC"),
    "\ntarget=",
    env!("TOOLSMITH_TARGET"),
    "\n"
);

/// The bytes that a host reads before it loads anything.
#[expect(
    unsafe_code,
    reason = "an exported name is how the host finds the bytes"
)]
// SAFETY: the name starts with this project's reserved prefix, so no other symbol has it.
#[unsafe(export_name = "__toolsmith_stamp")]
pub static STAMP: [u8; STAMP_LEN] = padded(TEXT.as_bytes());

const fn padded(text: &[u8]) -> [u8; STAMP_LEN] {
    assert!(text.len() <= STAMP_LEN, "the stamp's text is too long");
    let mut bytes = [0; STAMP_LEN];
    let mut rest = text;
    let mut at = 0;
    while let Some((first, tail)) = rest.split_first() {
        #[expect(clippy::indexing_slicing, reason = "the length is asserted above")]
        {
            bytes[at] = *first;
        }
        at += 1;
        rest = tail;
    }
    bytes
}

/// What a library was built with.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stamp {
    /// Revision of the border, see [`super::REVISION`].
    pub abi: String,
    /// Version of the SDK.
    pub sdk: String,
    /// What `rustc --version` printed.
    pub rustc: String,
    /// Target triple.
    pub target: String,
}

impl Stamp {
    /// The stamp of this build.
    pub fn own() -> Self {
        Self {
            abi: super::REVISION.to_owned(),
            sdk: env!("CARGO_PKG_VERSION").to_owned(),
            rustc: env!("TOOLSMITH_RUSTC").to_owned(),
            target: env!("TOOLSMITH_TARGET").to_owned(),
        }
    }

    /// Reads the exported bytes; `None` when they are not a stamp.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let end = bytes
            .iter()
            .position(|byte| *byte == 0)
            .unwrap_or(bytes.len());
        let text = std::str::from_utf8(bytes.get(..end)?).ok()?;
        let mut lines = text.lines();
        if lines.next() != Some(MAGIC) {
            return None;
        }
        let fields: Vec<(&str, &str)> = lines.filter_map(|line| line.split_once('=')).collect();
        let field = |name: &str| {
            fields
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| (*value).to_owned())
        };
        Some(Self {
            abi: field("abi")?,
            sdk: field("sdk")?,
            rustc: field("rustc")?,
            target: field("target")?,
        })
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            abi,
            sdk,
            rustc,
            target,
        } = self;
        write!(f, "abi {abi}, tool-sdk {sdk}, {rustc}, {target}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_bytes_read_back_as_own_stamp() {
        assert_eq!(Stamp::parse(&STAMP), Some(Stamp::own()));
    }

    #[test]
    fn anything_else_is_not_a_stamp() {
        for bytes in [
            &b""[..],
            b"toolsmith stamp",
            b"toolsmith stamp\nabi=1\n",
            &[0xff; 16],
        ] {
            assert_eq!(Stamp::parse(bytes), None);
        }
    }
}
