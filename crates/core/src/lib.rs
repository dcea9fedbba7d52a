//! league.v2 without any I/O: what a league of agents says, decides and remembers.
//!
//! # Layout
//! In reading order:
//! - [`protocol`]: the messages, how they are read and written, errors, tokens, dialects
//! - [`agent`]: what an agent is: a pure state machine
//! - [`driver`]: runs an agent without I/O: order of inputs, deadlines, commit before send
//! - [`entropy`], [`signature`], [`fair`], [`signed_move`], [`referee_statement`]: randomness, Ed25519 signatures; draws, moves
//!   and words of a referee that anyone can verify
//! - [`signed_note`]: checkpoints in the text format of transparency logs
//! - [`game`]: the games that are played
//! - [`timing`], [`retry`], [`outbox`], [`registration`], [`event_codec`]: what the agents share: timeouts, retried deliveries,
//!   registration, the encoding of events
//! - [`metrics`]: milestones and gauges of an agent
//! - [`league`], [`referee`], [`player`]: the agents
//! - [`mailbox`]: calls that wait for an agent that dials out
//!
//! # The run loop
//! One rule: nothing that follows from an event is seen outside before the event is durable.
//! ```
//! use matchday_core::agent::{Agent, Ask, Input, Request, RequestId};
//! use matchday_core::driver::{Arrival, Driver};
//! use matchday_core::entropy::Entropy;
//! use matchday_core::event_codec::{self, EventCodecError};
//! use matchday_core::league::{Manager, LeagueSettings};
//! # use matchday_core::protocol::{Query, Timestamp, dialect::Dialect};
//! # use std::collections::VecDeque;
//! # let now = Timestamp::from_micros(1_767_225_600_000_000);
//! # let (id, ask, dialect, local) = (RequestId(1), Ask::Query(Query::Ping.into()), Dialect::Standard, true);
//! # let ping = Request { id, ask, dialect, local, objection: None, client: None, join_code: None };
//! # let (mut log, mut sent) = (Vec::<String>::new(), Vec::new());
//! # let mut arrivals = VecDeque::from([Arrival::new(now, Input::Request(ping))]);
//!
//! let mut manager = Manager::new(LeagueSettings::default());
//! for line in &log {
//!     let (at, event) = event_codec::decode(line)?;
//!     manager.apply(at, &event); // replay
//! }
//! let mut driver = Driver::new(manager, Entropy::numbered(1), now, None);
//! let mut batches = driver.wake(now)?;
//! loop {
//!     for batch in batches {
//!         log.extend(batch.lines); // append, wait for the fsync, and then send
//!         sent.extend(batch.when_durable.replies); // likewise calls, decision and rules requests
//!     }
//!     batches = match (arrivals.pop_front(), driver.deadline()) {
//!         (Some(arrival), _) => driver.arrive(now, arrival)?,
//!         (None, Some(deadline)) if deadline <= now => driver.poll(now)?,
//!         (None, _) => break, // wait until something arrives, or until the deadline
//!     };
//! }
//! assert_eq!(sent.len(), 1, "the ping was answered");
//! # Ok::<(), EventCodecError>(())
//! ```

#![deny(missing_docs)]

pub mod agent;
pub mod driver;
pub mod entropy;
pub mod event_codec;
pub mod fair;
pub mod game;
mod hash_input;
pub mod league;
mod lower_hex;
pub mod mailbox;
pub mod metrics;
pub mod outbox;
mod pending_calls;
pub mod player;
pub mod protocol;
pub mod referee;
pub mod referee_statement;
pub mod registration;
pub mod retry;
pub mod signature;
mod signature_cache;
pub mod signed_move;
pub mod signed_note;
mod timers;
pub mod timing;
