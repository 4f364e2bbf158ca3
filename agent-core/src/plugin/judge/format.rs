//! What the first bytes of a file say it is, and whether this machine could load that.
//!
//! Owns the sentences for what is no 64-bit ELF library of this machine. Where a library's parts
//! lie is the business of [`judge`](super::judge).

use object::Endianness;
use object::elf::{self, FileHeader64};

use super::PluginError;

/// Bytes of the identification that every ELF file begins with.
const IDENT: usize = 16;

/// What other files begin with, and what they are then called.
const KNOWN: [(&[u8], &str); 18] = [
    (b"\xfe\xed\xfa\xce", "a Mach-O file of macOS"),
    (b"\xfe\xed\xfa\xcf", "a Mach-O file of macOS"),
    (b"\xce\xfa\xed\xfe", "a Mach-O file of macOS"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O file of macOS"),
    (
        b"\xca\xfe\xba\xbe",
        "a Mach-O file of macOS for several machines",
    ),
    (b"MZ", "a PE file of Windows"),
    (
        b"!<arch>\n",
        "an archive of object files (`.a`, `.lib` or `.rlib`)",
    ),
    (b"!<thin>\n", "an archive of object files (`.a`)"),
    (b"\0asm", "a WebAssembly module"),
    (b"BC\xc0\xde", "LLVM bitcode"),
    (b"#!", "a script"),
    (b"\x1f\x8b", "a gzip file"),
    (b"PK\x03\x04", "a zip file"),
    (b"\x28\xb5\x2f\xfd", "a zstd file"),
    (b"\xfd7zXZ", "an xz file"),
    (
        b"version https://git-lfs",
        "a pointer of Git LFS, fetch the file that it stands for",
    ),
    (b"INPUT", "a script of the linker"),
    (b"/* GNU ld script", "a script of the linker"),
];

/// A file of a kind that this machine can load, as far as its first bytes tell.
pub(in crate::plugin) fn check_kind(bytes: &[u8]) -> Result<(), PluginError> {
    if bytes.is_empty() {
        return Err(no_library("it is empty".to_owned()));
    }
    let ident: Option<&[u8; IDENT]> = bytes.first_chunk();
    let magic = bytes.get(..elf::ELFMAG.len()).unwrap_or(bytes);
    if !elf::ELFMAG.starts_with(magic) {
        return Err(no_library(format!("it is {}, no ELF file", kind(bytes))));
    }
    let Some(&[_, _, _, _, class, order, version, system, ..]) = ident else {
        return Err(PluginError::Incomplete {
            what: "the file header".to_owned(),
            expected: size_of::<FileHeader64<Endianness>>() as u64,
            found: bytes.len() as u64,
        });
    };
    match elf::FileClass(class) {
        elf::ELFCLASS64 => {}
        elf::ELFCLASS32 => return Err(wrong("a 32-bit machine", "a 64-bit one")),
        _ => return Err(damaged("class", class, "2")),
    }
    let own = if cfg!(target_endian = "little") {
        elf::ELFDATA2LSB
    } else {
        elf::ELFDATA2MSB
    };
    match elf::DataEncoding(order) {
        order if order == own => {}
        elf::ELFDATA2LSB => return Err(wrong("a little-endian machine", "a big-endian one")),
        elf::ELFDATA2MSB => return Err(wrong("a big-endian machine", "a little-endian one")),
        _ => return Err(damaged("order of bytes", order, "1 or 2")),
    }
    if version != 1 {
        return Err(damaged("version", version, "1"));
    }
    match elf::OsAbi(system) {
        elf::ELFOSABI_NONE | elf::ELFOSABI_GNU => Ok(()),
        other => {
            let name = other.name().and_then(|name| name.strip_prefix("ELFOSABI_"));
            let found = format!("{} (ELF OS ABI {system})", name.unwrap_or("another system"));
            Err(wrong(&found, std::env::consts::OS))
        }
    }
}

/// A shared library of this machine, by its header.
pub(super) fn check_machine(machine: elf::Machine, kind: elf::FileType) -> Result<(), PluginError> {
    let own = if cfg!(target_arch = "x86_64") {
        Some(elf::EM_X86_64)
    } else if cfg!(target_arch = "aarch64") {
        Some(elf::EM_AARCH64)
    } else {
        None
    };
    if own.is_some_and(|own| own != machine) {
        let name = machine.name().and_then(|name| name.strip_prefix("EM_"));
        let name = name.unwrap_or("an unknown machine").to_lowercase();
        let found = format!("{name} (ELF machine {})", machine.0);
        return Err(wrong(&found, std::env::consts::ARCH));
    }
    let what = match kind {
        elf::ET_DYN => return Ok(()),
        elf::ET_REL => "an object file that was not linked",
        elf::ET_EXEC => "a program",
        elf::ET_CORE => "the memory of a process that crashed",
        elf::FileType(other) => {
            return Err(no_library(format!(
                "it is an ELF file of type {other}, expected 3, a shared library"
            )));
        }
    };
    Err(no_library(format!(
        "it is an ELF file, but {what}; expected one that was linked as a `cdylib`"
    )))
}

fn kind(bytes: &[u8]) -> &'static str {
    if let Some((_, name)) = KNOWN.iter().find(|(start, _)| bytes.starts_with(start)) {
        return name;
    }
    // Only the start is looked at: a character may be cut at its end.
    let start = bytes.get(..512).unwrap_or(bytes);
    let text = start.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    let is_control = |letter: char| letter.is_control() && !letter.is_whitespace();
    if text.len() + 4 > start.len() && !text.contains(is_control) && !text.is_empty() {
        "a text"
    } else if bytes.iter().take(4096).all(|byte| *byte == 0) {
        "a file of zeros"
    } else {
        "a file of unknown kind"
    }
}

fn no_library(reason: String) -> PluginError {
    PluginError::NotALibrary { reason }
}

fn wrong(found: &str, expected: &str) -> PluginError {
    PluginError::WrongMachine {
        expected: expected.to_owned(),
        found: found.to_owned(),
    }
}

fn damaged(what: &str, found: u8, expected: &str) -> PluginError {
    no_library(format!(
        "its ELF header is damaged, {what} {found}, expected {expected}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_files_are_called_by_their_kind() {
        let zeros = [0; 600];
        let cases: [(&[u8], &str); 14] = [
            (b"", "empty"),
            (b"\xcf\xfa\xed\xfe\x0c", "Mach-O"),
            (b"\xca\xfe\xba\xbe", "Mach-O"),
            (b"MZ\x90\0", "PE file of Windows"),
            (b"!<arch>\nlib.o/", "archive"),
            (b"\0asm\x01\0\0\0", "WebAssembly"),
            (b"#!/bin/sh\n", "script"),
            (b"\x1f\x8b\x08", "gzip"),
            (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS"),
            (b"INPUT(-lx)", "linker"),
            ("Grüße\n".as_bytes(), "a text"),
            (&zeros, "zeros"),
            (b"\x01\x02\xff\xfe", "unknown kind"),
            (b"\x7fELG", "unknown kind"),
        ];
        for (bytes, part) in cases {
            let text = check_kind(bytes).unwrap_err().to_string();
            assert!(
                text.starts_with("not a shared library: ") && text.contains(part),
                "{part}: {text}"
            );
        }
    }

    #[test]
    fn elf_files_of_other_machines_are_told_with_what_was_expected() {
        let ident = |at: usize, value: u8| {
            let mut ident = *b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0";
            ident[at] = value;
            check_kind(&ident).unwrap_err().to_string()
        };
        let little = cfg!(target_endian = "little");
        assert!(little, "the expectations below are of such a machine");
        assert_eq!(
            ident(4, 1),
            "built for a 32-bit machine, expected a 64-bit one"
        );
        assert_eq!(
            ident(5, 2),
            "built for a big-endian machine, expected a little-endian one"
        );
        assert!(ident(7, 9).starts_with("built for FREEBSD (ELF OS ABI 9), expected "));
        for (at, part) in [(4, "class 7"), (5, "order of bytes 7"), (6, "version 7")] {
            assert!(ident(at, 7).contains(part), "{}", ident(at, 7));
        }
        let machine = |machine, kind| check_machine(machine, kind).unwrap_err().to_string();
        let foreign = if cfg!(target_arch = "aarch64") {
            (elf::EM_X86_64, "x86_64 (ELF machine 62)")
        } else {
            (elf::EM_AARCH64, "aarch64 (ELF machine 183)")
        };
        let text = machine(foreign.0, elf::ET_DYN);
        assert!(
            text.contains(foreign.1) && text.contains(std::env::consts::ARCH),
            "{text}"
        );
        let text = machine(elf::Machine(65_000), elf::ET_DYN);
        assert!(
            text.contains("an unknown machine (ELF machine 65000)"),
            "{text}"
        );
    }
}
