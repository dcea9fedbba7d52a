//! league.v2 without any I/O: what a league of agents says, decides and remembers.
//!
//! # Layout
//! In reading order:
//! - [`protocol`]: the messages, how they are read and written, errors, tokens, dialects
//! - [`agent`]: the contract between a state machine and whoever drives it
//! - [`entropy`], [`signature`], [`fair`], [`signed_move`]: chance, Ed25519 signatures, draws and moves that anyone can
//!   check
//! - [`signed_note`]: checkpoints in the text format of transparency logs
//! - [`game`]: the games that are played
//! - [`timing`], [`retry`], [`post`], [`enrol`], [`log`]: what the agents share: deadlines, mail that must arrive,
//!   registration, how events are written down
//! - [`census`]: what can be counted of an agent
//! - [`league`], [`referee`], [`player`]: the agents
//! - [`sim`]: a world in virtual time, to prove the agents in

pub mod agent;
mod alarms;
mod calls;
pub mod census;
mod digits;
pub mod enrol;
pub mod entropy;
pub mod fair;
pub mod game;
pub mod league;
mod list;
pub mod log;
pub mod player;
pub mod post;
pub mod protocol;
pub mod referee;
pub mod retry;
pub mod signature;
pub mod signed_move;
pub mod signed_note;
pub mod sim;
pub mod timing;
