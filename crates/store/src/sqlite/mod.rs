//! A store in one SQLite file. Knows SQLite, and nothing else of the program does.
//!
//! # Layout
//! - `file`, `lock`: the file and its lock; `schema`: its form, migrations; `error`: SQLite's errors
//! - `append`, `read`: the two sides of a store; `league_number`: which rows belong to a league

mod append;
mod error;
mod file;
mod league_number;
mod lock;
mod read;
mod schema;

pub(super) use append::SqliteAppend;
pub(super) use read::SqliteRead;
