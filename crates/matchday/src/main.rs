//! The `matchday` command.

use std::process::ExitCode;

/// A league is small allocations on several threads, made on one and freed on another: with the system's own allocator
/// they are a fifth of all its work.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    matchday::cli::main()
}
