//! Seats for clients of the Model Context Protocol: taken, played, kept, over real HTTP.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail like tests"
)]

mod authorization;
mod disconnect;
mod in_manager;
mod joining;
mod moves;
mod play;
mod python;
mod restart;
mod room;
mod stdio;
mod tools;
mod transcript;
