//! The commands of Matchday, and the surfaces that are mounted on its agents.
//!
//! # Layout
//! Below this crate: `matchday_core` (the agents, pure), `matchday_net` (HTTP), `matchday_store` (the event log), `matchday_runtime`
//! (runs an agent). In this crate, each may import what stands above it:
//! - `report` (HTML, Markdown, CSV; templates): a command, and what the dashboard saves
//! - surfaces, mounted on an agent's address: `mcp` (the Model Context Protocol), [`seat`] (seats for clients that cannot be
//!   called), [`relay`] (mailboxes for agents that dial out), [`dashboard`] (a league in a browser)
//! - [`deciders`]: programs and language models that decide for a player
//! - [`statistics`]: converts the results of a league for the statistics crate
//! - `manager_client`: asks a manager, and gives it an operator's orders
//! - [`connect`]: agents that dial out to a relay
//! - `local`: a whole league in one process; `service`: many leagues in one process
//! - `mend`: how to mend deviations from the protocol; `suggest`: names that were probably meant; `league_view`: the read
//!   model of a league; `view`: how commands print; `template`: how pages
//!   are written
//! - tools: `check` (conformance), `practice` (against built-in strategies and injected faults), `bench`, `simulate`,
//!   `experiment` (simulations by a plan), `starter` (starter agents in several languages), `course` (nightly leagues and
//!   grades of a course), `doctor` (looks for what is wrong with a machine and its settings)
//! - [`cli`]: the commands

// What goes to a terminal passes `view`, where text of others is escaped.
#![warn(clippy::print_stdout, clippy::print_stderr)]

mod bench;
mod check;
pub mod cli;
pub mod connect;
mod course;
pub mod dashboard;
pub mod deciders;
mod doctor;
mod experiment;
mod league_view;
mod local;
mod manager_client;
mod mcp;
mod mend;
mod practice;
pub mod relay;
mod report;
pub mod seat;
mod service;
mod simulate;
mod starter;
pub mod statistics;
mod suggest;
mod template;
mod view;

pub use mcp::agent_options;
