//! The built program as people and scripts use it: real processes, real ports, exit codes and words.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod admin;
mod allowed;
mod behind_a_proxy;
mod cheating_referee;
mod checkpoints;
mod config;
mod dashboard;
mod deciders;
mod doctor;
mod endpoints;
mod everyday;
mod evidence;
mod experiment;
mod help;
mod hostile_files;
mod leagues;
mod load;
mod looks;
mod models;
mod new;
mod other_makes;
mod other_manager;
mod proofs;
mod proxies;
mod refusals;
mod report;
mod roster;
mod run_page;
mod schema;
mod secret_files;
mod secrets;
mod seven_processes;
mod simulate;
mod steering;
mod stopping;
mod store_paths;
mod stores;
mod tls;
mod untrusted_text;
mod watch;
mod wire;

/// The program under test.
const MATCHDAY: &str = env!("CARGO_BIN_EXE_matchday");
