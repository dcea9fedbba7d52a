//! A store in a PostgreSQL database. Knows PostgreSQL, and nothing else of the program does.
//!
//! # Layout
//! - `address`: URLs completed by service files and the environment; `tls`: certificate checks by `sslmode`
//! - `connection`: one connection for threads that may block; `schema`: its one form
//! - `membership`: what this process holds: lease, epochs; `processes`: registering and renewing; `ownership`, `shares`: taking and
//!   releasing leagues, and how many; `time`: the database's clock
//! - `append`, `read`: the two sides of a store; `session`: the statements of an append; `claim`: the epochs that an append names; `columns`: rows for it; `history`: for
//!   proofs; `warnings`: settings of the server that lose data
//!
//! Only SQL that CockroachDB and YugabyteDB have too, so that the log can be spread over machines by an engine made for it.
//! Neither was tried. `FOR SHARE`, `SKIP LOCKED`, `unnest` of several arrays, materialized common table expressions and
//! `clock_timestamp()` are there as well. Exceptions: `synchronous_commit` (a setting that they ignore: every commit is synchronous there), and
//! `pg_total_relation_size` (for the size that `bench` reports; the store works without it).

mod address;
mod append;
mod claim;
mod columns;
mod connection;
mod history;
mod membership;
mod ownership;
mod processes;
mod read;
mod schema;
mod session;
mod shares;
mod time;
mod tls;
mod warnings;

pub(super) use address::Address;
pub(super) use append::PostgresAppend;
pub(super) use read::PostgresRead;
