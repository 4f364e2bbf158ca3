//! Embeds the sources of the SDK, so that the program alone can make and build plugin crates.
//!
//! Owns the choice of files. What becomes of them is `src/build/sdk.rs`'s.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use fs_err as fs;

/// The crates that a plugin is built from.
const CRATES: [&str; 2] = ["tool-macros", "tool-sdk"];

/// What belongs to a crate's sources. Its tests, benches and examples do not.
const PARTS: [&str; 5] = ["Cargo.toml", "README.md", "build.rs", "src", "template"];

fn main() -> Result<(), Box<dyn Error>> {
    let own = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").ok_or("no CARGO_MANIFEST_DIR")?);
    let root = own.parent().ok_or("the crate lies in no workspace")?;
    let mut files = Vec::new();
    for name in CRATES {
        // A folder is followed with everything in it, files that do not exist yet included.
        println!("cargo::rerun-if-changed={}", root.join(name).display());
        for part in PARTS {
            collect(&root.join(name).join(part), &mut files)?;
        }
    }
    files.sort();
    let workspace = root.join("Cargo.toml");
    println!("cargo::rerun-if-changed={}", workspace.display());

    let mut code = String::from("/// Every file by its path in the workspace.\n");
    code.push_str("pub(super) static FILES: &[(&str, &[u8])] = &[\n");
    for file in &files {
        let name = text(file.strip_prefix(root)?)?;
        let file = text(file)?;
        writeln!(code, "    ({name:?}, include_bytes!({file:?})),")?;
    }
    let workspace = text(&workspace)?;
    code.push_str("];\n\n/// The manifest of the workspace.\n");
    writeln!(
        code,
        "pub(super) static WORKSPACE: &str = include_str!({workspace:?});"
    )?;
    let out = std::env::var_os("OUT_DIR").ok_or("no OUT_DIR")?;
    fs::write(Path::new(&out).join("sdk_sources.rs"), code)?;
    Ok(())
}

/// Adds a file, or every file below a folder; what does not exist is left out.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    if path.is_file() {
        files.push(path.to_path_buf());
    } else if path.is_dir() {
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            // Editors and build tools leave these behind.
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if !name.starts_with('.') && !name.ends_with('~') && name != "target" {
                collect(&entry.path(), files)?;
            }
        }
    }
    Ok(())
}

/// A path as it is written into code.
fn text(path: &Path) -> Result<&str, String> {
    path.to_str()
        .ok_or_else(|| format!("`{}` is no UTF-8", path.display()))
}
