//! The dashboard over real HTTP: what is shown, to whom, and what is not.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail like tests"
)]

mod closed;
mod events;
mod headers;
mod league;
mod messages;
mod orders;
mod other_stores;
mod pages;
mod secrets;
mod stored;
