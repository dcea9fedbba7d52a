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
#[cfg(unix)]
mod deciders;
#[cfg(unix)]
mod doctor;
mod endpoints;
mod everyday;
mod evidence;
#[cfg(unix)]
mod experiment;
mod help;
mod hostile_files;
mod leagues;
#[cfg(unix)]
mod load;
mod looks;
mod models;
mod models_in_leagues;
mod new;
mod other_makes;
mod other_manager;
mod proofs;
mod proxies;
mod refusals;
mod report;
#[cfg(unix)]
mod roster;
#[cfg(unix)]
mod run_page;
mod schema;
mod secret_files;
mod secrets;
mod seven_processes;
#[cfg(unix)]
mod simulate;
mod steering;
mod stopping;
#[cfg(unix)]
mod store_paths;
mod stores;
mod tls;
mod untrusted_text;
mod watch;
mod wire;

/// The program under test.
const MATCHDAY: &str = env!("CARGO_BIN_EXE_matchday");
