//! `matchday run`, and what reads its file, driven as a person would: the built program, as a process, on free ports.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::unreachable
)]

mod adapters;
mod files;
mod formats;
mod interruption;
mod league;
#[cfg(unix)]
mod outside;
mod ports;
mod program;
mod terminal;
