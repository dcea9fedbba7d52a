//! The store of Matchday: an append-only log of events for each agent, and the exchanges they recorded, in one SQLite file.
//!
//! # Layout
//! - [`stream`], [`batch`], [`exchange`]: what is stored; [`chain`]: each event carries the hash of all before it
//! - `path`, `lock`, `file`, `schema`: the file: symbolic links, the lock, creation, migrations
//! - [`handle`]: what agents append through; `queue`, `exchange_buffer`: the channel to the writer thread; `writer`, `commit`:
//!   group commit, fsync, checkpoints of the write-ahead log; `memory`: a store without a file
//! - [`reader`], [`messages`], [`leagues`]: rows, pages of exchanges, the leagues in a store, each under its number
//! - [`entry`], [`league_log`], [`agent_log`], [`log_set`]: events decoded, of a league, of an agent, of a league with its agents
//! - [`verify`], [`export`], [`timeline`], [`request_replay`], [`fallbacks`], [`llm_usage`]: what is made of them; [`describe`]: in brief, for people;
//!   [`csv_rows`]: rows for spreadsheets; [`redact`]: what must not be stored or shown
//! - [`backup`]: a copy, also of a store in use; [`transfer`]: moves a league from one store to another; [`checkpoint_keys`]: the keys that a manager signs the head of its chain with
//!
//! The contract is small, so that another store can take this one's place: append to a stream after its last event, read a
//! stream, one writer.

pub mod agent_log;
pub mod backup;
pub mod batch;
pub mod chain;
pub mod checkpoint_keys;
mod commit;
pub mod csv_rows;
pub mod describe;
pub mod entry;
pub mod error;
mod event_time;
pub mod exchange;
mod exchange_buffer;
pub mod export;
pub mod fallbacks;
mod file;
pub mod handle;
pub mod league_log;
mod league_number;
pub mod leagues;
pub mod llm_usage;
mod lock;
pub mod log_set;
mod memory;
pub mod messages;
mod path;
mod queue;
pub mod reader;
pub mod redact;
pub mod request_replay;
mod schema;
pub mod stats;
pub mod stream;
pub mod timeline;
pub mod transfer;
pub mod verify;
mod writer;

pub use batch::{Batch, Completion, Queued, Stored};
pub use error::{StoreError, StoreFailed};
pub use exchange::{Direction, Exchange};
pub use handle::{Store, WeakStore};
pub use leagues::{LeagueChoice, Location};
pub use matchday_core::driver::Durability;
pub use reader::Reader;
pub use stats::{CommitMetrics, Histogram, StoreStats};
pub use stream::Stream;
