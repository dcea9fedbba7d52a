//! The referee, one behaviour a file, driven as a manager and two players would drive it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::unreachable,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod asking_again;
mod assigned_timeouts;
mod bench;
mod blame;
mod capacity;
mod chaos;
mod crash;
mod dialects;
mod external_rules;
mod forfeits;
mod manager;
mod proof;
mod registration;
mod report;
mod rights;
mod silence;
mod simultaneous;
mod tic_tac_toe;
mod timeouts;
mod whole_match;
mod wrong_answers;
