//! The player, one behaviour a file, driven as a manager and a referee would drive it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod crash;
mod external_decision;
mod fair_draw;
mod foreign;
mod joining;
mod memory;
mod moves;
mod notices;
mod refusals;
mod registration;
mod repetition;
mod report;
mod rights;
mod season;
mod seat;
mod signing;
mod statements;
mod strategies;
mod trust;
