//! Groups and a knockout.

use crate::season::{Season, pair, the_better};
use matchday_core::league::format::{Competition, Format, Impossible};
use std::collections::BTreeMap;

fn of(groups: u32, qualifiers: u32) -> Competition {
    Competition {
        groups: Some(groups),
        qualifiers: Some(qualifiers),
        ..Competition::of(Format::GroupsKnockout)
    }
}

fn every_shape(check: impl Fn(usize, &Competition)) {
    for count in 4..=40 {
        for (groups, qualifiers) in [
            (2, 1),
            (2, 2),
            (3, 1),
            (3, 2),
            (4, 2),
            (5, 2),
            (4, 3),
            (8, 2),
            (1, 2),
        ] {
            let competition = of(groups, qualifiers);
            if competition.check_for(count).is_ok() {
                check(count, &competition);
            }
        }
    }
}

#[test]
fn seeds_go_into_the_groups_like_a_snake() {
    let season = Season::new(&of(4, 2), 10);
    let groups: Vec<Vec<String>> = season
        .draw
        .groups()
        .iter()
        .map(|group| group.iter().map(ToString::to_string).collect())
        .collect();
    assert_eq!(
        groups,
        [
            vec!["P01", "P08", "P09"],
            vec!["P02", "P07", "P10"],
            vec!["P03", "P06"],
            vec!["P04", "P05"]
        ]
    );
}

#[test]
fn each_pair_of_a_group_meets_once_and_nobody_is_in_two_matches_of_a_round() {
    every_shape(|count, competition| {
        let season = Season::by_chance(competition, count, 2);
        let group_of: BTreeMap<_, _> = (0..)
            .zip(season.draw.groups())
            .flat_map(|(number, group)| group.into_iter().map(move |player| (player, number)))
            .collect();
        let mut met: BTreeMap<_, u32> = BTreeMap::new();
        for round in &season.rounds {
            let mut busy: Vec<_> = round
                .pairs
                .iter()
                .flat_map(|(a, b)| [a, b])
                .chain(&round.byes)
                .collect();
            busy.sort();
            busy.dedup();
            assert_eq!(busy.len(), round.pairs.len() * 2 + round.byes.len());
            for (a, b) in round
                .pairs
                .iter()
                .filter(|_| round.title.starts_with("Group"))
            {
                assert_eq!(group_of[a], group_of[b]);
                *met.entry(pair(a, b)).or_default() += 1;
            }
        }
        let pairs: usize = season
            .draw
            .groups()
            .iter()
            .map(|group| group.len() * (group.len() - 1) / 2)
            .sum();
        assert_eq!(met.len(), pairs);
        assert!(met.values().all(|times| *times == 1));
    });
}

#[test]
fn the_best_of_each_group_go_through_and_the_first_meetings_are_across_groups() {
    every_shape(|count, competition| {
        let season = Season::by_chance(competition, count, 4);
        let group_of: BTreeMap<_, _> = (0..)
            .zip(season.draw.groups())
            .flat_map(|(number, group)| group.into_iter().map(move |player| (player, number)))
            .collect();
        let knockout = season
            .rounds
            .iter()
            .find(|round| !round.title.starts_with("Group"))
            .unwrap();
        let through = knockout.pairs.len() * 2 + knockout.byes.len();
        let groups = competition.groups.unwrap();
        let qualifiers = competition.qualifiers.unwrap();
        assert_eq!(
            through as u32,
            groups * qualifiers,
            "{count} players: {competition:?}"
        );
        let mut of_group: BTreeMap<i32, u32> = BTreeMap::new();
        for player in knockout
            .pairs
            .iter()
            .flat_map(|(a, b)| [a, b])
            .chain(&knockout.byes)
        {
            *of_group.entry(group_of[player]).or_default() += 1;
        }
        assert!(of_group.values().all(|through| *through == qualifiers));
        if groups > 1 {
            assert!(
                knockout
                    .pairs
                    .iter()
                    .all(|(a, b)| group_of[a] != group_of[b]),
                "{count}: {knockout:?}"
            );
        }
    });
}

#[test]
fn where_the_better_always_wins_the_first_seed_is_champion_and_those_left_out_follow() {
    every_shape(|count, competition| {
        let season = Season::play(competition, count, the_better);
        let table = season.table();
        assert_eq!(table[0], "P01", "{count} players: {competition:?}");
        let through = (competition.groups.unwrap() * competition.qualifiers.unwrap()) as usize;
        let firsts: Vec<String> = season
            .draw
            .groups()
            .iter()
            .flat_map(|group| group.iter().skip(competition.qualifiers.unwrap() as usize))
            .map(ToString::to_string)
            .collect();
        assert!(
            table[through..]
                .iter()
                .all(|player| firsts.contains(player))
        );
    });
}

#[test]
fn the_number_of_rounds_is_known_but_for_ties_that_are_played_again() {
    every_shape(|count, competition| {
        let season = Season::play(competition, count, the_better);
        assert_eq!(
            season.draw.rounds_in_all(&[]),
            season.rounds.len() as u32,
            "{count}: {competition:?}"
        );
    });
}

#[test]
fn without_settings_groups_are_of_about_four_and_the_knockout_has_no_byes() {
    for count in 4..=64 {
        let season = Season::play(&Competition::of(Format::GroupsKnockout), count, the_better);
        let knockout = season
            .rounds
            .iter()
            .find(|round| !round.title.starts_with("Group"))
            .unwrap();
        assert!(knockout.byes.is_empty());
        assert!(
            season
                .draw
                .groups()
                .iter()
                .all(|group| (4..=8).contains(&group.len()))
        );
    }
}

#[test]
fn too_many_groups_are_refused() {
    let error = of(5, 2).check_for(9).unwrap_err();
    assert_eq!(
        error,
        Impossible::GroupsTooSmall {
            players: 9,
            groups: 5,
            least: 2,
            most: 4
        }
    );
}
