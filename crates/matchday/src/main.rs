//! The `matchday` command.

use std::process::ExitCode;

/// A league is small allocations on several threads, made on one and freed on another: with the system's own allocator
/// they are a fifth of all its work.
#[cfg(not(feature = "count-allocations"))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[cfg(feature = "count-allocations")]
#[global_allocator]
static COUNTING: &stats_alloc::StatsAlloc<std::alloc::System> = &stats_alloc::INSTRUMENTED_SYSTEM;

fn main() -> ExitCode {
    matchday::cli::main()
}
