//! What an operator sees of running processes: readiness, figures, traces; and the files in `deploy/` that rest on them.
//! Needs `promtool` (Debian: prometheus) and `systemd-analyze` (Debian: systemd).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod backup;
#[cfg(unix)]
mod deploy;
mod metrics;
mod page;
mod ready;
mod scheduled_backup;
mod traces;

/// The program under test.
const MATCHDAY: &str = env!("CARGO_BIN_EXE_matchday");
