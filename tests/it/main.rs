//! Tests of the whole product, from outside: through the command, through the library, through
//! real files that change.

mod bad_files;
mod calls;
mod panics;
mod plugins;
mod reload;
mod standalone;
mod threads;
