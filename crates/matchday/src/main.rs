//! The `matchday` command.

use std::process::ExitCode;

#[cfg(feature = "count-allocations")]
#[global_allocator]
static COUNTING: &stats_alloc::StatsAlloc<std::alloc::System> = &stats_alloc::INSTRUMENTED_SYSTEM;

fn main() -> ExitCode {
    matchday::cli::main()
}
