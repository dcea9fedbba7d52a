//! Swiss rounds: properties for every size, whatever the results.

use crate::season::{Season, pair, players, the_better};
use matchday_core::entropy::Entropy;
use matchday_core::league::format::{Competition, DrawnRound, Format};
use matchday_core::league::standings::{POINTS_DRAW, POINTS_WIN, Verdict};
use matchday_core::protocol::PlayerId;
use std::collections::{BTreeMap, BTreeSet};

fn swiss() -> Competition {
    Competition::of(Format::Swiss)
}

/// Every small size, and some large ones; few seeds each.
fn sizes() -> impl Iterator<Item = usize> {
    (2..=48).chain([63, 64, 65, 99, 100, 127, 200, 255, 333, 499, 500])
}

fn met(rounds: &[DrawnRound]) -> BTreeMap<(&PlayerId, &PlayerId), u32> {
    let mut met = BTreeMap::new();
    for (a, b) in rounds.iter().flat_map(|round| &round.pairs) {
        *met.entry(pair(a, b)).or_insert(0) += 1;
    }
    met
}

/// Whether the pairs could have been drawn without a rematch, found by trying everything.
fn avoidable(left: &[&PlayerId], met: &BTreeMap<(&PlayerId, &PlayerId), u32>) -> bool {
    let Some((first, rest)) = left.split_first() else {
        return true;
    };
    rest.iter().any(|other| {
        !met.contains_key(&pair(first, other)) && {
            let others: Vec<&PlayerId> = rest.iter().copied().filter(|one| one != other).collect();
            avoidable(&others, met)
        }
    })
}

#[test]
fn everyone_plays_or_sits_out_in_every_round() {
    for count in sizes() {
        let season = Season::by_chance(&swiss(), count, count as u64);
        for round in &season.rounds {
            let mut busy: Vec<_> = round
                .pairs
                .iter()
                .flat_map(|(a, b)| [a, b])
                .chain(&round.byes)
                .cloned()
                .collect();
            busy.sort();
            assert_eq!(busy, players(count), "{count} players");
            assert_eq!(round.byes.len(), count % 2, "{count} players");
        }
    }
}

#[test]
fn nobody_meets_twice_in_leagues_of_six_and_more() {
    for count in sizes().filter(|count| *count >= 6) {
        for seed in 0..3 {
            let season = Season::by_chance(&swiss(), count, seed);
            assert!(
                met(&season.rounds).values().all(|times| *times == 1),
                "{count} players, seed {seed}"
            );
        }
    }
}

#[test]
fn a_rematch_is_drawn_only_where_it_cannot_be_avoided() {
    let mut rematches = 0;
    for count in 2..=9 {
        for seed in 0..60 {
            let most = if count % 2 == 0 { count - 1 } else { count } as u32;
            let competition = Competition {
                rounds: Some(most),
                ..swiss()
            };
            let season = Season::by_chance(&competition, count, seed);
            for number in 1..season.rounds.len() {
                let before = &season.rounds[..number];
                let round = &season.rounds[number];
                let met = met(before);
                if !round
                    .pairs
                    .iter()
                    .any(|(a, b)| met.contains_key(&pair(a, b)))
                {
                    continue;
                }
                rematches += 1;
                let everyone = players(count);
                let had: BTreeSet<_> = before.iter().flat_map(|round| &round.byes).collect();
                let byes: Vec<Option<&PlayerId>> = match count % 2 {
                    0 => vec![None],
                    _ => everyone
                        .iter()
                        .filter(|player| !had.contains(player))
                        .map(Some)
                        .collect(),
                };
                for bye in byes {
                    let left: Vec<_> = everyone
                        .iter()
                        .filter(|player| Some(*player) != bye)
                        .collect();
                    assert!(
                        !avoidable(&left, &met),
                        "{count} players, seed {seed}, round {}",
                        number + 1
                    );
                }
            }
        }
    }
    assert!(rematches > 0, "no league was hard enough to test anything");
}

/// The fewest rematches that a pairing of all can have, found by trying everything.
fn rematches_least(left: &[&PlayerId], met: &BTreeMap<(&PlayerId, &PlayerId), u32>) -> usize {
    let Some((first, rest)) = left.split_first() else {
        return 0;
    };
    let ways = rest.iter().map(|other| {
        let others: Vec<&PlayerId> = rest.iter().copied().filter(|one| one != other).collect();
        usize::from(met.contains_key(&pair(first, other))) + rematches_least(&others, met)
    });
    ways.min().unwrap_or(0)
}

#[test]
fn one_rematch_that_cannot_be_avoided_brings_no_other() {
    let mut some = 0;
    for count in [4, 6, 8] {
        for seed in 0..60 {
            let competition = Competition {
                rounds: Some(count as u32 - 1),
                ..swiss()
            };
            let season = Season::by_chance(&competition, count, seed);
            for number in 1..season.rounds.len() {
                let met = met(&season.rounds[..number]);
                let pairs = &season.rounds[number].pairs;
                let rematches = pairs
                    .iter()
                    .filter(|(a, b)| met.contains_key(&pair(a, b)))
                    .count();
                let everyone = players(count);
                let least = rematches_least(&everyone.iter().collect::<Vec<_>>(), &met);
                assert_eq!(
                    rematches,
                    least,
                    "{count} players, seed {seed}, round {}",
                    number + 1
                );
                some += usize::from((1..count / 2).contains(&rematches));
            }
        }
    }
    assert!(some > 0, "no round had some rematches and some new pairs");
}

#[test]
fn nobody_has_the_same_side_three_times_in_a_row() {
    for count in sizes().filter(|count| (8..=128).contains(count)) {
        for seed in 0..3 {
            let season = Season::by_chance(&swiss(), count, seed);
            let mut sides: BTreeMap<&PlayerId, String> = BTreeMap::new();
            for (a, b) in season.rounds.iter().flat_map(|round| &round.pairs) {
                sides.entry(a).or_default().push('A');
                sides.entry(b).or_default().push('B');
            }
            for (player, sides) in &sides {
                assert!(
                    !sides.contains("AAA") && !sides.contains("BBB"),
                    "{count}, {seed}: {player} {sides}"
                );
            }
        }
    }
}

/// As many rounds as a round robin has: the pairing is hard then, and must still be quick and leave nobody over.
#[test]
fn a_swiss_league_as_long_as_a_round_robin_is_paired_to_its_end() {
    for (count, rounds) in [(24, 23), (25, 25)] {
        let competition = Competition {
            rounds: Some(rounds),
            ..swiss()
        };
        let season = Season::by_chance(&competition, count, 2);
        assert_eq!(season.rounds.len() as u32, rounds);
        assert!(
            season
                .rounds
                .iter()
                .all(|round| round.pairs.len() == count / 2)
        );
        let byes: BTreeSet<_> = season.rounds.iter().flat_map(|round| &round.byes).collect();
        assert_eq!(byes.len(), if count % 2 == 1 { count } else { 0 });
    }
}

#[test]
fn nobody_sits_out_twice() {
    for count in sizes().filter(|count| count % 2 == 1) {
        let season = Season::by_chance(&swiss(), count, 3);
        let byes: Vec<_> = season.rounds.iter().flat_map(|round| &round.byes).collect();
        let once: BTreeSet<_> = byes.iter().collect();
        assert_eq!(byes.len(), once.len(), "{count} players");
    }
}

#[test]
fn sides_stay_within_two_of_each_other() {
    for count in sizes().filter(|count| *count >= 16) {
        for seed in 0..3 {
            let season = Season::by_chance(&swiss(), count, seed);
            let mut balance: BTreeMap<&PlayerId, i32> = BTreeMap::new();
            for (a, b) in season.rounds.iter().flat_map(|round| &round.pairs) {
                *balance.entry(a).or_default() += 1;
                *balance.entry(b).or_default() -= 1;
            }
            let worst = balance.values().map(|sides| sides.abs()).max().unwrap();
            assert!(worst <= 2, "{count} players, seed {seed}: {worst}");
        }
    }
}

/// Where results leave everyone free to meet, a pair never differs by more than one score group from the best there is.
#[test]
fn players_meet_others_of_their_score() {
    for count in [32, 64, 128] {
        let season = Season::by_chance(&swiss(), count, 5);
        let mut points: BTreeMap<&PlayerId, u32> = BTreeMap::new();
        for (round, verdicts) in season.rounds.iter().zip(&season.verdicts) {
            let levels: BTreeSet<u32> = players(count)
                .iter()
                .map(|p| *points.get(p).unwrap_or(&0))
                .collect();
            let crossing: usize = round
                .pairs
                .iter()
                .filter(|(a, b)| points.get(a).unwrap_or(&0) != points.get(b).unwrap_or(&0))
                .count();
            // Each group floats at most its odd player and, late in the league, a few who have all met.
            assert!(
                crossing <= 2 * levels.len(),
                "{count} players: {crossing} pairs across {levels:?}"
            );
            for ((a, b), verdict) in round.pairs.iter().zip(verdicts) {
                let (for_a, for_b) = match verdict.unwrap() {
                    Verdict::WonByA => (POINTS_WIN, 0),
                    Verdict::WonByB => (0, POINTS_WIN),
                    Verdict::Drawn => (POINTS_DRAW, POINTS_DRAW),
                    Verdict::LostByBoth => (0, 0),
                };
                *points.entry(a).or_default() += for_a;
                *points.entry(b).or_default() += for_b;
            }
        }
    }
}

#[test]
fn the_first_round_is_the_upper_half_against_the_lower() {
    let season = Season::play(&swiss(), 8, the_better);
    let first: Vec<String> = season.rounds[0]
        .pairs
        .iter()
        .map(|(a, b)| format!("{a}-{b}"))
        .collect();
    assert_eq!(first, ["P01-P05", "P06-P02", "P03-P07", "P08-P04"]);
}

#[test]
fn where_the_better_always_wins_the_best_is_champion_without_a_loss() {
    for count in 2..=64 {
        let season = Season::play(&swiss(), count, the_better);
        assert_eq!(season.table()[0], "P01", "{count} players");
    }
}

#[test]
fn a_bye_counts_as_a_won_match() {
    let competition = Competition {
        rounds: Some(3),
        ..swiss()
    };
    let season = Season::play(&competition, 3, |_, _| Verdict::Drawn);
    let table = season.draw.standings(&season.played());
    assert!(
        table
            .iter()
            .all(|place| place.tally.played() == 3 && place.tally.points() == 5),
        "{table:?}"
    );
}

#[test]
fn those_who_are_out_are_not_paired() {
    let mut season = Season::new(&swiss(), 9);
    season.step(&mut the_better);
    season.out = [PlayerId::numbered(1), PlayerId::numbered(6)].into();
    while season.step(&mut the_better) {}
    for round in &season.rounds[1..] {
        assert_eq!(round.pairs.len(), 3);
        assert!(
            round
                .pairs
                .iter()
                .all(|(a, b)| !season.out.contains(a) && !season.out.contains(b))
        );
        assert!(round.byes.iter().all(|player| !season.out.contains(player)));
    }
}

#[test]
fn it_ends_when_only_one_is_left() {
    let mut season = Season::new(&swiss(), 4);
    season.step(&mut the_better);
    season.out = [2, 3, 4].map(PlayerId::numbered).into();
    assert!(!season.step(&mut the_better));
}

#[test]
fn the_same_results_give_the_same_rounds() {
    let mut chance = Entropy::numbered(1);
    for count in [7, 30, 101] {
        let seed = chance.next_u64();
        let (one, other) = (
            Season::by_chance(&swiss(), count, seed),
            Season::by_chance(&swiss(), count, seed),
        );
        assert_eq!(one.rounds, other.rounds);
    }
}

#[test]
fn as_many_rounds_are_played_as_were_said_beforehand() {
    for count in sizes() {
        for matches_per_pairing in [1, 2] {
            let competition = Competition {
                matches_per_pairing,
                ..swiss()
            };
            let season = Season::by_chance(&competition, count, 1);
            assert_eq!(
                season.rounds.len() as u32,
                season.draw.rounds_in_all(&[]),
                "{count} players"
            );
        }
    }
}
