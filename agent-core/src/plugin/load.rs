//! The only `dlopen`: a private copy of a library → its root module, with a checked layout.
#![expect(
    unsafe_code,
    reason = "mapping foreign code can't be checked by the compiler"
)]

use std::error::Error as _;
use std::path::Path;

use abi_stable::library::{AbiHeaderRef, LibHeader, ROOT_MODULE_LOADER_NAME_WITH_NUL};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use tool_sdk::abi::PluginModuleRef;

use super::PluginError;
use crate::json_text::{one_line, shortened};

/// What to do about the loader's least understood refusal.
const STATIC_TLS: &str = "; something in it has thread-locals of the model `initial-exec`, as \
    allocators like jemalloc do by default: build it without, or for libraries that are loaded later";

/// Maps the library and checks that its root module is laid out as this host expects.
///
/// The library stays mapped until the process ends. Runs the library's constructors, so call it
/// from a thread that may block.
pub fn load(library: &Path) -> Result<PluginModuleRef, PluginError> {
    let not_loadable = |error: libloading::Error| {
        // The loader's own words are the source. They name the private copy, which tells a person
        // nothing.
        let said = error.source().map(ToString::to_string);
        let reason = said.unwrap_or_else(|| error.to_string());
        let copy = library.display();
        let reason = reason
            .replace(&format!("{copy}: "), "")
            .replace(&format!(" (required by {copy})"), "");
        let mut reason = one_line(&reason);
        if reason.contains("static TLS") {
            reason.push_str(STATIC_TLS);
        }
        PluginError::NotLoadable { reason }
    };
    // SAFETY: the file is a complete ELF file of this machine with our stamp (`judge`), a private
    // copy that nobody writes to (`store`). Its constructors are code of a plugin: a helper process
    // is there to be ended by them, and the host maps only what a helper has survived (`registry`).
    let mapped = unsafe { Library::open(Some(library), RTLD_NOW | RTLD_LOCAL) };
    // Leaked before anything of it is used: whatever it hands out lives as long as the process.
    let mapped: &'static Library = Box::leak(Box::new(mapped.map_err(not_loadable)?));
    // SAFETY: `export_root_module` of the SDK, which the stamp vouches for, exports a static of
    // this type under this name; `upgrade` checks its magic before anything else of it is read.
    let header = unsafe { mapped.get::<AbiHeaderRef>(ROOT_MODULE_LOADER_NAME_WITH_NUL.as_bytes()) };
    let header: AbiHeaderRef = *header.map_err(not_loadable)?;
    let checked = header
        .upgrade()
        .and_then(LibHeader::init_root_module::<PluginModuleRef>);
    // The error borrows from the library's own data, so it becomes a text here.
    checked.map_err(|error| PluginError::WrongLayout {
        reason: shortened(&one_line(&error.to_string()), 400),
    })
}
