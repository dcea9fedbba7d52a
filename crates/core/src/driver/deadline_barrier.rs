//! When a deadline that has come may be held against a peer. What arrived before it may still be on its way to the agent:
//! in a call that has not ended, or in a task that has not been scheduled. So a deadline that has come stands behind a
//! barrier, where only what arrived before it is handed in; once the barrier is passed, whatever arrives is late.
//! Arithmetic on times: the driver asks, and waits.

use crate::agent::CallId;
use crate::protocol::Timestamp;
use std::collections::BTreeSet;
use std::time::Duration;

/// How long a request that has been read from its socket may take to reach the driver, on a machine that keeps up.
const HANDOVER: Duration = Duration::from_millis(2);
/// A driver that is woken this much later than it asked for runs on a machine that does not keep up: other tasks were not
/// scheduled either.
const LAG_MAX: Duration = Duration::from_millis(5);
/// How often in a row such a machine must have kept up again: to accept a connection and to read from it takes several
/// turns of the scheduler.
const TURNS: u32 = 5;
/// The longest wait for the machine to keep up, and for calls, which end by themselves before.
const LAG_WAIT_MAX: Duration = Duration::from_secs(1);
const CALL_WAIT_MAX: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct DeadlineBarrier {
    /// The calls that have not ended, by their deadlines. Each ends soon after its deadline at the latest.
    calls: BTreeSet<(Timestamp, CallId)>,
    /// Whatever was read from a socket before this time has reached the driver.
    handed_over: Timestamp,
    probe: Option<Probe>,
    /// The deadline behind the barrier, and since when: after a stop of the process that may be long after it came.
    waiting: Option<(Timestamp, Timestamp)>,
}

/// Measures whether the machine keeps up.
#[derive(Debug, Clone, Copy)]
struct Probe {
    began: Timestamp,
    again_at: Timestamp,
    turns_left: u32,
}

impl Default for DeadlineBarrier {
    fn default() -> Self {
        Self {
            calls: BTreeSet::new(),
            handed_over: Timestamp::EPOCH,
            probe: None,
            waiting: None,
        }
    }
}

impl DeadlineBarrier {
    pub(super) fn call_started(&mut self, call: CallId, deadline: Timestamp) {
        self.calls.insert((deadline, call));
    }

    pub(super) fn call_ended(&mut self, call: CallId, deadline: Timestamp) {
        self.calls.remove(&(deadline, call));
    }

    /// If nothing that arrived before `deadline`, which has come, can still be on its way: the time until which that is so.
    pub(super) fn passed(&mut self, deadline: Timestamp, now: Timestamp) -> Option<Timestamp> {
        let since = match self.waiting {
            Some((waiting, since)) if waiting == deadline => since,
            _ => self.waiting.insert((deadline, now)).1,
        };
        if self.handed_over < deadline {
            self.probe(deadline, now);
        }
        let kept_up = self.handed_over >= deadline || now >= since + LAG_WAIT_MAX;
        let first = self
            .calls
            .first()
            .map(|(until, _)| *until)
            .filter(|_| now < since + CALL_WAIT_MAX);
        let calls_ended = first.is_none_or(|until| until > deadline);
        (kept_up && calls_ended).then(|| {
            let before_first =
                first.map_or(self.handed_over, |until| until - Duration::from_micros(1));
            self.handed_over.min(before_first).max(deadline)
        })
    }

    fn probe(&mut self, deadline: Timestamp, now: Timestamp) {
        if let Some(probe) = self.probe.as_mut().filter(|probe| now >= probe.again_at) {
            probe.turns_left = if now <= probe.again_at + LAG_MAX {
                probe.turns_left - 1
            } else {
                TURNS
            };
            probe.again_at = now + HANDOVER;
        }
        if let Some(done) = self.probe.take_if(|probe| probe.turns_left == 0) {
            self.handed_over = done.began;
        }
        // A probe that began before the deadline came proves nothing about it: another has to follow.
        if self.handed_over < deadline && self.probe.is_none() {
            let turns_left = if now <= deadline + LAG_MAX { 1 } else { TURNS };
            self.probe = Some(Probe {
                began: now,
                again_at: now + HANDOVER,
                turns_left,
            });
        }
    }

    /// When to ask again about a deadline, if nothing arrives before.
    pub(super) fn check_at(&self, deadline: Timestamp) -> Timestamp {
        match (self.waiting, self.probe) {
            (Some((waiting, _)), Some(probe)) if waiting == deadline => probe.again_at,
            (Some((waiting, since)), None) if waiting == deadline => since + CALL_WAIT_MAX,
            _ => deadline,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEADLINE: Timestamp = Timestamp::from_micros(1_000_000_000);

    fn after(micros: u64) -> Timestamp {
        DEADLINE + Duration::from_micros(micros)
    }

    /// Asks as a driver that is woken `lag` after it wanted to be. How long it took to pass the barrier.
    fn wait(barrier: &mut DeadlineBarrier, from: Timestamp, lag: Duration) -> Duration {
        let mut now = from;
        while barrier.passed(DEADLINE, now).is_none() {
            now = barrier.check_at(DEADLINE).max(now) + lag;
        }
        now.since(from)
    }

    #[test]
    fn a_deadline_is_first_looked_at_when_it_has_come() {
        assert_eq!(DeadlineBarrier::default().check_at(DEADLINE), DEADLINE);
    }

    #[test]
    fn where_nothing_is_under_way_it_is_over_in_a_moment() {
        let took = wait(
            &mut DeadlineBarrier::default(),
            DEADLINE,
            Duration::from_micros(300),
        );
        assert!(took >= HANDOVER && took < HANDOVER * 2, "{took:?}");
    }

    #[test]
    fn a_call_that_ends_by_the_deadline_is_waited_for() {
        let mut barrier = DeadlineBarrier::default();
        barrier.call_started(CallId(1), DEADLINE);
        barrier.call_started(CallId(2), after(1));
        assert_eq!(barrier.passed(DEADLINE, DEADLINE), None);
        assert_eq!(barrier.passed(DEADLINE, after(2_100)), None);
        assert!(
            barrier.check_at(DEADLINE) > after(100_000),
            "there is nothing to be looked at meanwhile"
        );
        barrier.call_ended(CallId(1), DEADLINE);
        let over = barrier.passed(DEADLINE, after(2_200));
        assert_eq!(
            over,
            Some(DEADLINE),
            "but not until that of the next call is"
        );
    }

    #[test]
    fn deadlines_close_together_settle_together() {
        let mut barrier = DeadlineBarrier::default();
        assert_eq!(barrier.passed(DEADLINE, after(900)), None);
        let over = barrier.passed(DEADLINE, after(3_000)).unwrap();
        assert_eq!(over, after(900));
        assert_eq!(
            barrier.passed(after(800), after(3_100)),
            Some(over),
            "at once"
        );
        assert_eq!(
            barrier.passed(after(1_000), after(3_200)),
            None,
            "this came later"
        );
    }

    #[test]
    fn a_deadline_that_comes_while_another_settles_is_looked_at_soon() {
        let mut barrier = DeadlineBarrier::default();
        assert_eq!(barrier.passed(DEADLINE, after(100)), None);
        let next = after(1_000);
        assert_eq!(
            barrier.passed(next, after(2_200)),
            None,
            "what settles now came before it"
        );
        assert_eq!(
            barrier.check_at(next),
            after(4_200),
            "even if nothing arrives"
        );
        assert_eq!(barrier.passed(next, after(4_200)), Some(after(2_200)));
    }

    #[test]
    fn a_machine_that_does_not_keep_up_is_given_time() {
        let mut barrier = DeadlineBarrier::default();
        for late in [40_000, 80_000, 82_500, 85_000, 87_500, 90_000] {
            assert_eq!(barrier.passed(DEADLINE, after(late)), None);
        }
        assert_eq!(
            barrier.passed(DEADLINE, after(92_500)),
            Some(after(40_000)),
            "five times in time"
        );
    }

    #[test]
    fn nothing_is_waited_for_for_ever() {
        let mut barrier = DeadlineBarrier::default();
        barrier.call_started(CallId(1), DEADLINE);
        let took = wait(&mut barrier, DEADLINE, Duration::ZERO);
        assert_eq!(took, CALL_WAIT_MAX);
        let took = wait(
            &mut DeadlineBarrier::default(),
            DEADLINE,
            Duration::from_millis(30),
        );
        assert!(
            took >= LAG_WAIT_MAX && took < LAG_WAIT_MAX + Duration::from_millis(60),
            "{took:?}"
        );
    }

    #[test]
    fn after_a_stop_of_the_process_time_goes_on_from_where_it_is() {
        let mut barrier = DeadlineBarrier::default();
        barrier.call_started(CallId(1), DEADLINE);
        let woken = DEADLINE + Duration::from_secs(60);
        assert_eq!(
            barrier.passed(DEADLINE, woken),
            None,
            "what came meanwhile is yet to be read"
        );
        barrier.call_ended(CallId(1), DEADLINE);
        let took = wait(&mut barrier, woken, Duration::ZERO);
        assert!(took < Duration::from_millis(20), "{took:?}");
        assert_eq!(barrier.passed(DEADLINE, woken + took), Some(woken));
    }
}
