//! Tools for who writes an agent.
//!
//! # Layout
//! - [`check`]: whether an agent keeps the protocol, rule by rule
//! - [`practice`]: an agent against built-in strategies and injected faults
//! - [`starter`]: starter agents in several languages

#![warn(clippy::print_stdout, clippy::print_stderr)]

pub mod check;
pub mod practice;
pub mod starter;
