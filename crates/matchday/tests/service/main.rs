//! `matchday serve` and `matchday league` as people use them: real processes, real HTTP.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod addresses;
mod api;
mod archive;
mod crashes;
mod fixture;
mod isolation;
mod ladders;
mod leagues;
mod seasons;
mod sleeping;

/// The program under test.
const MATCHDAY: &str = env!("CARGO_BIN_EXE_matchday");
