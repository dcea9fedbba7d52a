//! A world in virtual time, to prove the agents in: the same manager, referees and players that run over HTTP, between
//! them a hostile network, under them computers that crash, and around them checkers that look at every step.
//!
//! One number, the seed, decides everything: [`run`] twice with the same seed gives the same trace, byte for byte.
//!
//! In reading order: [`host`] runs the driver of one agent, `colocated` is a process that several share; [`network`] and
//! [`faults`] get in its way; [`behaviour`] are players that do not play along, [`external_deciders`] decide
//! for players; `world`, `crash_plan`, `exchange`, `relay`, `outsiders` and `takeovers` are what happens; `shared_store`, `ownership`,
//! `transaction` and `fenced` are several processes on one store; `wiretap`, [`check`] and `inspection` watch it;
//! [`PlantedFault`] shows that they do.

mod agent_id;
mod agents;
pub mod behaviour;
mod call;
pub mod check;
mod event;
pub mod external_deciders;
pub mod failure;
pub mod faults;
pub mod host;
mod labels;
pub mod machine;
mod network;
mod planted_fault;
mod queue;
mod scenario;
mod shared_log;
mod shared_store;
mod stats;
mod trace;
mod wire;
mod wiretap;
mod world;

pub use failure::{Checker, Failure, Fault};
pub use faults::Faults;

pub use agent_id::AgentId;
pub use planted_fault::PlantedFault;
pub use scenario::Scenario;
pub use shared_store::SharedStore;
pub use stats::Stats;
pub use wire::Wire;
pub use world::facts;

use matchday_core::league::LeagueEvent;
use matchday_core::protocol::{Message, Timestamp};
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
    /// Replaces the scenario that the seed gives.
    pub scenario: Option<Scenario>,
    /// A crash besides those of the scenario.
    pub crash: Option<CrashPoint>,
}

/// A crash at one step of one agent, to try them all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CrashPoint {
    /// Which agent crashes.
    pub who: AgentId,
    /// Counted from 1.
    pub step: u64,
    /// How far the step has come by then.
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
    /// Repeats the run, in the same version of the program.
    pub seed: u64,
    /// What happened, in numbers.
    pub stats: Stats,
    /// Equal for runs that are equal in every event.
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
