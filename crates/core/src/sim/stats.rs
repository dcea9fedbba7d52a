//! What a run amounts to, in numbers.

use super::who::Who;
use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stats {
    pub messages: u64,
    pub lost: u64,
    pub refused: u64,
    pub duplicated: u64,
    pub crashes: u64,
    /// Steps that had not reached the disk when their host crashed.
    pub steps_lost: u64,
    pub forgeries: u64,
    /// Reports that cheating referees spoilt.
    pub lies: u64,
    /// Registrations in the name of another.
    pub takeovers: u64,
    /// Questions that were put to minds outside.
    pub inquiries: u64,
    pub matches: u64,
    pub technical_losses: u64,
    /// Matches that were given to another referee.
    pub reassigned: u64,
    /// 1 if the league was over before the faults were.
    pub completed_under_fault: u64,
    /// How much of the time that it may take the league took, from the end of the faults on.
    pub bound_used_percent: u64,
    pub virtual_time: Duration,
    /// How many inputs each agent has handled.
    pub steps: BTreeMap<Who, u64>,
}

impl Stats {
    pub fn all_steps(&self) -> u64 {
        self.steps.values().sum()
    }
}
