//! What is said about whole leagues.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may fail by panicking"
)]

use matchday_stats::luck::Meter;
use matchday_stats::rng::SeededRng;
use matchday_stats::{
    ChanceRounds, Entrant, LeagueStatistics, MatchOutcome, Played, Resampling, Results,
};
use proptest::prelude::*;

const QUICK: Resampling = Resampling {
    seed: 5,
    posterior_draws: 100,
    leagues_of_chance: 500,
};

fn id(place: usize) -> String {
    format!("P{:02}", place + 1)
}

fn played(round: u32, a: usize, b: usize, outcome: MatchOutcome) -> Played {
    Played {
        round,
        a: id(a),
        b: id(b),
        outcome,
        forfeited: false,
    }
}

fn league(game: &str, players: usize, matches: Vec<Played>) -> Results {
    let entrant = |place: usize| Entrant {
        rank: place as u32 + 1,
        id: id(place),
        name: format!("Player {place}"),
    };
    Results {
        game: game.to_owned(),
        players: (0..players).map(entrant).collect(),
        matches,
        ladder: false,
    }
}

fn statistics(results: &Results, settings: &Resampling) -> LeagueStatistics {
    LeagueStatistics::of(results, &ChanceRounds::Fixed, settings)
}

/// Even/odd among players who call at random.
fn random_calls(players: usize, legs: u32, seed: u64) -> Results {
    let mut rng = SeededRng::new(seed, 3);
    let mut matches = Vec::new();
    for leg in 0..legs {
        for a in 0..players {
            for b in a + 1..players {
                let outcome = match rng.share() {
                    share if share < 0.25 => MatchOutcome::WonByA,
                    share if share < 0.5 => MatchOutcome::WonByB,
                    _ => MatchOutcome::Drawn,
                };
                matches.push(played(leg + 1, a, b, outcome));
            }
        }
    }
    league("even_odd", players, matches)
}

#[test]
fn a_league_without_a_match_says_so_and_nothing_else() {
    for players in [0, 1, 4] {
        let empty = statistics(&league("even_odd", players, Vec::new()), &QUICK);
        assert_eq!(empty.luck.meter, Meter::NothingYet);
        assert_eq!(
            (empty.players.len(), empty.neighbours.len(), empty.top_two),
            (players, 0, None)
        );
        assert!(
            empty
                .luck
                .sentence
                .starts_with("No match has been played out yet")
        );
        assert!(
            empty
                .players
                .iter()
                .all(|player| player.bradley_terry.is_none() && player.pairing_rating.is_none())
        );
    }
}

#[test]
fn a_forfeit_says_nothing_of_strength() {
    let match_of = |forfeited| Played {
        forfeited,
        ..played(1, 0, 1, MatchOutcome::WonByA)
    };
    let both_away = Played {
        forfeited: true,
        ..played(2, 0, 1, MatchOutcome::LostByBoth)
    };
    let found = statistics(
        &league("even_odd", 2, vec![match_of(true), both_away]),
        &QUICK,
    );
    assert_eq!(
        (found.matches, found.forfeits, found.luck.meter),
        (0, 2, Meter::NothingYet)
    );
    let found = statistics(
        &league("even_odd", 2, vec![match_of(false), match_of(true)]),
        &QUICK,
    );
    assert_eq!(
        (found.matches, found.forfeits, found.players[0].record.wins),
        (1, 1, 1)
    );
}

/// A ladder: everyone beats everyone below, many times over.
#[test]
fn a_league_of_real_differences_is_hardly_luck() {
    let mut matches = Vec::new();
    for round in 1..=6 {
        for a in 0..5 {
            matches.extend((a + 1..5).map(|b| played(round, a, b, MatchOutcome::WonByA)));
        }
    }
    let found = statistics(&league("nim", 5, matches), &QUICK);
    assert_eq!(
        found.luck.meter,
        Meter::HardlyLuck,
        "{}",
        found.luck.sentence
    );
    let ratings: Vec<f64> = found
        .players
        .iter()
        .map(|player| player.bradley_terry.unwrap().rating)
        .collect();
    assert!(
        ratings.is_sorted_by(|one, other| one > other),
        "{ratings:?}"
    );
    assert!(
        found.neighbours.iter().all(|pair| pair.likelihood > 0.9),
        "{:?}",
        found.neighbours
    );
    assert_eq!(
        found.players[0].meter,
        Meter::HardlyLuck,
        "{}",
        found.players[0].sentence
    );
    assert_eq!(
        found.players[4].meter,
        Meter::HardlyLuck,
        "{}",
        found.players[4].sentence
    );
}

/// They stand beside the ratings that are shown, and are updated round by round.
#[test]
fn only_a_ladder_has_pairing_ratings() {
    let matches: Vec<Played> = (1..=6)
        .map(|round| played(round, 0, 1, MatchOutcome::WonByA))
        .collect();
    let league = league("nim", 2, matches);
    assert!(
        statistics(&league, &QUICK).players[0]
            .pairing_rating
            .is_none()
    );
    let ladder = Results {
        ladder: true,
        ..league
    };
    let found = statistics(&ladder, &QUICK);
    let pairing = found.players[0].pairing_rating.as_ref().unwrap();
    assert_eq!(pairing.history.len(), 6);
    assert!(pairing.now.rating > 1600.0 && found.players[0].bradley_terry.is_some());
}

/// Where rounds follow from results and nobody tells how, the table is not judged.
#[test]
fn a_league_of_unknown_rounds_has_no_luck_meter() {
    let results = random_calls(4, 2, 1);
    let found = LeagueStatistics::of(&results, &ChanceRounds::Unknown, &QUICK);
    assert_eq!(
        (found.luck.meter, found.luck.table),
        (Meter::NothingYet, None)
    );
    assert!(found.luck.sentence.contains("matchday stats FILE"));
}

#[test]
fn top_two_who_are_equal_are_never_settled() {
    let draws = (1..=8)
        .map(|round| played(round, 0, 1, MatchOutcome::Drawn))
        .collect();
    let top = statistics(&league("even_odd", 2, draws), &QUICK)
        .top_two
        .unwrap();
    assert_eq!((top.superiority.likelihood, top.more_matches), (0.5, None));
    assert_eq!(top.sentence, "Nothing tells P01 and P02 apart so far.");
}

#[test]
fn statistics_can_be_read_back_from_what_was_written() {
    let found = statistics(&random_calls(4, 3, 3), &QUICK);
    let back: LeagueStatistics =
        serde_json::from_str(&serde_json::to_string(&found).unwrap()).unwrap();
    assert_eq!(
        (back.luck.sentence, back.luck.meter),
        (found.luck.sentence, found.luck.meter)
    );
    for (back, found) in back.players.iter().zip(&found.players) {
        assert_eq!(
            (&back.player_id, back.record, &back.sentence),
            (&found.player_id, found.record, &found.sentence)
        );
    }
}

fn outcome() -> impl Strategy<Value = MatchOutcome> {
    prop_oneof![
        Just(MatchOutcome::WonByA),
        Just(MatchOutcome::WonByB),
        Just(MatchOutcome::Drawn),
        Just(MatchOutcome::LostByBoth)
    ]
}

fn any_league() -> impl Strategy<Value = Results> {
    let one = (1_u32..4, 0_usize..6, 0_usize..6, outcome(), any::<bool>());
    let one = one.prop_map(|(round, a, b, outcome, forfeited)| Played {
        forfeited,
        ..played(round, a, b, outcome)
    });
    (prop::collection::vec(one, 0..40), 0_usize..6)
        .prop_map(|(matches, players)| league("even_odd", players, matches))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Also of leagues that cannot be: players against themselves, players who are not in the table.
    #[test]
    fn whatever_comes_in_chances_are_chances_and_intervals_hold_their_ratings(results in any_league()) {
        let settings = Resampling { seed: 1, posterior_draws: 20, leagues_of_chance: 20 };
        let found = statistics(&results, &settings);
        prop_assert_eq!(&found, &statistics(&results, &settings), "the same seed, the same numbers");
        for player in &found.players {
            for chance in [player.as_good_by_chance, player.as_bad_by_chance] {
                prop_assert!((0.0..=1.0).contains(&chance));
            }
            if let Some(strength) = player.bradley_terry {
                prop_assert!(strength.low.is_finite() && strength.high.is_finite());
                prop_assert!(strength.low <= strength.rating && strength.rating <= strength.high);
            }
        }
        for pair in &found.neighbours {
            prop_assert!((0.0..=1.0).contains(&pair.likelihood));
        }
    }

    #[test]
    fn the_order_of_matches_changes_no_strength(results in any_league()) {
        let mut turned = results.clone();
        turned.matches.reverse();
        let [one, other] = [&results, &turned].map(|results| statistics(results, &QUICK).players);
        for (one, other) in one.iter().zip(&other) {
            let [one, other] = [one, other].map(|player| player.bradley_terry.map_or(0.0, |strength| strength.rating));
            prop_assert!((one - other).abs() < 1e-6);
        }
    }
}
