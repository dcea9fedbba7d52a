//! `matchday check` as people run it: against our own player, against players that break one rule each, and against what is
//! no agent at all.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod bad_players;
mod connections;
mod fake_player;
mod hostile_servers;
mod managers;
mod mutations;
mod no_agent;
mod our_own;
mod output;
mod proxy;
mod referees;
mod registrations;
mod report;
mod zoo;
