//! How leagues are shared among processes: by weight, for each form of events among those that can read it. Pure.

use std::collections::BTreeMap;

/// The weight of a league that is loaded or due within the hour; one that sleeps weighs 1.
pub(super) const AWAKE_WEIGHT: u64 = 16;

/// How many leagues of a form there are, awake and asleep.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) awake: u64,
    pub(super) asleep: u64,
}

impl Count {
    pub(super) fn weight(self) -> u64 {
        self.awake * AWAKE_WEIGHT + self.asleep
    }
}

/// The leagues of one form of events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Pool {
    pub(super) all: Count,
    pub(super) own: Count,
    /// Nobody's, or of a process whose lease has expired.
    pub(super) orphans: Count,
}

/// By form.
pub(super) type Pools = BTreeMap<i32, Pool>;

impl Pool {
    /// What each of the processes that can read its form should have, rounded up: together they have room for all.
    pub(super) fn share(&self, form: i32, processes: &[i32]) -> u64 {
        let able = processes.iter().filter(|knows| **knows >= form).count().max(1);
        self.all.weight().div_ceil(able as u64)
    }

    /// How many orphans this process takes: those that are awake come first, so that the earliest due do.
    pub(super) fn takes(&self, share: u64) -> u64 {
        let room = share.saturating_sub(self.own.weight());
        let awake = self.orphans.awake.min(room.div_ceil(AWAKE_WEIGHT));
        let left = room.saturating_sub(awake * AWAKE_WEIGHT);
        awake + self.orphans.asleep.min(left)
    }

    /// The weight that this process has beyond its share: nothing while that is little, so that leagues do not wander.
    pub(super) fn excess(&self, share: u64) -> u64 {
        let own = self.own.weight();
        if own > share + share / 10 + AWAKE_WEIGHT { own - share } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(awake: u64, asleep: u64) -> Count {
        Count { awake, asleep }
    }

    #[test]
    fn orphans_are_shared_by_weight_and_none_is_left_over() {
        for processes in 1..5_usize {
            for awake in 0..9 {
                for asleep in [0, 1, 5, 40] {
                    let all = count(awake, asleep);
                    let mut orphans = all;
                    for _ in 0..processes {
                        let pool = Pool { all, own: count(0, 0), orphans };
                        let mut taken = pool.takes(pool.share(1, &vec![1; processes]));
                        let of_awake = taken.min(orphans.awake);
                        taken -= of_awake;
                        orphans = count(orphans.awake - of_awake, orphans.asleep - taken);
                    }
                    assert_eq!(orphans, count(0, 0), "{processes} processes, {awake} awake, {asleep} asleep");
                }
            }
        }
    }

    #[test]
    fn a_process_that_cannot_read_a_form_has_no_part_in_its_share() {
        let pool = Pool { all: count(10, 0), ..Pool::default() };
        assert_eq!((pool.share(1, &[1, 2]), pool.share(2, &[1, 2])), (80, 160));
    }

    #[test]
    fn a_little_too_much_is_kept_and_more_goes_down_to_the_share() {
        let pool = |awake| Pool { all: count(30, 0), own: count(awake, 0), ..Pool::default() };
        assert_eq!(pool(11).excess(160), 0);
        assert_eq!(pool(15).excess(160), 80);
    }
}
