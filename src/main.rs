//! The `prof` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    prof::cli::main()
}
