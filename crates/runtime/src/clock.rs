//! Time for agents: the wall clock as it stood when the program started, carried on by a clock that nobody can set.
//! Setting the system's clock back or forward moves no deadline.

use matchday_core::protocol::Timestamp;
use matchday_store::WeakStore;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::Instant;

#[derive(Debug, Clone, Copy)]
pub struct Clock {
    began: Instant,
    began_at: Timestamp,
}

impl Clock {
    pub fn start() -> Self {
        let since_epoch = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        // Nothing, unless a test has moved the time of its runtime: all clocks of a simulated week show the same then.
        let ahead = Instant::now()
            .into_std()
            .saturating_duration_since(std::time::Instant::now());
        Self::starting_at(Timestamp::EPOCH + since_epoch + ahead)
    }

    /// A clock that shows `began_at` now, whatever the system's shows.
    pub fn starting_at(began_at: Timestamp) -> Self {
        Self {
            began: Instant::now(),
            began_at,
        }
    }

    pub fn now(&self) -> Timestamp {
        self.began_at + self.began.elapsed()
    }

    /// What it showed, or will show, at an instant. What lies before its start is its start.
    pub fn at(&self, instant: Instant) -> Timestamp {
        self.began_at + instant.saturating_duration_since(self.began)
    }

    /// When that will be, or was, for timers. What lies before the start has simply passed.
    pub fn instant(&self, at: Timestamp) -> Instant {
        self.instant_ahead(at, Duration::ZERO)
    }

    /// When a clock that is ahead of this one by so much will show it.
    fn instant_ahead(&self, at: Timestamp, ahead_by: Duration) -> Instant {
        let ahead = at.since(self.began_at).saturating_sub(ahead_by);
        self.began
            .checked_add(ahead)
            .unwrap_or_else(|| self.began + FAR_AHEAD)
    }
}

/// The time of an agent: that of a clock, which stands still while the store is unavailable. What could not be stored could not be sent
/// either, so that nobody's deadline may pass meanwhile. It goes on from the agent's last event where the clock is behind that, as
/// after another machine wrote the log: time in a log never runs backwards.
#[derive(Debug)]
pub(super) struct AgentClock {
    clock: Clock,
    pub(super) store: WeakStore,
    /// How long the store had been away before the agent was started.
    away_before: Duration,
    /// By how much it is ahead of the clock.
    ahead: Duration,
}

impl AgentClock {
    pub(super) fn going_on_from(last_at: Timestamp, clock: Clock, store: WeakStore) -> Self {
        let started = Self {
            away_before: downtime(&store),
            clock,
            store,
            ahead: Duration::ZERO,
        };
        Self {
            ahead: last_at.since(started.now()),
            ..started
        }
    }

    /// How long the agent has stood still.
    fn behind(&self) -> Duration {
        downtime(&self.store).saturating_sub(self.away_before)
    }

    pub(super) fn now(&self) -> Timestamp {
        self.at(Instant::now())
    }

    pub(super) fn at(&self, instant: Instant) -> Timestamp {
        let at = self.clock.at(instant) + self.ahead;
        let behind = self.behind();
        Timestamp::from_micros(
            at.as_micros()
                .saturating_sub(i64::try_from(behind.as_micros()).unwrap_or(i64::MAX)),
        )
    }

    pub(super) fn instant(&self, at: Timestamp) -> Instant {
        self.clock.instant_ahead(at + self.behind(), self.ahead)
    }
}

/// A store that is closed stores no more anyway.
fn downtime(store: &WeakStore) -> Duration {
    store
        .upgrade()
        .map_or(Duration::ZERO, |store| store.downtime())
}

const FAR_AHEAD: Duration = Duration::from_secs(30 * 365 * 24 * 3600);

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn time_goes_by_the_monotonic_clock() {
        let clock = Clock::start();
        let before = clock.now();
        tokio::time::advance(Duration::from_secs(90)).await;
        assert_eq!(clock.now(), before + Duration::from_secs(90));
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_starts_later_shows_the_same() {
        let clock = Clock::start();
        tokio::time::advance(Duration::from_secs(3600)).await;
        let apart = Clock::start().now().since(clock.now());
        assert!(apart < Duration::from_secs(60), "{apart:?}");
        assert!(clock.now().since(Clock::start().now()) < Duration::from_secs(60));
    }

    #[tokio::test(start_paused = true)]
    async fn a_deadline_is_met_when_the_clock_shows_it() {
        let clock = Clock::start();
        let deadline = clock.now() + Duration::from_millis(1500);
        tokio::time::sleep_until(clock.instant(deadline)).await;
        assert!(clock.now() >= deadline);
        assert!(clock.now() < deadline + Duration::from_millis(5));
    }

    #[tokio::test(start_paused = true)]
    async fn an_agent_goes_on_from_its_last_event_where_the_clock_is_behind_it() {
        let (store, now) = (
            matchday_store::Store::in_memory().unwrap(),
            Timestamp::from_micros(1_736_937_000_000_000),
        );
        let second = |number| now + Duration::from_secs(number);
        let from = |last_at| {
            AgentClock::going_on_from(last_at, Clock::starting_at(now), store.downgrade())
        };
        let slow = from(second(10));
        assert_eq!(slow.now(), second(10));
        tokio::time::advance(Duration::from_secs(5)).await;
        assert_eq!(
            slow.now(),
            second(15),
            "it does not stand still until the clock has caught up"
        );
        assert_eq!(
            slow.instant(second(17)),
            Instant::now() + Duration::from_secs(2)
        );
        assert_eq!(
            from(Timestamp::EPOCH).now(),
            now,
            "and is not ahead where the clock is not behind"
        );
    }

    #[test]
    fn no_deadline_is_too_far_ahead_or_behind() {
        let clock = Clock::start();
        assert!(clock.instant(Timestamp::from_micros(i64::MAX)) > Instant::now());
        assert!(clock.instant(Timestamp::EPOCH) <= Instant::now());
    }
}
