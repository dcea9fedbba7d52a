//! The timeouts of the protocol, by default those of the sources, and the longest match by them.

use crate::protocol::messages::Timeouts;
use crate::retry::{Backoff, RetryPolicy};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long answers are waited for, and how often they are asked for again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// For GAME_JOIN_ACK after an invitation.
    pub join: Duration,
    /// For a choice or a move.
    pub choice: Duration,
    /// For the acknowledgement of GAME_OVER, which blocks nothing.
    pub game_over: Duration,
    /// For the acknowledgement of a report.
    pub report: Duration,
    /// For every other answer.
    pub other: Duration,
    /// Retries for a player that does not answer or cannot be reached.
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
    /// The longest time of a match with at most `turns` turns, from its assignment to the end of the first try to
    /// report it.
    pub fn match_bound(&self, turns: u32) -> Duration {
        let joining = self.retry.longest(self.join);
        let playing = self.retry.longest(self.choice).saturating_mul(turns);
        joining.saturating_add(playing).saturating_add(self.report)
    }

    /// The part that a referee needs to play a match.
    pub fn timeouts(&self) -> Timeouts {
        let (delay, max) = match self.retry.backoff {
            Backoff::Fixed { delay } => (delay, None),
            Backoff::Exponential { initial, max } => (initial, Some(max)),
        };
        Timeouts {
            join_ms: Some(millis(self.join)),
            choice_ms: Some(millis(self.choice)),
            retries: Some(self.retry.retries),
            retry_delay_ms: Some(millis(delay)),
            retry_delay_max_ms: max.map(millis),
        }
    }

    /// With the manager's timeouts in place of its own.
    #[must_use]
    pub fn assigned(self, given: &Timeouts) -> Self {
        let backoff =
            given
                .retry_delay_ms
                .map(duration)
                .map(|delay| match given.retry_delay_max_ms {
                    None => Backoff::Fixed { delay },
                    Some(max) => Backoff::Exponential {
                        initial: delay,
                        max: duration(max),
                    },
                });
        Self {
            join: given.join_ms.map_or(self.join, duration),
            choice: given.choice_ms.map_or(self.choice, duration),
            retry: RetryPolicy {
                retries: given.retries.unwrap_or(self.retry.retries),
                backoff: backoff.unwrap_or(self.retry.backoff),
            },
            ..self
        }
    }

    /// With every timeout and the retries capped by a bound.
    #[must_use]
    pub fn within(self, bound: &Timeouts) -> Self {
        let least =
            |own: Duration, bound: Option<u32>| bound.map_or(own, |bound| own.min(duration(bound)));
        let backoff = match self.retry.backoff {
            Backoff::Fixed { delay } => Backoff::Fixed {
                delay: least(delay, bound.retry_delay_ms),
            },
            Backoff::Exponential { initial, max } => Backoff::Exponential {
                initial: least(initial, bound.retry_delay_ms),
                max: least(max, bound.retry_delay_max_ms),
            },
        };
        Self {
            join: least(self.join, bound.join_ms),
            choice: least(self.choice, bound.choice_ms),
            retry: RetryPolicy {
                retries: bound
                    .retries
                    .map_or(self.retry.retries, |bound| self.retry.retries.min(bound)),
                backoff,
            },
            ..self
        }
    }
}

/// Rounded up, so that a window is never shorter than configured.
fn millis(span: Duration) -> u32 {
    u32::try_from(span.as_micros().div_ceil(1_000)).unwrap_or(u32::MAX)
}

fn duration(ms: u32) -> Duration {
    Duration::from_millis(ms.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_match_of_even_odd_is_over_within_its_bound() {
        let joining = 4 * 5 + 3 * 2;
        let choosing = 4 * 30 + 3 * 2;
        assert_eq!(
            Timing::default().match_bound(1),
            Duration::from_secs(joining + choosing + 10)
        );
    }

    #[test]
    fn timeouts_that_are_handed_over_replace_ones_own() {
        let short = Timing {
            join: Duration::from_millis(250),
            choice: Duration::from_secs(1),
            retry: RetryPolicy::EXPONENTIAL,
            ..Timing::default()
        };
        assert_eq!(Timing::default().assigned(&short.timeouts()), short);
        assert_eq!(short.assigned(&Timeouts::default()), short);
    }

    #[test]
    fn a_bound_makes_windows_shorter_and_never_longer() {
        let bound = Timeouts {
            choice_ms: Some(10_000),
            retries: Some(9),
            ..Timeouts::default()
        };
        let bounded = Timing::default().within(&bound);
        assert_eq!(
            bounded,
            Timing {
                choice: Duration::from_secs(10),
                ..Timing::default()
            }
        );
    }
}
