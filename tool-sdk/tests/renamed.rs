//! A crate may know the SDK under another name, and may get that name from its workspace.

use std::path::Path;
use std::process::Command;
use std::{env, fs, io};

const MANIFEST: &str = r#"
[package]
name = "renamed"
version = "0.0.0"
edition = "2024"

[workspace.dependencies]
sdk = { package = "tool-sdk", path = "{path}", default-features = false }

[dependencies]
sdk.workspace = true

[workspace]
"#;

const SOURCE: &str = r#"
use sdk::prelude::*;

#[tool_type]
struct Place {
    name: String,
}

#[tool]
fn visit(place: Place, #[arg(default = 1)] days: u8) -> Result<String> {
    Ok(format!("{} {days}", place.name))
}

fn main() {}
"#;

#[test]
fn renamed_dependency_works() -> io::Result<()> {
    let sdk = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("renamed");
    fs::create_dir_all(root.join("src"))?;
    let manifest = MANIFEST.replace("{path}", &sdk.to_string_lossy());
    fs::write(root.join("Cargo.toml"), manifest)?;
    fs::write(root.join("src/main.rs"), SOURCE)?;
    // The same versions as everywhere else, which are here already.
    fs::copy(sdk.join("../Cargo.lock"), root.join("Cargo.lock"))?;

    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["check", "--offline", "--quiet", "--manifest-path"])
        .arg(root.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(root.join("target"))
        .output()?;
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(())
}
