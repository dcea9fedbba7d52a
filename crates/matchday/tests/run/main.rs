//! `matchday run`, and what reads its file, driven as a person would: the built program, as a process, on free ports.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::unreachable
)]

mod files;
mod formats;
mod interruption;
mod league;
mod outside;
mod ports;
mod program;
#[path = "../recorded/mod.rs"]
#[allow(dead_code, reason = "each suite needs another part of it")]
mod recorded;
mod terminal;
