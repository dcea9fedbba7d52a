//! A store in one SQLite database, in a file or in memory. Knows SQLite, and nothing else of the program does.
//!
//! # Layout
//! - `file`, `lock`: the file and its lock; `schema`: its form; `budget`: how much reading it may take; `error`: SQLite's errors
//! - `append`, `read`: the two sides of a store; `memory`: one without a file

mod append;
mod budget;
mod error;
mod file;
mod lock;
mod memory;
mod read;
mod schema;

pub(super) use append::SqliteAppend;
pub(super) use memory::SqliteMemory;
pub(super) use read::SqliteRead;
