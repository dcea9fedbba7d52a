//! The store of Matchday: an append-only log of events for each agent, and the exchanges they recorded, in a file or a database.
//!
//! # Layout
//! - [`stream`], [`batch`], [`exchange`]: what is stored; [`chain`]: each event carries the hash of all before it
//! - [`StoreUrl`]: where a store is; [`append`], [`read`]: the two traits of a store; `sqlite`, `postgres`: what implements them, and
//!   [`open`]: which of them a URL names. No other file knows which one is behind it
//! - [`ownership`]: which of several processes writes which league; [`lease`]: until when it may answer for them; `shared`: what both
//!   mean for the queue
//! - [`handle`]: what agents append through; [`stats`], [`histogram`]: what it counts; `command`, `queue`, `exchange_buffer`: the channel to the writer thread;
//!   `outage`: whether the store can be reached; `writer`: group commit, fsync, and what is done while a store is away; `path`: symbolic links
//! - [`entry`]: events decoded
//! - [`reader`], [`messages`], [`leagues`]: rows, pages of exchanges, the leagues in a store, each under its number
//! - [`llm_call`]: a call of a language model, which is an exchange of its player
//! - [`redact`]: what must not be stored or shown; [`checkpoint_keys`]: the keys that a manager signs the head of its chain with;
//!   [`backup_mark`]: when it was last copied
//!
//! Another store is another implementation of the two traits, which passes `tests/conformance`, and a line in [`open`].

pub mod append;
pub mod backup_mark;
pub mod batch;
pub mod chain;
pub mod checkpoint_keys;
mod command;
pub mod entry;
pub mod error;
pub mod exchange;
mod exchange_buffer;
pub mod handle;
pub mod histogram;
pub mod leagues;
pub mod lease;
pub mod llm_call;
pub mod messages;
pub mod open;
mod outage;
pub mod ownership;
pub mod path;
mod postgres;
mod queue;
pub mod read;
pub mod reader;
pub mod redact;
pub mod secrets;
mod shared;
mod sqlite;
pub mod stats;
mod store_url;
pub mod stream;
mod writer;

pub use batch::{Batch, Completion, Queued, Stored};
pub use error::{StoreError, StoreFailed};
pub use exchange::{Direction, Exchange};
pub use handle::{Store, WeakStore};
pub use leagues::{LeagueChoice, Location, NO_LEAGUE};
pub use matchday_core::driver::Durability;
pub use reader::Reader;
pub use stats::{CommitMetrics, StoreStats};
pub use store_url::{PgUrl, StoreUrl, split_passwords};
pub use stream::Stream;
