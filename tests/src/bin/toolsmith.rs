//! The command, so that the tests can start it.

use std::process::ExitCode;

fn main() -> ExitCode {
    agent_core::cli::main()
}
