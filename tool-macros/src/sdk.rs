//! Under which name the crate that uses the macro knows `tool-sdk`.

use std::path::Path;
use std::{env, fs};

use proc_macro_crate::FoundCrate;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

/// The path of the SDK in the crate that is being compiled: `::tool_sdk`, or what a renamed
/// dependency is called.
pub(crate) fn path() -> TokenStream {
    let name = if is_plainly_named() { None } else { renamed() };
    let name = Ident::new(name.as_deref().unwrap_or("tool_sdk"), Span::call_site());
    quote!(::#name)
}

/// Whether the manifest can be seen to use the SDK under its own name. It nearly always does, and
/// asking `proc-macro-crate` starts a cargo process, which costs a tenth of a small build.
fn is_plainly_named() -> bool {
    let Some(folder) = env::var_os("CARGO_MANIFEST_DIR") else {
        return true;
    };
    fs::read_to_string(Path::new(&folder).join("Cargo.toml"))
        .is_ok_and(|manifest| names_it_plainly(&manifest))
}

/// A key `tool-sdk` and no value `"tool-sdk"`, which a renamed dependency would have.
fn names_it_plainly(manifest: &str) -> bool {
    let is_key = |line: &str| {
        let line = line.trim_start();
        let rest = line.strip_prefix("tool-sdk").or_else(|| {
            let table = line.strip_prefix('[')?.trim_end().strip_suffix(']')?;
            table.strip_suffix("dependencies.tool-sdk").map(|_| "=")
        });
        rest.is_some_and(|rest| rest.trim_start().starts_with(['=', '.']))
    };
    let is_value = ["\"tool-sdk\"", "'tool-sdk'"]
        .iter()
        .any(|value| manifest.contains(value));
    manifest.lines().any(is_key) && !is_value
}

fn renamed() -> Option<String> {
    match proc_macro_crate::crate_name("tool-sdk") {
        Ok(FoundCrate::Name(name)) => Some(name),
        // Tests and examples of the SDK itself know it under its own name.
        Ok(FoundCrate::Itself) | Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_are_seen_without_asking_cargo() {
        for plain in [
            "[dependencies]\ntool-sdk = \"0.1\"",
            "[dependencies]\ntool-sdk.workspace = true",
            "[dependencies]\n  tool-sdk = { path = \"../tool-sdk\" }",
            "[dependencies.tool-sdk]\npath = \"../tool-sdk\"",
            "[target.'cfg(unix)'.dependencies.tool-sdk]\nversion = \"0.1\"",
        ] {
            assert!(names_it_plainly(plain), "{plain}");
        }
    }

    #[test]
    fn anything_else_is_asked_for() {
        for unclear in [
            "[dependencies]\nsdk = { package = \"tool-sdk\", version = \"0.1\" }",
            "[dependencies]\nsdk = { package = 'tool-sdk', version = '0.1' }",
            "[dependencies]\nsdk.workspace = true",
            "[package]\nname = \"tool-sdk\"",
            "[dependencies]\ntool-sdk-extra = \"1\"",
        ] {
            assert!(!names_it_plainly(unclear), "{unclear}");
        }
    }
}
