//! What the test suites share; a dev-dependency only.
//!
//! | Module | What it gives a test |
//! | --- | --- |
//! | [`eventually`] | the one wait until something holds |
//! | [`tools`] | a tool of the machine, or a visible skip; a failure in the gate |
//! | [`golden`] | the golden messages and exchanges of the protocol |
//! | [`schemas`] | validators of every message |
//! | [`mutation`] | nearly good inputs for fuzz targets |
//! | [`address`] | free ports on this machine |
//! | [`cli`] | the built program as a process, in a folder of its own |
//! | [`page`] | a page of a process, by HTTP |
//! | [`seat_client`] | a client of `matchday seat --stdio` |
//! | [`trace_collector`] | a collector of traces |
//! | [`postgres`] | a PostgreSQL cluster of the test's own |
//! | [`namespaces`] | network namespaces of the test's own, in which packets of one direction can be lost |
//! | [`cut_proxy`] | a TCP proxy before a server that can be cut, also in the middle of a COMMIT |
//! | `certificates` | certificates of a private authority |
//! | `event_lines` | events, streams and exchanges to fill a store with |
//! | `instant_league` | leagues of a real manager whose referees answer at once |
//! | `tamper` | events of a store changed behind the program's back |
//! | `proving_referee` | a referee of such leagues that proves its results |
//! | `recorded` | what a store has recorded, held against the schemas |
//! | `fake_peer` | an HTTP peer that answers as it is told |
//! | `recording_proxy` | a proxy between agents that keeps what passes |
//! | `test_league` | a league of real agents over HTTP on this machine |
//! | `memory` | a server and a client without a socket between them |
//! | `mcp_client` | clients of the Model Context Protocol |
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::new_without_default,
    missing_debug_implementations,
    reason = "it serves tests alone, which fail by panicking"
)]

pub mod address;
#[cfg(feature = "certificates")]
pub mod certificates;
pub mod cli;
#[cfg(unix)]
pub mod cut_proxy;
#[cfg(feature = "store")]
pub mod event_lines;
pub mod eventually;
#[cfg(feature = "network")]
pub mod fake_peer;
pub mod golden;
#[cfg(feature = "store")]
pub mod instant_league;
#[cfg(feature = "network")]
pub mod mcp_client;
#[cfg(feature = "memory")]
pub mod memory;
pub mod mutation;
pub mod namespaces;
pub mod page;
#[cfg(unix)]
pub mod postgres;
#[cfg(feature = "store")]
pub mod proving_referee;
#[cfg(feature = "store")]
pub mod recorded;
#[cfg(feature = "network")]
pub mod recording_proxy;
pub mod schemas;
pub mod seat_client;
pub mod starter;
#[cfg(feature = "store")]
pub mod tamper;
#[cfg(feature = "network")]
pub mod test_league;
pub mod tools;
pub mod trace_collector;
