//! Bytes → accept, or one sentence. Nothing of a file runs here, and nothing in here may panic
//! on any bytes.
//!
//! [`format`] says what the file is; here it is looked at whether the library is whole, and what
//! its stamp and its markers say.

mod format;

use std::ops::Range;

use object::elf::FileHeader64;
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};
use object::{Endianness, Object, ObjectSection, ObjectSymbol};
use serde::{Deserialize, Serialize};
use tool_sdk::abi::{MARKER_PREFIX, REVISION, STAMP_SYMBOL, Stamp};

use super::PluginError;
use crate::json_text::{one_line, shortened};
pub(super) use format::check_kind;

/// What can be said of a library without loading it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    /// Revision of the border that it was built with.
    pub abi: String,
    /// Version of the SDK that it was built with.
    pub sdk: String,
    /// Compiler that it was built with.
    pub rustc: String,
    /// Target that it was built for.
    pub target: String,
    /// Names of its tools by exported marker, sorted.
    pub markers: Vec<String>,
}

/// Judges the bytes of a library file.
pub fn judge(bytes: &[u8]) -> Result<Judgement, PluginError> {
    check_complete(bytes)?;
    let file = object::File::parse(bytes).map_err(not_a_library)?;
    let stamp = read_stamp(&file)?;
    if stamp.abi != REVISION {
        let expected = REVISION.to_owned();
        return Err(PluginError::WrongRevision {
            expected,
            found: shortened(&one_line(&stamp.to_string()), 400),
        });
    }
    let own = Stamp::own();
    if stamp.target != own.target {
        return Err(PluginError::WrongMachine {
            expected: own.target,
            found: one_line(&stamp.target),
        });
    }
    let mut markers: Vec<String> = file
        .dynamic_symbols()
        .filter(ObjectSymbol::is_definition)
        .filter_map(|symbol| {
            symbol
                .name()
                .ok()?
                .strip_prefix(MARKER_PREFIX)
                .map(str::to_owned)
        })
        .collect();
    // Two tools of one name are told as that, and not as one that was lost.
    markers.sort_unstable();
    markers.dedup();
    let Stamp {
        abi,
        sdk,
        rustc,
        target,
        ..
    } = stamp;
    Ok(Judgement {
        abi,
        sdk,
        rustc,
        target,
        markers,
    })
}

fn not_a_library(error: object::Error) -> PluginError {
    PluginError::NotALibrary {
        reason: error.to_string(),
    }
}

/// Every header, segment and section must lie inside the file: the system's loader does not check
/// that, and touching a page beyond the end of a mapped file ends the process.
fn check_complete(bytes: &[u8]) -> Result<(), PluginError> {
    check_kind(bytes)?;
    let length = bytes.len() as u64;
    let inside = |what: &str, range: Option<Range<u64>>| match range {
        Some(range) if range.end <= length => Ok(()),
        Some(range) => Err(PluginError::Incomplete {
            what: what.to_owned(),
            expected: range.end,
            found: length,
        }),
        None => Err(PluginError::NotALibrary {
            reason: format!("its headers are damaged, {what} ends where no file can"),
        }),
    };
    inside(
        "the file header",
        Some(0..size_of::<FileHeader64<Endianness>>() as u64),
    )?;
    let header = FileHeader64::<Endianness>::parse(bytes).map_err(not_a_library)?;
    let endian = header.endian().map_err(not_a_library)?;
    format::check_machine(header.e_machine(endian), header.e_type(endian))?;
    let table = |offset: u64, size: u16, count: u16| {
        let end = offset.checked_add(u64::from(size) * u64::from(count))?;
        Some(offset..end)
    };
    let segments = table(
        header.e_phoff(endian),
        header.e_phentsize(endian),
        header.e_phnum(endian),
    );
    inside("the table of segments", segments)?;
    let sections = table(
        header.e_shoff(endian),
        header.e_shentsize(endian),
        header.e_shnum(endian),
    );
    inside("the table of sections", sections)?;
    for segment in header
        .program_headers(endian, bytes)
        .map_err(not_a_library)?
    {
        let (offset, size) = segment.file_range(endian);
        inside("a segment", offset.checked_add(size).map(|end| offset..end))?;
    }
    for section in header
        .section_headers(endian, bytes)
        .map_err(not_a_library)?
    {
        if let Some((offset, size)) = section.file_range(endian) {
            inside("a section", offset.checked_add(size).map(|end| offset..end))?;
        }
    }
    Ok(())
}

fn read_stamp(file: &object::File<'_>) -> Result<Stamp, PluginError> {
    let none = || PluginError::NoStamp {
        expected: STAMP_SYMBOL.to_owned(),
    };
    let symbol = file
        .dynamic_symbols()
        .find(|symbol| symbol.name() == Ok(STAMP_SYMBOL))
        .ok_or_else(none)?;
    let (address, size) = (symbol.address(), symbol.size());
    let bytes = file
        .sections()
        .find_map(|section| section.data_range(address, size).ok().flatten())
        .ok_or_else(none)?;
    Stamp::parse(bytes).ok_or_else(none)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_elf_file_is_refused_in_one_sentence() {
        for bytes in [
            &b""[..],
            b"\x7fELF",
            b"hello, world",
            b"\x7fELF\x02\x01\x01",
            &[0x7f; 100],
        ] {
            let text = judge(bytes).unwrap_err().to_string();
            assert!(!text.contains('\n'), "{text}");
        }
    }

    /// This test program is a complete ELF file without a stamp, if it is one at all.
    #[test]
    fn no_prefix_of_a_real_file_is_accepted_or_panics() {
        let program = std::env::current_exe().unwrap();
        let bytes = fs_err::read(program).unwrap();
        for length in (0..bytes.len()).step_by(bytes.len() / 200 + 1) {
            judge(&bytes[..length]).unwrap_err();
        }
    }
}
