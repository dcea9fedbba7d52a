//! Agents that mean harm, or are broken beyond what a dialect explains, over real HTTP: each alone and all at once beside
//! honest ones, and how exactly deadlines are kept meanwhile. They are raw sockets, so that nothing stands between them and
//! the worst that can be sent.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::unreachable,
    reason = "a test that meets the unexpected has failed"
)]

mod agent_server;
mod agents;
mod alone;
mod callers;
mod content;
// Deadlines to the millisecond need timestamps of the kernel.
#[cfg(all(target_os = "linux", feature = "native"))]
mod deadlines;
mod figures;
mod flood;
#[cfg(all(target_os = "linux", feature = "native"))]
mod late_or_not;
mod league;
mod together;
mod tricks;
mod wire;
