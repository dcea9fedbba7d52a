//! `matchday practice` as authors run it: with our own player, with an agent of someone else, and with agents that fail.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod bad_agents;
mod fake_player;
mod good_agents;
mod no_agent;
mod report;
