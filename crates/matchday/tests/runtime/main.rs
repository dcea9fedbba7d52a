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
mod colocated;
mod conduct;
mod deadlines;
mod deciders;
mod durability;
mod egress;
mod forbidden;
mod limits;
mod order;
mod redaction;
mod requests;
mod schemas;
mod shutdown;
mod sources;
mod times;
mod trouble;
mod whole_league;
