//! The dashboard over real HTTP: what is shown, to whom, and what is not.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail like tests"
)]

mod closed;
mod events;
#[path = "../shell/ground.rs"]
#[allow(dead_code, reason = "each suite needs another part of it")]
mod ground;
mod headers;
mod league;
mod messages;
mod orders;
mod other_stores;
mod pages;
#[path = "../recorded/mod.rs"]
#[allow(dead_code, reason = "each suite needs another part of it")]
mod recorded;
mod secrets;
mod stored;
#[path = "../shell/stub.rs"]
#[allow(dead_code, reason = "each suite needs another part of it")]
mod stub;
#[path = "../shell/tap.rs"]
#[allow(dead_code, reason = "each suite needs another part of it")]
mod tap;
