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
mod cors;
mod jsonrpc;
mod lean_tools;
mod origin_check;
mod resources;
mod revisions;
mod subscription;
mod tools;
