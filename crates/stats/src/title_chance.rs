//! How likely each player is to end first: the matches that are left are played very often, by chance and the ratings of now.
//! Pure.

use crate::elo;
use crate::glicko::Rating;
use crate::null_model::ResultProbabilities;
use crate::results::Verdict;
use crate::rng::SeededRng;

/// A league that is being played: what each player has, and who still meets whom. Players are indices.
#[derive(Debug, Clone, Default)]
pub struct Remaining {
    pub points: Vec<u32>,
    pub ratings: Vec<Rating>,
    /// The matches that are not decided.
    pub matches: Vec<(usize, usize)>,
    /// Which part of the matches is drawn.
    pub draws: f64,
}

/// What a win and a draw are worth.
const WIN: u32 = 3;
const DRAW: u32 = 1;
/// How often the rest of a league is played.
const LEAGUES_MAX: usize = 2000;
/// How many matches are played in all of these together, unless a league has more.
const MATCHES_MAX: usize = 400_000;
/// The stream of random numbers that no other purpose has.
const PURPOSE: u64 = 0x7469_746c;

impl Remaining {
    /// The chance of each player; those who share the first place share the title.
    pub fn title_chances(&self, seed: u64) -> Vec<f64> {
        let leagues = (MATCHES_MAX / self.matches.len().max(1)).clamp(1, LEAGUES_MAX);
        let mut rng = SeededRng::new(seed, PURPOSE);
        let mut chances = vec![0.0; self.points.len()];
        for _ in 0..leagues {
            let points = self.played_on(&mut rng);
            let best = points.iter().max();
            let first: Vec<usize> = (0..points.len())
                .filter(|player| points.get(*player) == best)
                .collect();
            for player in &first {
                if let Some(chance) = chances.get_mut(*player) {
                    *chance += 1.0 / first.len() as f64;
                }
            }
        }
        for chance in &mut chances {
            *chance /= leagues as f64;
        }
        chances
    }

    /// The points at the end of one league. How strong a player is, is as uncertain as its rating.
    fn played_on(&self, rng: &mut SeededRng) -> Vec<u32> {
        let strengths: Vec<f64> = self
            .ratings
            .iter()
            .map(|rating| rating.rating + rating.deviation * rng.normal())
            .collect();
        let mut points = self.points.clone();
        for (a, b) in &self.matches {
            let strength = |player: &usize| strengths.get(*player).copied().unwrap_or_default();
            let share = elo::to_score(strength(a) - strength(b));
            let result = ResultProbabilities {
                win: share * (1.0 - self.draws),
                draw: self.draws,
                loss: (1.0 - share) * (1.0 - self.draws),
            };
            let (to_a, to_b) = match rng.verdict(result) {
                Verdict::A => (WIN, 0),
                Verdict::B => (0, WIN),
                Verdict::Draw => (DRAW, DRAW),
            };
            for (player, gained) in [(a, to_a), (b, to_b)] {
                if let Some(sum) = points.get_mut(*player) {
                    *sum += gained;
                }
            }
        }
        points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(players: usize) -> Vec<Rating> {
        vec![Rating::default(); players]
    }

    #[test]
    fn who_cannot_be_caught_has_won() {
        let league = Remaining {
            points: vec![9, 3, 0],
            ratings: level(3),
            matches: vec![(1, 2)],
            draws: 0.2,
        };
        assert_eq!(league.title_chances(1), [1.0, 0.0, 0.0]);
    }

    #[test]
    fn the_level_share_the_title() {
        let league = Remaining {
            points: vec![3, 3],
            ratings: level(2),
            ..Remaining::default()
        };
        let chances = league.title_chances(1);
        assert!(chances.iter().all(|chance| (chance - 0.5).abs() < 1e-9));
    }

    #[test]
    fn the_stronger_is_likelier_and_all_chances_are_one() {
        let strong = Rating {
            rating: 1900.0,
            deviation: 50.0,
            ..Rating::default()
        };
        let league = Remaining {
            points: vec![0, 0, 0],
            ratings: [vec![strong], level(2)].concat(),
            matches: vec![(0, 1), (1, 2), (0, 2)],
            draws: 0.1,
        };
        let chances = league.title_chances(7);
        assert!((chances.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(chances[0] > 0.6, "{chances:?}");
        assert_eq!(chances, league.title_chances(7));
    }
}
