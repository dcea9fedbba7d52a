//! The pairing ratings of a ladder, by Glicko-2: a round is a rating period of those who play in it. Pure.

use crate::results::Game;
pub use matchday_rating::Rating;
use std::collections::BTreeMap;

/// The ratings of all players after each round with a match.
pub fn of_ladder(players: usize, games: &[Game]) -> Vec<(u32, Vec<Rating>)> {
    let mut rounds: BTreeMap<u32, Vec<&Game>> = BTreeMap::new();
    for game in games {
        rounds.entry(game.round).or_default().push(game);
    }
    let mut ratings = vec![Rating::default(); players];
    let mut history = Vec::with_capacity(rounds.len());
    for (round, games) in rounds {
        ratings = after_round(&ratings, &games);
        history.push((round, ratings.clone()));
    }
    history
}

/// All matches of a round are rated at once, so their order does not matter.
fn after_round(ratings: &[Rating], games: &[&Game]) -> Vec<Rating> {
    let mut matches: Vec<Vec<(Rating, f64)>> = vec![Vec::new(); ratings.len()];
    for game in games {
        let score = game.verdict.score();
        for (player, opponent, score) in [(game.a, game.b, score), (game.b, game.a, 1.0 - score)] {
            if let (Some(matches), Some(opponent)) =
                (matches.get_mut(player), ratings.get(opponent))
            {
                matches.push((*opponent, score));
            }
        }
    }
    let rated = ratings.iter().zip(&matches).map(|(rating, matches)| {
        if matches.is_empty() {
            *rating
        } else {
            rating.after(matches)
        }
    });
    rated.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Verdict;
    use proptest::prelude::*;

    fn verdict() -> impl Strategy<Value = Verdict> {
        prop_oneof![Just(Verdict::A), Just(Verdict::B), Just(Verdict::Draw)]
    }

    fn games() -> impl Strategy<Value = Vec<Game>> {
        let game = (1_u32..5, 0_usize..6, 1_usize..6, verdict());
        let game = game.prop_map(|(round, a, step, verdict)| Game {
            round,
            a,
            b: (a + step) % 6,
            verdict,
        });
        prop::collection::vec(game, 0..60)
    }

    #[test]
    fn a_player_that_is_away_keeps_its_rating() {
        let game = |round, a, b| Game {
            round,
            a,
            b,
            verdict: Verdict::A,
        };
        let before = of_ladder(3, &[game(1, 0, 1)]);
        let after = of_ladder(3, &[game(1, 0, 1), game(2, 1, 2)]);
        assert_eq!(before[0].1[0], after[1].1[0]);
    }

    proptest! {
        #[test]
        fn the_order_within_a_round_is_of_no_matter(games in games(), shuffled in any::<prop::sample::Index>()) {
            let mut others = games.clone();
            if !others.is_empty() {
                let middle = shuffled.index(others.len());
                others.rotate_left(middle);
            }
            let one = of_ladder(6, &games);
            let other = of_ladder(6, &others);
            prop_assert_eq!(one.len(), other.len());
            for ((round, one), (same, other)) in one.iter().zip(&other) {
                prop_assert_eq!(round, same);
                for (one, other) in one.iter().zip(other) {
                    prop_assert!((one.rating - other.rating).abs() < 1e-6, "{:?} {:?}", one, other);
                }
            }
        }
    }
}
