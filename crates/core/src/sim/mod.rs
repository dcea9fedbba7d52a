//! A world in virtual time, to prove the agents in: the same manager, referees and players that run over HTTP, between
//! them a hostile network, under them computers that crash, and around them checkers that look at every step.
//!
//! One number, the seed, decides everything: [`run`] twice with the same seed gives the same trace, byte for byte.
//!
//! In reading order: [`host`] runs one agent by the contract, `house` is a process that several share; [`network`] and
//! [`faults`] get in its way; [`behaviour`] are players that do not play along, [`minds`] those who decide for players from
//! outside; `world`, `lives`, `exchange`, `outsiders` and `takeovers` are what happens; `wiretap`, [`check`] and `inspection` are who
//! watches.
//!
//! [`bare`] is another world, without any trouble: it is there to be measured.

pub mod bare;
pub mod behaviour;
mod cast;
mod cheat;
pub mod check;
mod exchange;
pub mod failure;
pub mod faults;
mod happening;
pub mod host;
mod house;
mod inspection;
mod labels;
mod lives;
pub mod minds;
mod network;
mod outsiders;
mod queue;
mod shape;
mod stats;
mod takeovers;
mod trace;
mod who;
mod wire;
mod wiretap;
mod world;

pub use failure::{Checker, Failure, Fault};
pub use faults::Faults;
pub use inspection::facts;
pub use shape::Shape;
pub use stats::Stats;
pub use who::Who;
pub use wire::Wire;

use crate::league::LeagueEvent;
use crate::protocol::{Message, Timestamp};
use std::time::Duration;

/// When virtual time begins: 2026-01-01T00:00:00Z.
pub const START: Timestamp = Timestamp::from_micros(1_767_225_600_000_000);

/// What to run, where the seed is not to decide.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Keep the trace as text, to be read.
    pub keep_trace: bool,
    /// Keep every message that the agents send, to be looked at.
    pub keep_messages: bool,
    pub shape: Option<Shape>,
    pub crash: Option<CrashPoint>,
}

/// A crash at one step of one agent, to try them all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CrashPoint {
    pub who: Who,
    /// Counted from 1.
    pub step: u64,
    pub moment: Moment,
    /// How long until it is started again.
    pub down: Duration,
}

/// When in a step an agent crashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// The step never reaches the disk.
    BeforeStored,
    /// It is on the disk, and nobody has heard of it.
    StoredUnsent,
    /// All of it has gone out.
    Sent,
    /// All of it has gone out, and then the disk forgets its last event. No agent can stand that: the checkers must
    /// notice.
    SentThenLost,
}

/// How a run went.
#[derive(Debug, Clone)]
#[must_use]
pub struct Report {
    pub seed: u64,
    pub stats: Stats,
    pub trace_hash: u64,
    /// Empty unless it was to be kept.
    pub trace: Vec<String>,
    /// What the agents sent and answered, in order. Empty unless it was to be kept.
    pub messages: Vec<Message>,
    /// The manager's log.
    pub league: Vec<(Timestamp, LeagueEvent)>,
    /// The first rule that was broken, if one was.
    pub failure: Option<Failure>,
}

/// Plays one league from beginning to end.
pub fn run(seed: u64, options: &Options) -> Report {
    world::World::new(seed, options).run(seed)
}
