//! The league of the system flow, as its messages go over the wire: one manager, two referees, four players, three rounds.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that fails may panic"
)]

mod exchange;
mod matches;
mod messages;
mod standings;
