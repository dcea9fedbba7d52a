//! Two players of a league: which one is better, and how sure that is. Pure.

use crate::bradley_terry::{Model, Prior, Superiority};
use crate::results::{Results, Wdl};
use crate::sample_size::{SETTLED, matches_needed};
use crate::sentences;
use crate::spread::{self, Hyperprior};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeadToHead {
    pub players: [String; 2],
    pub names: [String; 2],
    /// Of the first, in the matches against the second.
    pub record: Wdl,
    /// By Bradley and Terry, of both; none before the first match of the league.
    pub ratings: Option<[f64; 2]>,
    /// What the first may expect of a match by both strengths: 1 for a win, 1/2 for a draw.
    pub expected_score: f64,
    /// How likely it is that the first is the stronger one, by all results of the league (Bradley-Terry).
    pub likelihood: f64,
    /// How many more matches between them would show it; `None` if they are too close.
    pub more_matches: Option<u64>,
    /// For people.
    pub sentence: String,
}

impl HeadToHead {
    /// `None` if one of them is not in the league.
    pub fn of(results: &Results, first: &str, second: &str) -> Option<Self> {
        let place = |id: &str| results.players.iter().position(|player| player.id == id);
        let a = place(first)?;
        let b = place(second)?;
        let games = results.games();
        let count = results.players.len();
        let model = Model::of(count, &games, Prior::default());
        let fit = if games.is_empty() {
            None
        } else {
            spread::fit(&model, Hyperprior::Uniform)
        };
        let likelihood = fit.as_ref().map_or(0.5, |fit| fit.superiority(a, b));
        let chance = fit.as_ref().map(|fit| fit.chance(a, b));
        let is_settled = likelihood >= SETTLED || likelihood <= 1.0 - SETTLED;
        let more_matches = if is_settled {
            Some(0)
        } else {
            chance.and_then(matches_needed)
        };
        let ratings = fit.as_ref().and_then(|fit| {
            let rating = |place| fit.ratings().nth(place);
            Some([rating(a)?, rating(b)?])
        });
        let mut record = Wdl::default();
        for game in games
            .iter()
            .filter(|game| [game.a, game.b] == [a, b] || [game.b, game.a] == [a, b])
        {
            let mut single = Wdl::default();
            single.count(game.verdict);
            let single = if game.a == a {
                single
            } else {
                single.reversed()
            };
            record.wins += single.wins;
            record.draws += single.draws;
            record.losses += single.losses;
        }
        let superiority = Superiority {
            ahead: first.to_owned(),
            behind: second.to_owned(),
            likelihood,
        };
        let pure_luck = sentences::is_pure_luck(&results.game);
        let name = |place: usize| {
            results
                .players
                .get(place)
                .map(|player| player.name.clone())
                .unwrap_or_default()
        };
        Some(Self {
            players: [first.to_owned(), second.to_owned()],
            names: [name(a), name(b)],
            record,
            ratings,
            expected_score: chance.map_or(0.5, |chance| chance.win + chance.draw / 2.0),
            likelihood,
            more_matches,
            sentence: sentences::of_top_two(&superiority, more_matches, pure_luck),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Entrant, MatchOutcome, Played};

    fn results(matches: &[(&str, &str, MatchOutcome)]) -> Results {
        let played = |(round, (a, b, outcome)): (u32, &(&str, &str, MatchOutcome))| Played {
            round,
            a: (*a).into(),
            b: (*b).into(),
            outcome: *outcome,
            forfeited: false,
        };
        let players = ["P01", "P02", "P03"]
            .map(|id| Entrant {
                rank: 1,
                id: id.into(),
                name: id.into(),
            })
            .to_vec();
        Results {
            game: "nim".into(),
            players,
            matches: (1..).zip(matches).map(played).collect(),
            ladder: true,
        }
    }

    #[test]
    fn who_wins_more_is_better_and_the_other_way_round_is_the_complement() {
        let won = MatchOutcome::WonByA;
        let results = results(&[
            ("P01", "P02", won),
            ("P02", "P01", MatchOutcome::WonByB),
            ("P01", "P02", MatchOutcome::Drawn),
            ("P02", "P03", won),
        ]);
        let found = HeadToHead::of(&results, "P01", "P02").unwrap();
        assert_eq!(
            found.record,
            Wdl {
                wins: 2,
                draws: 1,
                losses: 0
            }
        );
        assert!(
            found.likelihood > 0.6 && found.expected_score > 0.5,
            "{found:?}"
        );
        let back = HeadToHead::of(&results, "P02", "P01").unwrap();
        assert!((found.likelihood + back.likelihood - 1.0).abs() < 1e-9);
        assert!((found.expected_score + back.expected_score - 1.0).abs() < 1e-9);
        assert_eq!(HeadToHead::of(&results, "P01", "P09"), None);
    }

    #[test]
    fn before_the_first_match_nothing_tells_two_apart() {
        let found = HeadToHead::of(&results(&[]), "P01", "P02").unwrap();
        assert_eq!(
            (found.likelihood, found.expected_score, found.more_matches),
            (0.5, 0.5, None)
        );
    }
}
