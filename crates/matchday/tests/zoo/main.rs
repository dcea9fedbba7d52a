//! The zoo: agents that are none of ours, written from the protocol's description in Python with its standard library
//! alone, each in a dialect or with a bad habit that agents in the wild have; and our agents among them over real HTTP.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected has failed"
)]

mod agent_process;
mod connections;
mod draws;
mod league;
mod learning;
mod lenient;
mod managers;
mod plain;
mod referees;
mod strict;
