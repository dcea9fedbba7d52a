//! The benchmarks, as small as they go: what they print, never how fast it was.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod league;
mod relay;
mod service;

/// The program under test.
const BENCH: &str = env!("CARGO_BIN_EXE_matchday-bench");
