//! Glicko-2 ratings by round: a round is a rating period. Pure.

use crate::results::Game;
pub use matchday_rating::Rating;
use std::collections::BTreeMap;

/// The ratings of all players after each round with a match.
pub fn by_round(players: usize, games: &[Game]) -> Vec<(u32, Vec<Rating>)> {
    by_round_from(vec![Rating::default(); players], games)
}

/// The same for a ladder, where a round is a rating period of those who play in it alone.
pub fn of_ladder(players: usize, games: &[Game]) -> Vec<(u32, Vec<Rating>)> {
    history(vec![Rating::default(); players], games, false)
}

/// The same, from given initial ratings.
pub fn by_round_from(start: Vec<Rating>, games: &[Game]) -> Vec<(u32, Vec<Rating>)> {
    history(start, games, true)
}

fn history(start: Vec<Rating>, games: &[Game], absence_counts: bool) -> Vec<(u32, Vec<Rating>)> {
    let mut rounds: BTreeMap<u32, Vec<&Game>> = BTreeMap::new();
    for game in games {
        rounds.entry(game.round).or_default().push(game);
    }
    let mut ratings = start;
    let mut history = Vec::with_capacity(rounds.len());
    for (round, games) in rounds {
        ratings = after_round(&ratings, &games, absence_counts);
        history.push((round, ratings.clone()));
    }
    history
}

/// All matches of a round are rated at once, so their order does not matter.
fn after_round(ratings: &[Rating], games: &[&Game], absence_counts: bool) -> Vec<Rating> {
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
        if matches.is_empty() && !absence_counts {
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

    proptest! {
        #[test]
        fn the_order_within_a_round_is_of_no_matter(games in games(), shuffled in any::<prop::sample::Index>()) {
            let mut others = games.clone();
            if !others.is_empty() {
                let middle = shuffled.index(others.len());
                others.rotate_left(middle);
            }
            let one = by_round(6, &games);
            let other = by_round(6, &others);
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
