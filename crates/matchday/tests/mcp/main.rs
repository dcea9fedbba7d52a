//! The Model Context Protocol as clients find it at a manager, a referee and a player, over real HTTP.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail like tests"
)]

mod clients;
mod conformance;
#[path = "../shell/ground.rs"]
#[allow(dead_code, reason = "each suite needs another part of it")]
mod ground;
mod http;
mod jsonrpc;
#[path = "../recorded/mod.rs"]
#[allow(dead_code, reason = "each suite needs another part of it")]
mod recorded;
mod resources;
mod revisions;
mod strangers;
mod subscription;
#[path = "../shell/tap.rs"]
#[allow(dead_code, reason = "each suite needs another part of it")]
mod tap;
mod tools;
