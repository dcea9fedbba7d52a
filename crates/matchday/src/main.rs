//! The `matchday` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    matchday::cli::main()
}
