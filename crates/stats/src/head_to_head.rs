//! Two players of a league: which one is better, and how sure that is. Pure.

use crate::bradley_terry::{Model, Prior, Superiority};
use crate::glicko::{self, Rating};
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
    /// Glicko-2, of both.
    pub ratings: [Rating; 2],
    /// What the first may expect of a match by the ratings: 1 for a win, 1/2 for a draw.
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
        let fit = if games.is_empty() {
            None
        } else {
            spread::fit(
                &Model::of(count, &games, Prior::default()),
                Hyperprior::Uniform,
            )
        };
        let likelihood = fit.as_ref().map_or(0.5, |fit| fit.superiority(a, b));
        let is_settled = likelihood >= SETTLED || likelihood <= 1.0 - SETTLED;
        let more_matches = if is_settled {
            Some(0)
        } else {
            fit.and_then(|fit| matches_needed(fit.chance(a, b)))
        };
        let history = if results.ladder {
            glicko::of_ladder(count, &games)
        } else {
            glicko::by_round(count, &games)
        };
        let now = history
            .last()
            .map(|(_, ratings)| ratings.as_slice())
            .unwrap_or_default();
        let ratings = [a, b].map(|place| now.get(place).copied().unwrap_or_default());
        let [one, other] = ratings;
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
            expected_score: one.expected_score(other),
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

    #[test]
    fn a_player_of_a_ladder_that_is_away_stays_as_sure_as_it_was() {
        let won = MatchOutcome::WonByA;
        let before = HeadToHead::of(&results(&[("P01", "P02", won)]), "P01", "P02").unwrap();
        let mut later = results(&[
            ("P01", "P02", won),
            ("P02", "P03", won),
            ("P02", "P03", won),
        ]);
        let in_ladder = HeadToHead::of(&later, "P01", "P02").unwrap();
        assert_eq!(before.ratings[0].deviation, in_ladder.ratings[0].deviation);
        later.ladder = false;
        let in_league = HeadToHead::of(&later, "P01", "P02").unwrap();
        assert!(in_league.ratings[0].deviation > before.ratings[0].deviation);
    }
}
