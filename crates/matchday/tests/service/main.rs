//! `matchday serve` and `matchday league` as people use them: real processes, real HTTP.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod addresses;
mod agents;
#[cfg(unix)]
mod api;
mod archive;
mod contract;
mod course;
mod crashes;
mod fixture;
mod isolation;
mod ladders;
mod leagues;
#[cfg(unix)]
mod noisy_league;
mod readers;
mod seasons;
mod sleeping;
mod telemetry;

/// The program under test.
const MATCHDAY: &str = env!("CARGO_BIN_EXE_matchday");
