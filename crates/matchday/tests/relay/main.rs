//! The relay as agents use it: mailboxes over HTTP, `matchday connect` beside an agent, agents that dial out themselves. Real
//! processes, real HTTP.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod connect;
mod dial;
mod hostile_league;
mod http;
mod limits;
mod mailbox;
mod namespaces;
mod proxy;
mod seat;

/// The program under test.
const MATCHDAY: &str = env!("CARGO_BIN_EXE_matchday");
