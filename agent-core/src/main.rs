//! The `toolsmith` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    agent_core::cli::main()
}
