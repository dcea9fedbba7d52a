//! The deadlines of the protocol, all settable, the sources' own by default; and how long a match can take by them.

use crate::retry::RetryPolicy;
use serde::{Deserialize, Serialize};
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// For GAME_JOIN_ACK after an invitation.
    pub join: Duration,
    /// For a choice or a move.
    pub choice: Duration,
    /// For the acknowledgement of GAME_OVER, which nobody waits for.
    pub game_over: Duration,
    /// For the manager's receipt of a report.
    pub report: Duration,
    /// For every other answer.
    pub other: Duration,
    /// What happens when a player does not answer, or cannot be reached.
    pub retry: RetryPolicy,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            join: Duration::from_secs(5),
            choice: Duration::from_secs(30),
            game_over: Duration::from_secs(5),
            report: Duration::from_secs(10),
            other: Duration::from_secs(10),
            retry: RetryPolicy::FIXED,
        }
    }
}

impl Timing {
    /// The longest that a match of at most `turns` turns can take, from its assignment to the end of the first try to
    /// report it.
    pub fn match_bound(&self, turns: u32) -> Duration {
        let joining = self.retry.longest(self.join);
        let playing = self.retry.longest(self.choice).saturating_mul(turns);
        joining.saturating_add(playing).saturating_add(self.report)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_match_of_even_odd_is_over_within_its_bound() {
        let joining = 4 * 5 + 3 * 2;
        let choosing = 4 * 30 + 3 * 2;
        assert_eq!(Timing::default().match_bound(1), Duration::from_secs(joining + choosing + 10));
    }
}
