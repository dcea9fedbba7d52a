//! The projections of leagues for their readers: one for each league, shared by `/api/leagues/ID` and the league's dashboard, which
//! goes on with it when the league is loaded. Those of leagues that nobody reads are dropped when they take too much memory.

use super::lock;
use crate::dashboard::{Readers, Source};
use matchday_runtime::telemetry::ComputationMetrics;
use matchday_store::Location;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

/// From how many events the projections of leagues that nobody reads may be made, all together: 3 to 5 KB each.
const EVENTS_MAX: u64 = 20_000;
/// What a projection takes without any event, in events.
const EVENTS_MIN: u64 = 50;

pub(super) struct Projections {
    readers: Arc<Readers>,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// By the number of the league, each with when it was last asked for.
    sources: BTreeMap<u32, (Arc<Source>, u64)>,
    asked: u64,
}

impl Projections {
    pub(super) fn new(metrics: &Arc<ComputationMetrics>) -> Self {
        metrics.shown.store(true, Ordering::Relaxed);
        Self {
            readers: Readers::of_this_machine(Arc::clone(metrics)),
            kept: Mutex::default(),
        }
    }

    /// Where the league with this number is read, which does not load it.
    pub(super) fn of_league(
        &self,
        number: u32,
        location: impl FnOnce() -> Location,
    ) -> Arc<Source> {
        let mut kept = lock(&self.kept);
        kept.asked += 1;
        let now = kept.asked;
        let new = || {
            (
                Source::live(location(), Vec::new(), self.readers.of_league()),
                now,
            )
        };
        let (source, asked) = kept.sources.entry(number).or_insert_with(new);
        *asked = now;
        let source = Arc::clone(source);
        kept.evict(EVENTS_MAX);
        source
    }

    /// Forgets a league that was removed.
    pub(super) fn forget(&self, number: u32) {
        lock(&self.kept).sources.remove(&number);
    }
}

impl Kept {
    /// Drops the projections that were not asked for the longest, of those that nobody holds.
    fn evict(&mut self, events_max: u64) {
        let unread = |source: &Arc<Source>| Arc::strong_count(source) == 1;
        let mut idle: Vec<(u64, u32, u64)> = (self.sources.iter())
            .filter(|(_, (source, _))| unread(source))
            .map(|(number, (source, asked))| (*asked, *number, EVENTS_MIN.max(source.events())))
            .collect();
        idle.sort_unstable();
        let mut events: u64 = idle.iter().map(|(_, _, events)| events).sum();
        for (_, number, of_league) in idle {
            if events <= events_max {
                return;
            }
            events -= of_league;
            self.sources.remove(&number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_leagues_that_nobody_reads_only_so_much_is_kept() {
        let projections = Projections::new(&Arc::default());
        let location = || Location::latest("league.db");
        let held = projections.of_league(1, location);
        for number in 2..=5 {
            projections.of_league(number, location);
        }
        projections.of_league(2, location);
        let mut kept = lock(&projections.kept);
        kept.evict(2 * EVENTS_MIN);
        assert_eq!(
            kept.sources.keys().copied().collect::<Vec<u32>>(),
            [1, 2, 5]
        );
        drop((held, kept));
        projections.forget(1);
        assert!(!lock(&projections.kept).sources.contains_key(&1));
    }
}
