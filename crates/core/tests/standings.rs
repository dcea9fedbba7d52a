//! The table: what it counts, how ties are broken, and what it says about why.

use matchday_core::league::TieBreak;
use matchday_core::league::standings::{CountedMatch, LEVEL, Place, Verdict, compute};
use matchday_core::protocol::PlayerId;
use proptest::prelude::*;

fn player(number: u32) -> PlayerId {
    PlayerId::numbered(number)
}

/// Results as (A, B, verdict), with every technical flag off.
fn rank(players: u32, results: &[(u32, u32, Verdict)]) -> Vec<Place> {
    let ids: Vec<PlayerId> = (1..=players).map(player).collect();
    let pairs: Vec<_> = results
        .iter()
        .map(|(a, b, verdict)| (player(*a), player(*b), *verdict))
        .collect();
    let counted = pairs.iter().map(|(a, b, verdict)| CountedMatch {
        a,
        b,
        verdict: *verdict,
        technical: false,
    });
    compute(&ids, counted, &TieBreak::DEFAULT)
}

/// "P01 9 ahead of P02 on points", a line a place.
fn read(places: &[Place]) -> Vec<String> {
    places
        .iter()
        .map(|place| {
            let ahead = place
                .ahead
                .as_ref()
                .map(|ahead| format!(" {ahead}"))
                .unwrap_or_default();
            format!("{} {}{ahead}", place.player, place.tally.points())
        })
        .collect()
}

use Verdict::{Drawn, LostByBoth, WonByA, WonByB};

#[test]
fn more_points_stand_ahead() {
    let places = rank(3, &[(1, 2, WonByB), (2, 3, Drawn)]);
    assert_eq!(
        read(&places),
        [
            "P02 4 ahead of P03 on points",
            "P03 1 ahead of P01 on points",
            "P01 0"
        ]
    );
}

#[test]
fn equal_points_are_told_apart_by_the_match_between_them() {
    let places = rank(
        4,
        &[
            (1, 2, WonByB),
            (1, 3, WonByA),
            (2, 4, WonByB),
            (3, 4, WonByA),
        ],
    );
    assert_eq!(
        read(&places),
        [
            "P01 3 level with P02",
            "P02 3 level with P03",
            "P03 3 level with P04",
            "P04 3"
        ],
        "a ring of four leaves head-to-head, percentage, wins and draws all equal"
    );
    let places = rank(3, &[(1, 2, WonByB), (1, 3, WonByA), (2, 3, LostByBoth)]);
    assert_eq!(
        read(&places),
        [
            "P02 3 ahead of P01 on head-to-head",
            "P01 3 ahead of P03 on points",
            "P03 0"
        ]
    );
}

#[test]
fn head_to_head_counts_only_matches_among_the_tied() {
    // P01, P02 and P03 have 6 points each. Among themselves P03 has 6, P01 3, P02 0; P04 and P05 do not matter.
    let places = rank(
        5,
        &[
            (3, 1, WonByA),
            (3, 2, WonByA),
            (1, 2, WonByA),
            (1, 4, WonByA),
            (2, 4, WonByA),
            (2, 5, WonByA),
        ],
    );
    let order: Vec<_> = read(&places).into_iter().take(3).collect();
    assert_eq!(
        order,
        [
            "P03 6 ahead of P01 on head-to-head",
            "P01 6 ahead of P02 on head-to-head",
            "P02 6 ahead of P04 on points"
        ]
    );
}

/// P01 to P04 have 7 points each: among themselves 7, 3, 3 and 4. P03 has beaten P02, who has the greater share of wins.
#[test]
fn head_to_head_is_applied_again_to_those_still_level_after_it() {
    let places = rank(
        8,
        &[
            (1, 2, WonByA),
            (1, 3, WonByA),
            (1, 4, Drawn),
            (3, 2, WonByA),
            (2, 4, WonByA),
            (4, 3, WonByA),
            (4, 5, WonByA),
            (2, 5, WonByA),
            (2, 6, Drawn),
            (3, 5, Drawn),
            (3, 6, Drawn),
            (3, 7, Drawn),
            (3, 8, Drawn),
        ],
    );
    let order: Vec<_> = read(&places).into_iter().take(4).collect();
    assert_eq!(
        order,
        [
            "P01 7 ahead of P04 on head-to-head",
            "P04 7 ahead of P03 on head-to-head",
            "P03 7 ahead of P02 on head-to-head",
            "P02 7 ahead of P06 on points"
        ]
    );
}

#[test]
fn then_the_share_of_wins_decides() {
    // Both have 3 points and have not met: one win in one match against three draws.
    let places = rank(
        6,
        &[(1, 3, Drawn), (1, 4, Drawn), (1, 5, Drawn), (2, 6, WonByA)],
    );
    assert_eq!(
        read(&places)[..2],
        [
            "P02 3 ahead of P01 on win percentage",
            "P01 3 ahead of P03 on points"
        ]
    );
}

#[test]
fn a_double_forfeit_is_a_loss_for_both() {
    let places = rank(2, &[(1, 2, LostByBoth)]);
    for place in &places {
        assert_eq!(
            (
                place.tally.played(),
                place.tally.losses,
                place.tally.points()
            ),
            (1, 1, 0)
        );
    }
}

#[test]
fn a_league_without_results_stands_in_the_order_of_ids() {
    assert_eq!(
        read(&rank(3, &[])),
        ["P01 0 level with P02", "P02 0 level with P03", "P03 0"]
    );
}

#[test]
fn level_players_share_a_rank_and_the_next_ranks_are_left_out() {
    let ranks = |places: Vec<Place>| places.iter().map(|place| place.rank).collect::<Vec<_>>();
    assert_eq!(
        ranks(rank(4, &[(1, 2, Drawn), (3, 4, WonByB)])),
        [1, 2, 2, 4]
    );
    assert_eq!(ranks(rank(3, &[])), [1, 1, 1]);
}

#[test]
fn an_empty_league_has_an_empty_table() {
    assert!(rank(0, &[]).is_empty());
}

#[test]
fn the_order_of_tie_breaks_is_a_setting() {
    // Both have 3 points and have not met: three draws against one win.
    let results = [(1, 3, Drawn), (1, 4, Drawn), (1, 5, Drawn), (2, 6, WonByA)];
    let first = |rules: &[TieBreak]| {
        let ids: Vec<PlayerId> = (1..=6).map(player).collect();
        let pairs = results.map(|(a, b, verdict)| (player(a), player(b), verdict));
        let counted = pairs.iter().map(|(a, b, verdict)| CountedMatch {
            a,
            b,
            verdict: *verdict,
            technical: false,
        });
        read(&compute(&ids, counted, rules))[0].clone()
    };
    assert_eq!(first(&[TieBreak::Wins]), "P02 3 ahead of P01 on wins");
    assert_eq!(
        first(&[TieBreak::FewerDraws, TieBreak::Wins]),
        "P02 3 ahead of P01 on fewer draws"
    );
    assert_eq!(first(&[TieBreak::HeadToHead]), "P01 3 level with P02");
    assert_eq!(first(&[]), "P01 3 level with P02");
}

fn verdicts() -> impl Strategy<Value = Verdict> {
    prop_oneof![Just(WonByA), Just(WonByB), Just(Drawn), Just(LostByBoth)]
}

fn leagues() -> impl Strategy<Value = (u32, Vec<(u32, u32, Verdict)>)> {
    (2_u32..12).prop_flat_map(|players| {
        let pairs: Vec<(u32, u32)> = (1..=players)
            .flat_map(|a| (a + 1..=players).map(move |b| (a, b)))
            .collect();
        let count = pairs.len();
        (
            proptest::collection::vec(proptest::option::of(verdicts()), count),
            Just(pairs),
            Just(players),
        )
            .prop_map(|(verdicts, pairs, players)| {
                let played = pairs.into_iter().zip(verdicts);
                (
                    players,
                    played
                        .filter_map(|((a, b), verdict)| Some((a, b, verdict?)))
                        .collect(),
                )
            })
    })
}

proptest! {
    #[test]
    fn every_player_has_one_place_and_matches_add_up((players, results) in leagues()) {
        let places = rank(players, &results);
        let mut ids: Vec<_> = places.iter().map(|place| place.player.clone()).collect();
        ids.sort();
        prop_assert_eq!(ids, (1..=players).map(player).collect::<Vec<_>>());
        let played: u32 = places.iter().map(|place| place.tally.played()).sum();
        prop_assert_eq!(played as usize, results.len() * 2);
        for place in &places {
            prop_assert_eq!(place.tally.points(), place.tally.wins * 3 + place.tally.draws);
        }
    }

    #[test]
    fn points_never_rise_down_the_table_and_each_reason_is_true((players, results) in leagues()) {
        let places = rank(players, &results);
        for pair in places.windows(2) {
            let upper = &pair[0];
            let lower = &pair[1];
            let ahead = upper.ahead.as_ref().unwrap();
            prop_assert_eq!(&ahead.of, &lower.player);
            prop_assert_eq!(ahead.on == LEVEL, upper.rank == lower.rank);
            let by_points = upper.tally.points() > lower.tally.points();
            prop_assert_eq!(by_points, ahead.on == "points");
            prop_assert!(by_points || upper.tally.points() == lower.tally.points());
            match ahead.on {
                "wins" => prop_assert!(upper.tally.wins > lower.tally.wins),
                "fewer draws" => prop_assert!(upper.tally.draws < lower.tally.draws),
                LEVEL => prop_assert!(upper.player < lower.player),
                _ => {}
            }
        }
    }

    #[test]
    fn the_order_in_which_results_arrive_does_not_matter(
        (players, results) in leagues(),
        seed in any::<u64>(),
    ) {
        let mut shuffled = results.clone();
        let mut entropy = matchday_core::entropy::Entropy::numbered(seed);
        for last in (1..shuffled.len()).rev() {
            shuffled.swap(last, entropy.below(last as u64 + 1) as usize);
        }
        prop_assert_eq!(rank(players, &results), rank(players, &shuffled));
    }
}
