//! Leagues that run in one process, and what is mounted on their addresses.
//!
//! # Layout
//! - surfaces: [`mcp`] (the Model Context Protocol), [`seat`] (seats for clients that cannot be called), [`relay`] (mailboxes for
//!   agents that dial out; [`connect`] is its other side), [`dashboard`] (a league in a browser)
//! - `reach`: whether agents can be reached
//! - [`league`]: a league that runs; [`local`]: one with all its agents in one process; [`service`]: many leagues in one process, and several processes on one store

pub mod connect;
pub mod dashboard;
pub mod league;
pub mod local;
pub mod mcp;
mod reach;
pub mod relay;
pub mod seat;
pub mod service;

pub use mcp::agent_options;
