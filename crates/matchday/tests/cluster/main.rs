//! Several services over one PostgreSQL store, as people run them: real processes, real HTTP, a database of the test's own.
// The clusters are reached by sockets of Unix.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod balancer;
mod clock;
mod doors;
mod faults;
mod fixture;
mod forwarding;
mod namespaces;
mod outage;
mod owners;
mod seats;

/// The program under test.
const MATCHDAY: &str = env!("CARGO_BIN_EXE_matchday");
