//! How leagues are shared among processes: by weight, for each form of events among those that can read it. Pure.

use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The weight of a league that is loaded or due within the hour; one that sleeps weighs 1.
pub(super) const AWAKE_WEIGHT: u64 = 16;

/// How many leagues of a form there are, awake and asleep.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) awake: u64,
    pub(super) asleep: u64,
    /// The service's own log: taken as a league that is awake, but no reason to move one.
    pub(super) registry: u64,
}

impl Count {
    fn weight(self) -> u64 {
        self.registry * AWAKE_WEIGHT + self.of_leagues()
    }

    fn of_leagues(self) -> u64 {
        self.awake * AWAKE_WEIGHT + self.asleep
    }
}

/// The leagues of one form of events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Pool {
    pub(super) all: Count,
    /// Nobody's, or of a process whose lease has expired.
    pub(super) orphans: Count,
    /// What each live process has that can read the form.
    pub(super) owned: BTreeMap<String, Count>,
}

/// By form.
pub(super) type Pools = BTreeMap<i32, Pool>;

impl Pool {
    /// An empty pool for those of the live processes that can read the form, each with the newest form that it knows.
    pub(super) fn of(form: i32, live: &[(String, i32)]) -> Self {
        let able = live.iter().filter(|(_, knows)| *knows >= form);
        Self {
            owned: able.map(|(id, _)| (id.clone(), Count::default())).collect(),
            ..Self::default()
        }
    }

    fn own(&self, id: &str) -> u64 {
        self.owned.get(id).map_or(0, |count| count.weight())
    }

    /// What each process should have, rounded up: together they have room for all.
    fn share(&self) -> u64 {
        self.all.weight().div_ceil(self.owned.len().max(1) as u64)
    }

    /// How many orphans this process takes: those that are awake come first, so that the earliest due do.
    pub(super) fn takes(&self, id: &str) -> u64 {
        let room = self.share().saturating_sub(self.own(id));
        let awake = (self.orphans.awake + self.orphans.registry).min(room.div_ceil(AWAKE_WEIGHT));
        let left = room.saturating_sub(awake * AWAKE_WEIGHT);
        awake + self.orphans.asleep.min(left)
    }

    /// The weight that this process has beyond its share: nothing while that is little, so that leagues do not wander.
    pub(super) fn excess(&self, id: &str) -> u64 {
        let own = self.own(id);
        let share = self.share();
        if own > share + share / 10 + AWAKE_WEIGHT {
            return own - share;
        }
        // Of a few leagues one goes from the heaviest process to the lightest if they are more alike then.
        let weights = self
            .owned
            .iter()
            .map(|(id, count)| (count.of_leagues(), Reverse(id.as_str())));
        let (Some((heaviest, Reverse(hands_over))), Some((lightest, _))) =
            (weights.clone().max(), weights.min())
        else {
            return 0;
        };
        let is_apart = heaviest >= lightest + (2 * AWAKE_WEIGHT).max(share / 5);
        if is_apart && hands_over == id {
            AWAKE_WEIGHT
        } else {
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(awake: u64, asleep: u64) -> Count {
        Count {
            awake,
            asleep,
            registry: 0,
        }
    }

    fn add(a: Count, b: Count) -> Count {
        Count {
            registry: a.registry + b.registry,
            ..count(a.awake + b.awake, a.asleep + b.asleep)
        }
    }

    /// Processes `0`, `1` and so on that have so many.
    fn pool(owned: &[Count], orphans: Count) -> Pool {
        let all = owned.iter().copied().fold(orphans, add);
        let owned = owned
            .iter()
            .enumerate()
            .map(|(number, count)| (number.to_string(), *count));
        Pool {
            all,
            orphans,
            owned: owned.collect(),
        }
    }

    #[test]
    fn orphans_are_shared_by_weight_and_none_is_left_over() {
        for processes in 1..5_usize {
            for awake in 0..9 {
                for asleep in [0, 1, 5, 40] {
                    let mut orphans = count(awake, asleep);
                    let mut owned = vec![count(0, 0); processes];
                    for number in 0..processes {
                        let taken = pool(&owned, orphans).takes(&number.to_string());
                        let of_awake = taken.min(orphans.awake);
                        owned[number] = count(of_awake, taken - of_awake);
                        orphans =
                            count(orphans.awake - of_awake, orphans.asleep + of_awake - taken);
                    }
                    assert_eq!(
                        orphans,
                        count(0, 0),
                        "{processes} processes, {awake} awake, {asleep} asleep"
                    );
                }
            }
        }
    }

    #[test]
    fn a_process_that_cannot_read_a_form_has_no_part_in_its_share() {
        let live = [("0".to_owned(), 1), ("1".to_owned(), 2)];
        let share = |form| {
            Pool {
                all: count(10, 0),
                ..Pool::of(form, &live)
            }
            .share()
        };
        assert_eq!((share(1), share(2)), (80, 160));
    }

    #[test]
    fn a_little_too_much_is_kept_and_more_goes_down_to_the_share() {
        let awake = |counts: [u64; 3]| pool(&counts.map(|awake| count(awake, 0)), count(0, 0));
        assert_eq!(awake([11, 10, 10]).excess("0"), 0);
        assert_eq!(awake([15, 15, 0]).excess("0"), 80);
        assert_eq!(awake([110, 100, 95]).excess("0"), 0);
    }

    #[test]
    fn a_league_does_not_leave_for_the_sake_of_the_registry() {
        let with_registry = Count {
            registry: 1,
            ..count(1, 0)
        };
        assert_eq!(
            pool(&[with_registry, count(0, 0)], count(0, 0)).excess("0"),
            0
        );
    }

    #[test]
    fn a_few_leagues_end_up_spread_as_evenly_as_possible() {
        for leagues in 0..12 {
            for first in 0..=leagues {
                let mut owned = [count(first, 0), count(leagues - first, 0), count(0, 0)];
                for _ in 0..12 {
                    for number in 0..3 {
                        let given =
                            pool(&owned, count(0, 0)).excess(&number.to_string()) / AWAKE_WEIGHT;
                        owned[number].awake -= given;
                        let mut orphans = given;
                        for other in (0..3).filter(|other| *other != number) {
                            let taken = pool(&owned, count(orphans, 0)).takes(&other.to_string());
                            owned[other].awake += taken;
                            orphans -= taken;
                        }
                        owned[number].awake += orphans;
                    }
                }
                let awake = owned.map(|count| count.awake);
                let apart = awake.iter().max().unwrap() - awake.iter().min().unwrap();
                assert!(apart <= 1, "{first} of {leagues}: {awake:?}");
            }
        }
    }
}
