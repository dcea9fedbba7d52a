//! The dashboard as people meet it: headless Chromium on a real league, driven by the scripts in `drive`. What the scripts
//! need is installed by `tools/install`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod crossings;
mod gallery;
mod league;
mod live;
mod pages;
mod script;
mod service;
mod stand;
mod tutorial;

/// The program under test.
const MATCHDAY: &str = env!("CARGO_BIN_EXE_matchday");
