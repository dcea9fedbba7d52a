//! Statistics of a run.

use super::agent_id::AgentId;
use std::collections::BTreeMap;
use std::time::Duration;

/// What happened in a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stats {
    /// Requests that were sent, lost ones included.
    pub messages: u64,
    /// Requests and answers that did not arrive.
    pub lost: u64,
    /// Requests whose connection failed.
    pub refused: u64,
    /// Requests that arrived twice.
    pub duplicated: u64,
    /// Attempts of calls in another dialect than the first.
    pub dialects_tried: u64,
    /// Crashes of any host.
    pub crashes: u64,
    /// Steps that had not reached the disk when their host crashed.
    pub steps_lost: u64,
    /// Reports that somebody other than the referee of the match sent.
    pub forgeries: u64,
    /// Reports that cheating referees spoilt.
    pub lies: u64,
    /// Registrations in the name of another.
    pub takeovers: u64,
    /// How often a process took the league, from another or as the first.
    pub tenures: u64,
    /// How often the owner was stopped for a while and went on.
    pub pauses: u64,
    /// How often machines could not reach the store they share.
    pub cuts: u64,
    /// How often the owner handed the league over.
    pub handovers: u64,
    /// Transactions whose outcome was not known at first.
    pub unknown_commits: u64,
    /// How often a process heard that it had lost the league.
    pub fenced: u64,
    /// Questions that were put to external deciders.
    pub inquiries: u64,
    /// Matches of all rounds drawn.
    pub matches: u64,
    /// Matches that somebody forfeited.
    pub technical_losses: u64,
    /// Matches that were given to another referee.
    pub reassigned: u64,
    /// 1 if the league was over before the faults were.
    pub completed_under_fault: u64,
    /// How much of the time that it may take the league took, from the end of the faults on.
    pub bound_used_percent: u64,
    /// From the start of the world to its end.
    pub virtual_time: Duration,
    /// How many inputs each agent has handled.
    pub steps: BTreeMap<AgentId, u64>,
}

impl Stats {
    /// How many inputs all agents together have handled.
    pub fn all_steps(&self) -> u64 {
        self.steps.values().sum()
    }
}
