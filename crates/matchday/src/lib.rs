//! The program around the core: HTTP, durable stores, commands. All I/O of Matchday is here.
//!
//! # Layout
//! - [`net`]: HTTP, both sides of it
//! - `mcp`: the Model Context Protocol, for any client of it, at the same address
//! - [`observe`]: figures, readiness and traces, for whoever operates it
//! - [`shell`]: runs an agent of the core over HTTP and a store
//! - [`mind`]: programs and models that decide for a player
//! - [`seat`]: seats for those who cannot be called, such as clients of language models
//! - [`dashboard`]: a league as people see it in a browser
//! - [`store`]: where events are kept
//! - `line_writer`: writes for people without waiting for whoever reads
//! - [`cli`]: the commands; `view`: how they show things; `watch`: on a whole terminal; `local`: a whole league in one process
//! - `check`: is an agent conformant? each rule, what was seen, how to mend it
//! - `starter`: agents to begin from, in several languages
//! - [`statistics`]: a league's results, for the crate that says what they mean
//! - `report`: a stored league as a page, as Markdown, as rows for grades; `csv_rows`: rows for spreadsheets
//! - `practice`: a league of one, against sparring partners and trouble
//! - `bench`: how fast leagues are, measured; `cores`: on which processor cores the threads of one run
//! - `simulation`: what `matchday simulate` adds to the crate that simulates

// What goes to a terminal passes `view`, where text of others is escaped.
#![warn(clippy::print_stdout, clippy::print_stderr)]

mod bench;
mod check;
pub mod cli;
mod cores;
mod csv_rows;
pub mod dashboard;
mod line_writer;
mod local;
mod mcp;
pub mod mind;
pub mod net;
pub mod observe;
mod practice;
mod report;
pub mod seat;
pub mod shell;
mod simulation;
mod starter;
pub mod statistics;
pub mod store;
mod view;
mod watch;
