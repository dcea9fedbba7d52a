//! Seats for clients of the Model Context Protocol: taken, played, kept, over real HTTP.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail like tests"
)]

#[path = "../shell/ground.rs"]
#[allow(dead_code, reason = "each suite needs another part of it")]
mod ground;
#[path = "../mcp/http.rs"]
#[allow(dead_code, reason = "each suite needs another part of it")]
mod http;
mod in_manager;
mod joining;
mod moves;
mod python;
#[path = "../recorded/mod.rs"]
#[allow(dead_code, reason = "each suite needs another part of it")]
mod recorded;
mod restart;
mod room;
#[path = "../shell/tap.rs"]
#[allow(dead_code, reason = "each suite needs another part of it")]
mod tap;
mod tools;
