//! The manager, driven by hand in virtual time: what it answers, what it sends, what it remembers.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::unreachable,
    reason = "a test that cannot go on has failed"
)]

mod announcing;
mod answers;
mod capacity;
mod checkpoints;
mod context;
mod desk;
mod forfeits;
mod formats;
mod handing_back;
mod orders;
mod proof;
mod queries;
mod recovery;
mod registration;
mod results;
mod returning;
mod rights;
mod roster;
mod rounds;
#[path = "../schemas/mod.rs"]
mod schemas;
mod sizes;
mod start;
mod takeover;
mod timeouts;
mod tokens;
