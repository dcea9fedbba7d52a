//! A store in one SQLite file. Knows SQLite, and nothing else of the program does.
//!
//! # Layout
//! - `file`, `lock`: the file and its lock; `schema`: its form; `budget`: how much reading it may take; `error`: SQLite's errors
//! - `append`, `read`: the two sides of a store

mod append;
mod budget;
mod error;
mod file;
mod lock;
mod read;
mod schema;

pub(super) use append::SqliteAppend;
pub(super) use read::SqliteRead;
