//! The ways of people through several commands, walked with the built program as they walk them: a file each.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

#[cfg(unix)]
mod operator;
#[cfg(unix)]
mod stranger;
mod student;
mod teacher;

/// The program under test.
const MATCHDAY: &str = env!("CARGO_BIN_EXE_matchday");
