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
mod carry_over;
mod checkpoints;
mod context;
mod desk;
mod foreign_referees;
mod forfeits;
mod formats;
mod gauges;
mod handing_back;
mod ladder;
mod orders;
mod payoff;
mod play_off;
mod proof;
mod proof_rule;
mod queries;
mod re_registration;
mod recovery;
mod registration;
mod results;
mod rights;
mod roster;
mod rounds;
mod sizes;
mod start;
mod takeover;
mod timeouts;
mod tokens;
