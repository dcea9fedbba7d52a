//! The ways of people through several commands, walked with the built program as they walk them: a file each.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::sync::LazyLock;

mod operator;
mod stranger;
mod student;
mod teacher;

/// The program under test: the one just built, or an installed one that `MATCHDAY_PROGRAM` names.
fn matchday() -> &'static str {
    static PROGRAM: LazyLock<String> = LazyLock::new(|| {
        std::env::var("MATCHDAY_PROGRAM").unwrap_or_else(|_| env!("CARGO_BIN_EXE_matchday").into())
    });
    &PROGRAM
}
