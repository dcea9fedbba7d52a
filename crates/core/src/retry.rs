//! Retry policies and backoff of the sources.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How often, and after which pauses, an unanswered exchange is retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetryPolicy {
    /// Retries after the first try.
    pub retries: u32,
    /// The pauses between the tries.
    pub backoff: Backoff,
}

/// The pause before each retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Backoff {
    /// The same pause before each retry.
    Fixed {
        /// However many retries there were.
        delay: Duration,
    },
    /// Each pause twice the one before, up to `max`.
    Exponential {
        /// Before the first retry.
        initial: Duration,
        /// The longest pause, however many retries there are.
        max: Duration,
    },
}

impl RetryPolicy {
    /// Three retries, two seconds apart: the rule of the message catalogue.
    pub const FIXED: Self = Self {
        retries: 3,
        backoff: Backoff::Fixed {
            delay: Duration::from_secs(2),
        },
    };

    /// Three retries after one, two and four seconds: the rule of the specification.
    pub const EXPONENTIAL: Self = Self {
        retries: 3,
        backoff: Backoff::Exponential {
            initial: Duration::from_secs(1),
            max: Duration::from_secs(30),
        },
    };

    /// The pause before retry number `retry`, counted from 1; `None` when there are no more.
    pub fn pause(&self, retry: u32) -> Option<Duration> {
        ((1..=self.retries).contains(&retry)).then(|| self.backoff.pause(retry))
    }

    /// The longest time of an exchange whose tries wait `timeout` each.
    pub fn longest(&self, timeout: Duration) -> Duration {
        let pauses = (1..=self.retries).fold(Duration::ZERO, |sum, n| {
            sum.saturating_add(self.backoff.pause(n))
        });
        timeout
            .saturating_mul(self.retries.saturating_add(1))
            .saturating_add(pauses)
    }
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self::FIXED
    }
}

impl Backoff {
    /// The pause before retry number `retry`, counted from 1.
    pub fn pause(&self, retry: u32) -> Duration {
        match *self {
            Self::Fixed { delay } => delay,
            Self::Exponential { initial, max } => {
                let doublings = retry.saturating_sub(1).min(31);
                initial.saturating_mul(1_u32 << doublings).min(max)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pauses(policy: RetryPolicy, count: u32) -> Vec<Option<u64>> {
        (1..=count)
            .map(|n| policy.pause(n).map(|pause| pause.as_secs()))
            .collect()
    }

    #[test]
    fn fixed_waits_the_same_time_each_time() {
        assert_eq!(
            pauses(RetryPolicy::FIXED, 4),
            [Some(2), Some(2), Some(2), None]
        );
    }

    #[test]
    fn exponential_doubles_up_to_its_limit() {
        let policy = RetryPolicy {
            retries: 7,
            ..RetryPolicy::EXPONENTIAL
        };
        assert_eq!(pauses(policy, 7), [1, 2, 4, 8, 16, 30, 30].map(Some));
    }

    #[test]
    fn the_longest_exchange_counts_every_try_and_every_pause() {
        assert_eq!(
            RetryPolicy::FIXED.longest(Duration::from_secs(5)),
            Duration::from_secs(4 * 5 + 3 * 2)
        );
    }
}
