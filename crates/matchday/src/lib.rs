//! The commands of Matchday: flags, calls, what is printed.
//!
//! # Layout
//! - [`cli`]: the commands; `manager_client`: asks a manager, and gives it an operator's orders
//! - `course` (seasons and grades of a course), `spreadsheet` (files as those save them), `doctor` (looks for what is wrong with a machine and its settings)
//!
//! What they call: `matchday_server` (leagues that run), `matchday_audit` (logs of leagues), `matchday_author` (check, practice,
//! starter agents), `matchday_research` (simulations), `matchday_terminal` (tables, the live view).

// What goes to a terminal passes `matchday_terminal`, where text of others is escaped.
#![warn(clippy::print_stdout, clippy::print_stderr)]

pub mod cli;
mod course;
mod doctor;
mod manager_client;
mod spreadsheet;
