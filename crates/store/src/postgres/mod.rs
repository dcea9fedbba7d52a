//! A store in a PostgreSQL database. Knows PostgreSQL, and nothing else of the program does.
//!
//! # Layout
//! - `address`: libpq's URLs, service files and environment, with the password apart; `tls`: certificate checks by `sslmode`
//! - `connection`: one connection for threads that may block; `schema`: its form, migrations; `lease`: one writer at a time
//! - `append`, `read`: the two sides of a store; `warnings`: settings of the server that lose data
//!
//! Only SQL that CockroachDB and YugabyteDB have too, so that the log can be spread over machines by an engine made for it.
//! Neither was tried. Exceptions: `synchronous_commit` (a setting that they ignore: every commit is synchronous there), and
//! `pg_total_relation_size` (for the size that `bench` reports; the store works without it).

pub(super) mod address;
mod append;
mod connection;
mod lease;
mod read;
mod schema;
mod tls;
mod warnings;

pub(super) use address::Address;
pub(super) use append::PostgresAppend;
pub(super) use read::PostgresRead;
