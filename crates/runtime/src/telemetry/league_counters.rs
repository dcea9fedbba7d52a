//! Exchanges counted by league, in a bounded number of series: the busiest leagues under their names, all others together.

use matchday_core::protocol::LeagueId;
use smol_str::SmolStr;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// How many leagues are named in a scrape.
pub(super) const NAMED_MAX: usize = 10;
/// The label of all leagues that are not named. No league can have this id in a service.
pub(super) const OTHERS: &str = "(others)";

/// What the agents of one league have recorded.
#[derive(Debug, Default)]
pub(crate) struct LeagueCounters {
    received: AtomicU64,
    sent: AtomicU64,
    failed: AtomicU64,
}

impl LeagueCounters {
    pub(super) fn count_request(&self, is_ok: bool) {
        self.received.fetch_add(1, Ordering::Relaxed);
        self.failed.fetch_add(u64::from(!is_ok), Ordering::Relaxed);
    }

    pub(super) fn count_call(&self, is_ok: bool) {
        self.sent.fetch_add(1, Ordering::Relaxed);
        self.failed.fetch_add(u64::from(!is_ok), Ordering::Relaxed);
    }

    fn read(&self) -> Counts {
        let value = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counts {
            received: value(&self.received),
            sent: value(&self.sent),
            failed: value(&self.failed),
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) received: u64,
    pub(super) sent: u64,
    pub(super) failed: u64,
}

impl Counts {
    fn add(&mut self, more: Self) {
        self.received += more.received;
        self.sent += more.sent;
        self.failed += more.failed;
    }

    fn since(self, before: Self) -> Self {
        Self {
            received: self.received.saturating_sub(before.received),
            sent: self.sent.saturating_sub(before.sent),
            failed: self.failed.saturating_sub(before.failed),
        }
    }
}

/// The leagues of a process.
#[derive(Debug, Default)]
pub(super) struct LeagueTable(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    leagues: BTreeMap<SmolStr, Entry>,
    /// What was counted under the label of the others so far.
    others: Counts,
}

#[derive(Debug, Default)]
struct Entry {
    counters: Arc<LeagueCounters>,
    /// As of the last scrape.
    seen: Counts,
    /// What was counted under its name so far.
    shown: Counts,
    /// How much it has done lately: halved at each scrape.
    activity: u64,
}

impl LeagueTable {
    pub(super) fn counters(&self, id: &LeagueId) -> Arc<LeagueCounters> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(
            &state
                .leagues
                .entry(id.as_str().into())
                .or_default()
                .counters,
        )
    }

    /// The series of a scrape. What a league has done since the last one is counted under its name if it is among the busiest,
    /// and else under that of the others: no series ever goes down.
    pub(super) fn scrape(&self) -> Vec<(SmolStr, Counts)> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let State { leagues, others } = &mut *state;
        for entry in leagues.values_mut() {
            let new = entry.counters.read().since(entry.seen);
            entry.activity = entry.activity / 2 + new.received + new.sent;
        }
        let mut busiest: Vec<(u64, SmolStr)> = leagues
            .iter()
            .filter(|(_, entry)| entry.activity > 0)
            .map(|(id, entry)| (entry.activity, id.clone()))
            .collect();
        busiest.sort_by(|(activity, id), (other_activity, other)| {
            other_activity.cmp(activity).then_with(|| id.cmp(other))
        });
        busiest.truncate(NAMED_MAX);
        let mut series = Vec::new();
        for (id, entry) in &mut *leagues {
            let now = entry.counters.read();
            let new = now.since(entry.seen);
            entry.seen = now;
            if busiest.iter().any(|(_, named)| named == id) {
                entry.shown.add(new);
                series.push((id.clone(), entry.shown));
            } else {
                others.add(new);
            }
        }
        if series.len() < leagues.len() {
            series.push((SmolStr::new_static(OTHERS), *others));
        }
        series
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(table: &LeagueTable, league: usize, times: u64) {
        let counters = table.counters(&LeagueId::new(format!("league-{league:02}")));
        (0..times).for_each(|_| counters.count_request(true));
    }

    fn received(series: &[(SmolStr, Counts)], name: &str) -> Option<u64> {
        series
            .iter()
            .find(|(id, _)| id == name)
            .map(|(_, counts)| counts.received)
    }

    #[test]
    fn however_many_leagues_there_are_the_busiest_are_named_and_the_rest_is_one_series() {
        let table = LeagueTable::default();
        (0..1_000).for_each(|league| call(&table, league, 1 + u64::from(league >= 990)));
        let series = table.scrape();
        assert_eq!(series.len(), NAMED_MAX + 1);
        assert_eq!(received(&series, "league-990"), Some(2));
        assert_eq!(received(&series, OTHERS), Some(990));
        assert_eq!(LeagueTable::default().scrape(), []);
    }

    #[test]
    fn no_series_goes_down_when_another_league_becomes_busy() {
        let table = LeagueTable::default();
        (0..=NAMED_MAX).for_each(|league| call(&table, league, 20 - league as u64));
        let before = table.scrape();
        assert_eq!(
            (
                received(&before, "league-09"),
                received(&before, "league-10")
            ),
            (Some(11), None)
        );
        assert_eq!(received(&before, OTHERS), Some(10));
        call(&table, 10, 100);
        let after = table.scrape();
        assert_eq!(
            received(&after, "league-10"),
            Some(100),
            "what came before stays with the others"
        );
        assert_eq!(
            (received(&after, "league-09"), received(&after, OTHERS)),
            (None, Some(10))
        );
        call(&table, 9, 1_000);
        assert_eq!(
            received(&table.scrape(), "league-09"),
            Some(1_011),
            "its series goes on"
        );
    }

    #[test]
    fn failures_are_counted_in_both_directions() {
        let table = LeagueTable::default();
        let counters = table.counters(&LeagueId::new("spring"));
        counters.count_request(false);
        counters.count_call(false);
        counters.count_call(true);
        assert_eq!(
            table.scrape(),
            [(
                "spring".into(),
                Counts {
                    received: 1,
                    sent: 2,
                    failed: 2
                }
            )]
        );
    }
}
