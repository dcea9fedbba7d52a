//! Agents over real HTTP on this machine: one behaviour a test.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::unreachable
)]

mod calls;
mod clock_set;
mod closed_connections;
mod conduct;
mod deadlines;
mod durability;
mod forbidden;
mod ground;
mod kin;
mod minds;
mod order;
#[path = "../recorded/mod.rs"]
#[allow(dead_code, reason = "each suite needs another part of it")]
mod recorded;
mod requests;
mod schemas;
mod shutdown;
mod sources;
mod stub;
mod tap;
mod times;
mod trouble;
mod whole_league;
