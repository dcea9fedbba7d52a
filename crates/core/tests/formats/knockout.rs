//! The knockout: the bracket is sound for every size, and exactly one is left.

use crate::season::{Season, pair, the_better};
use matchday_core::league::format::knockout::bracket_order;
use matchday_core::league::format::{Competition, Format};
use matchday_core::league::standings::Verdict;
use matchday_core::protocol::PlayerId;
use std::collections::{BTreeMap, BTreeSet};

fn knockout() -> Competition {
    Competition::of(Format::Knockout)
}

#[test]
fn the_first_seeds_are_kept_apart_as_long_as_can_be() {
    assert_eq!(bracket_order(8), [0, 7, 3, 4, 1, 6, 2, 5]);
    for power in 0..9 {
        let order = bracket_order(1 << power);
        for stage in 0..=power {
            // The best 2^stage seeds are each alone in their part of the bracket.
            for part in order.chunks(order.len() >> stage) {
                assert_eq!(part.iter().filter(|seed| **seed < 1 << stage).count(), 1);
            }
        }
    }
}

#[test]
fn where_the_better_always_wins_the_table_is_the_seeding_by_stages() {
    for count in 2..=130 {
        let season = Season::play(&knockout(), count, the_better);
        let table = season.table();
        assert_eq!(table[0], "P01");
        assert_eq!(table[1], "P02");
        let mut semifinalists: Vec<_> = table.iter().skip(2).take(2).map(String::as_str).collect();
        semifinalists.sort_unstable();
        assert_eq!(
            semifinalists,
            ["P03", "P04"][..semifinalists.len()],
            "{count} players"
        );
    }
}

#[test]
fn the_best_seeds_go_through_the_first_stage_without_play() {
    for count in 2..=130_usize {
        let season = Season::play(&knockout(), count, the_better);
        let mut byes = season.rounds[0].byes.clone();
        byes.sort();
        let empty = count.next_power_of_two() - count;
        let best: Vec<_> = (1..=empty)
            .map(|number| PlayerId::numbered(number as u32))
            .collect();
        assert_eq!(byes, best, "{count} players");
        assert!(season.rounds[1..].iter().all(|round| round.byes.is_empty()));
    }
}

/// A player that lost a tie is not seen again, and only one has lost none.
#[test]
fn exactly_one_is_left_and_the_beaten_do_not_come_back() {
    for count in 2..=70 {
        for (matches_per_pairing, seed) in [(1, 1), (1, 2), (2, 3), (3, 4), (5, 5)] {
            let competition = Competition {
                matches_per_pairing,
                ..knockout()
            };
            let season = Season::by_chance(&competition, count, seed);
            let mut seen: BTreeMap<u32, BTreeSet<&PlayerId>> = BTreeMap::new();
            for round in &season.rounds {
                let present = round
                    .pairs
                    .iter()
                    .flat_map(|(a, b)| [a, b])
                    .chain(&round.byes);
                seen.entry(round.stage).or_default().extend(present);
            }
            let stages: Vec<_> = seen.into_values().collect();
            for (earlier, later) in stages.iter().zip(&stages[1..]) {
                assert!(later.is_subset(earlier));
                assert_eq!(later.len() * 2, earlier.len().next_power_of_two());
            }
            assert_eq!(stages.last().unwrap().len(), 2);
            assert!(
                stages
                    .last()
                    .unwrap()
                    .iter()
                    .any(|player| player.as_str() == season.table()[0])
            );
        }
    }
}

#[test]
fn a_tie_ends_as_soon_as_it_is_decided() {
    let competition = Competition {
        matches_per_pairing: 5,
        ..knockout()
    };
    let season = Season::play(&competition, 4, the_better);
    let titles: Vec<_> = season
        .rounds
        .iter()
        .map(|round| round.title.as_str())
        .collect();
    assert_eq!(
        titles,
        [
            "Semifinals, game 1 of 5",
            "Semifinals, game 2 of 5",
            "Semifinals, game 3 of 5",
            "Final, game 1 of 5",
            "Final, game 2 of 5",
            "Final, game 3 of 5"
        ]
    );
}

#[test]
fn only_the_ties_that_are_level_are_played_again() {
    let mut games = 0;
    let season = Season::play(&knockout(), 4, |a, b| {
        games += 1;
        if games == 1 {
            Verdict::Drawn
        } else {
            the_better(a, b)
        }
    });
    let rounds: Vec<_> = season
        .rounds
        .iter()
        .map(|round| format!("{}: {}", round.title, round.pairs.len()))
        .collect();
    assert_eq!(
        rounds,
        [
            "Semifinals: 2",
            "Semifinals, played again (1): 1",
            "Final: 1"
        ]
    );
    let first = &season.rounds[0].pairs[0];
    let again = &season.rounds[1].pairs[0];
    assert_eq!(
        (&first.0, &first.1),
        (&again.1, &again.0),
        "sides alternate"
    );
}

#[test]
fn a_tie_that_stays_level_is_decided_by_lot_and_says_so() {
    let season = Season::play(&knockout(), 8, |_, _| Verdict::Drawn);
    assert_eq!(season.rounds.len(), 3 * (1 + 3));
    let lots = season.draw.lots(&season.played());
    assert_eq!(lots.len(), 7);
    assert_eq!(lots.last().unwrap().winner.as_str(), season.table()[0]);
    for (lot, next) in lots.iter().zip(&lots[4..]) {
        assert!(lot.stage < next.stage);
    }
}

#[test]
fn lots_are_even() {
    let mut upper = 0;
    for seed in 0..400 {
        let players = [PlayerId::numbered(1), PlayerId::numbered(2)];
        let competition = Competition {
            replays: 0,
            ..knockout()
        };
        let draw = matchday_core::league::Draw::begin(&competition, &players, &[], seed).unwrap();
        let round = draw.next(&[], &BTreeSet::new()).remove(0);
        let played = [matchday_core::league::format::PlayedRound {
            drawn: &round,
            verdicts: vec![Some(Verdict::Drawn)],
        }];
        upper += usize::from(draw.lots(&played)[0].winner == players[0]);
    }
    assert!((150..250).contains(&upper), "{upper} of 400");
}

#[test]
fn the_beaten_semifinalists_play_for_the_third_place_if_that_is_wanted() {
    let competition = Competition {
        third_place: true,
        ..knockout()
    };
    let season = Season::play(&competition, 8, |a, b| {
        // P04 beats P03, against the seeding.
        let upset = pair(a, b) == (&PlayerId::numbered(3), &PlayerId::numbered(4));
        match (the_better(a, b), upset) {
            (Verdict::WonByA, true) => Verdict::WonByB,
            (Verdict::WonByB, true) => Verdict::WonByA,
            (verdict, _) => verdict,
        }
    });
    let last = season.rounds.last().unwrap();
    assert_eq!(last.title, "Final and third place");
    assert_eq!(last.pairs.len(), 2);
    assert_eq!(season.table()[..4], ["P01", "P02", "P04", "P03"]);
}

#[test]
fn the_number_of_rounds_said_beforehand_is_the_least_there_can_be() {
    for count in 2..=40 {
        for matches_per_pairing in [1, 2, 3, 4] {
            let competition = Competition {
                matches_per_pairing,
                ..knockout()
            };
            let shortest = Season::play(&competition, count, the_better);
            assert_eq!(
                shortest.draw.rounds_in_all(&[]),
                shortest.rounds.len() as u32,
                "{count} players"
            );
            let season = Season::by_chance(&competition, count, 9);
            let played = season.played();
            let mut before = 0;
            for number in 0..=played.len() {
                let said = season.draw.rounds_in_all(&played[..number]);
                assert!(
                    before <= said && said <= played.len() as u32,
                    "{count} players"
                );
                before = said;
            }
            assert_eq!(before, played.len() as u32);
        }
    }
}
