//! When a deadline that has come may be held against anyone. What was there before it may still be on its way to the agent:
//! in a call that has not come to its end, or in a task that has not had its turn. So a deadline that has come is given
//! time to settle, in which only what came before it is handed in; then it is over, and whatever comes is late. Arithmetic
//! on times: whoever drives asks, and waits.

use matchday_core::agent::CallId;
use matchday_core::protocol::Timestamp;
use std::collections::BTreeSet;
use std::time::Duration;

/// How long requests that have been read may take to reach the inbox, on a machine that keeps up.
const SETTLE: Duration = Duration::from_millis(2);
/// A driver that is woken this much later than it asked runs on a machine that does not keep up: others had no turn either.
const LAG_MAX: Duration = Duration::from_millis(5);
/// How often in a row such a machine must have kept up again: to take a connection and to read from it takes several turns.
const TURNS: u32 = 5;
/// For so long and no longer, whatever the machine does; and so long for calls, which end by themselves before.
const LAG_PATIENCE: Duration = Duration::from_secs(1);
const CALL_PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct Settling {
    /// The calls that have not come to their end, by their deadlines. Each has one, and ends soon after it at the latest.
    calls: BTreeSet<(Timestamp, CallId)>,
    /// Whatever was read before this has reached the inbox.
    settled: Timestamp,
    look: Option<Look>,
    /// The deadline that is waited for, and since when: after a stop of the process that may be long after it came.
    waiting: Option<(Timestamp, Timestamp)>,
}

/// Whether the machine keeps up, which takes some time to see.
#[derive(Debug, Clone, Copy)]
struct Look {
    began: Timestamp,
    again_at: Timestamp,
    turns_left: u32,
}

impl Default for Settling {
    fn default() -> Self {
        Self { calls: BTreeSet::new(), settled: Timestamp::EPOCH, look: None, waiting: None }
    }
}

impl Settling {
    pub(super) fn called(&mut self, call: CallId, deadline: Timestamp) {
        self.calls.insert((deadline, call));
    }

    pub(super) fn ended(&mut self, call: CallId, deadline: Timestamp) {
        self.calls.remove(&(deadline, call));
    }

    /// If nothing that came before `deadline`, which has come, can still be on its way: until when that is so.
    pub(super) fn over(&mut self, deadline: Timestamp, now: Timestamp) -> Option<Timestamp> {
        let since = match self.waiting {
            Some((waiting, since)) if waiting == deadline => since,
            _ => self.waiting.insert((deadline, now)).1,
        };
        if self.settled < deadline {
            self.look(deadline, now);
        }
        let kept_up = self.settled >= deadline || now >= since + LAG_PATIENCE;
        let first = self.calls.first().map(|(until, _)| *until).filter(|_| now < since + CALL_PATIENCE);
        let calls_ended = first.is_none_or(|until| until > deadline);
        (kept_up && calls_ended).then(|| {
            let before_first = first.map_or(self.settled, |until| until - Duration::from_micros(1));
            self.settled.min(before_first).max(deadline)
        })
    }

    fn look(&mut self, deadline: Timestamp, now: Timestamp) {
        if let Some(look) = self.look.as_mut().filter(|look| now >= look.again_at) {
            look.turns_left = if now <= look.again_at + LAG_MAX { look.turns_left - 1 } else { TURNS };
            look.again_at = now + SETTLE;
        }
        if let Some(done) = self.look.take_if(|look| look.turns_left == 0) {
            self.settled = done.began;
        }
        // One that began before the deadline came says nothing about it: another has to follow, or nobody would look again.
        if self.settled < deadline && self.look.is_none() {
            let turns_left = if now <= deadline + LAG_MAX { 1 } else { TURNS };
            self.look = Some(Look { began: now, again_at: now + SETTLE, turns_left });
        }
    }

    /// When to ask again about a deadline, if nothing arrives before.
    pub(super) fn look_at(&self, deadline: Timestamp) -> Timestamp {
        match (self.waiting, self.look) {
            (Some((waiting, _)), Some(look)) if waiting == deadline => look.again_at,
            (Some((waiting, since)), None) if waiting == deadline => since + CALL_PATIENCE,
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

    /// Asks as a driver does that is woken `lag` after it wanted to be. How long it took until the deadline was over.
    fn settle(settling: &mut Settling, from: Timestamp, lag: Duration) -> Duration {
        let mut now = from;
        while settling.over(DEADLINE, now).is_none() {
            now = settling.look_at(DEADLINE).max(now) + lag;
        }
        now.since(from)
    }

    #[test]
    fn a_deadline_is_first_looked_at_when_it_has_come() {
        assert_eq!(Settling::default().look_at(DEADLINE), DEADLINE);
    }

    #[test]
    fn where_nothing_is_under_way_it_is_over_in_a_moment() {
        let took = settle(&mut Settling::default(), DEADLINE, Duration::from_micros(300));
        assert!(took >= SETTLE && took < SETTLE * 2, "{took:?}");
    }

    #[test]
    fn a_call_that_ends_by_the_deadline_is_waited_for() {
        let mut settling = Settling::default();
        settling.called(CallId(1), DEADLINE);
        settling.called(CallId(2), after(1));
        assert_eq!(settling.over(DEADLINE, DEADLINE), None);
        assert_eq!(settling.over(DEADLINE, after(2_100)), None);
        assert!(settling.look_at(DEADLINE) > after(100_000), "there is nothing to be looked at meanwhile");
        settling.ended(CallId(1), DEADLINE);
        let over = settling.over(DEADLINE, after(2_200));
        assert_eq!(over, Some(DEADLINE), "but not until that of the next call is");
    }

    #[test]
    fn deadlines_close_together_settle_together() {
        let mut settling = Settling::default();
        assert_eq!(settling.over(DEADLINE, after(900)), None);
        let over = settling.over(DEADLINE, after(3_000)).unwrap();
        assert_eq!(over, after(900));
        assert_eq!(settling.over(after(800), after(3_100)), Some(over), "at once");
        assert_eq!(settling.over(after(1_000), after(3_200)), None, "this came later");
    }

    #[test]
    fn a_deadline_that_comes_while_another_settles_is_looked_at_soon() {
        let mut settling = Settling::default();
        assert_eq!(settling.over(DEADLINE, after(100)), None);
        let next = after(1_000);
        assert_eq!(settling.over(next, after(2_200)), None, "what settles now came before it");
        assert_eq!(settling.look_at(next), after(4_200), "even if nothing arrives");
        assert_eq!(settling.over(next, after(4_200)), Some(after(2_200)));
    }

    #[test]
    fn a_machine_that_does_not_keep_up_is_given_time() {
        let mut settling = Settling::default();
        for late in [40_000, 80_000, 82_500, 85_000, 87_500, 90_000] {
            assert_eq!(settling.over(DEADLINE, after(late)), None);
        }
        assert_eq!(settling.over(DEADLINE, after(92_500)), Some(after(40_000)), "five times in time");
    }

    #[test]
    fn nothing_is_waited_for_for_ever() {
        let mut settling = Settling::default();
        settling.called(CallId(1), DEADLINE);
        let took = settle(&mut settling, DEADLINE, Duration::ZERO);
        assert_eq!(took, CALL_PATIENCE);
        let took = settle(&mut Settling::default(), DEADLINE, Duration::from_millis(30));
        assert!(took >= LAG_PATIENCE && took < LAG_PATIENCE + Duration::from_millis(60), "{took:?}");
    }

    #[test]
    fn after_a_stop_of_the_process_time_goes_on_from_where_it_is() {
        let mut settling = Settling::default();
        settling.called(CallId(1), DEADLINE);
        let woken = DEADLINE + Duration::from_secs(60);
        assert_eq!(settling.over(DEADLINE, woken), None, "what came meanwhile is yet to be read");
        settling.ended(CallId(1), DEADLINE);
        let took = settle(&mut settling, woken, Duration::ZERO);
        assert!(took < Duration::from_millis(20), "{took:?}");
        assert_eq!(settling.over(DEADLINE, woken + took), Some(woken));
    }
}
