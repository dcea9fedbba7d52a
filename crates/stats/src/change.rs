//! How a player has changed from an earlier league to a later one: differences with 95 % intervals. Pure.

use crate::bradley_terry::{Model, Prior, rating};
use crate::elo;
use crate::normal::Z_95;
use crate::results::{Entrant, Results, Wdl};
use crate::season::KnownBy;
use crate::spread::{self, Hyperprior};
use serde::{Deserialize, Serialize};

/// The later value minus the earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    pub difference: f64,
    /// The 95 % confidence interval.
    pub low: f64,
    pub high: f64,
}

impl Difference {
    /// Of two mean scores, a draw being half a win. `None` unless there are matches in both.
    pub fn of_scores(earlier: Wdl, later: Wdl) -> Option<Self> {
        let known = |record: Wdl| Some((elo::score(record)?, elo::score_interval(record)?));
        Some(Self::newcombe(known(earlier)?, known(later)?))
    }

    /// Of two shares, each so many out of so many. `None` unless both are of something.
    pub fn of_shares(earlier: [u32; 2], later: [u32; 2]) -> Option<Self> {
        let record = |[count, all]: [u32; 2]| Wdl {
            wins: count.into(),
            draws: 0,
            losses: all.saturating_sub(count).into(),
        };
        Self::of_scores(record(earlier), record(later))
    }

    /// Newcombe's hybrid score interval (1998, method 10): the distances from each value to the ends of its own interval,
    /// squared and added. It keeps its promise for few matches and for shares of 0 and 1.
    fn newcombe(earlier: (f64, [f64; 2]), later: (f64, [f64; 2])) -> Self {
        let (before, [before_low, before_high]) = earlier;
        let (after, [after_low, after_high]) = later;
        let difference = after - before;
        Self {
            difference,
            low: difference - (after - after_low).hypot(before_high - before),
            high: difference + (after_high - after).hypot(before - before_low),
        }
    }

    /// Of the strengths by Bradley and Terry, as ratings: 1500 is the average of each league. The leagues are independent,
    /// so the variances add up. `None` unless the player has played in both.
    pub fn of_ratings(earlier: (&Results, &str), later: (&Results, &str)) -> Option<Self> {
        let (before, before_deviation) = strength(earlier.0, earlier.1)?;
        let (after, after_deviation) = strength(later.0, later.1)?;
        let difference = after - before;
        let half = Z_95 * before_deviation.hypot(after_deviation);
        Some(Self {
            difference,
            low: difference - half,
            high: difference + half,
        })
    }

    /// Whether a player that has not changed may well show it.
    pub fn can_be_luck(&self) -> bool {
        self.low <= 0.0 && self.high >= 0.0
    }
}

/// The rating of a player and its standard deviation; `None` before its first match.
fn strength(results: &Results, id: &str) -> Option<(f64, f64)> {
    let place = results.players.iter().position(|player| player.id == id)?;
    let games = results.games();
    games
        .iter()
        .find(|game| game.a == place || game.b == place)?;
    let fit = spread::fit(
        &Model::of(results.players.len(), &games, Prior::default()),
        Hyperprior::Uniform,
    )?;
    let strength = *fit.strengths.get(place)?;
    Some((rating(strength), fit.deviation(place)))
}

/// The players of another league who are this one: more than one if they share its name.
pub fn same<'a>(player: &Entrant, elsewhere: &'a Results, by: KnownBy) -> Vec<&'a Entrant> {
    let is_it = |other: &&Entrant| match by {
        KnownBy::Name => other.name == player.name,
        KnownBy::Id => other.id == player.id,
    };
    elsewhere.players.iter().filter(is_it).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MatchOutcome, Played};

    /// Ada and Bob met `met` times, and Ada won `ada` of them; Eve lost to both once.
    fn league(ada: u32, met: u32) -> Results {
        let entrant = |id: &str, name: &str| Entrant {
            rank: 1,
            id: id.into(),
            name: name.into(),
        };
        let played = |round: u32, a: &str, b: &str, won: bool| Played {
            round,
            a: a.into(),
            b: b.into(),
            outcome: if won {
                MatchOutcome::WonByA
            } else {
                MatchOutcome::WonByB
            },
            forfeited: false,
        };
        let mut matches: Vec<Played> = (0..met)
            .map(|round| played(round + 1, "P01", "P02", round < ada))
            .collect();
        matches.push(played(met + 1, "P01", "P03", true));
        matches.push(played(met + 2, "P02", "P03", true));
        let players = vec![
            entrant("P01", "Ada"),
            entrant("P02", "Bob"),
            entrant("P03", "Eve"),
        ];
        Results {
            game: "nim".into(),
            players,
            matches,
            ladder: false,
        }
    }

    fn of_ratings(earlier: &Results, later: &Results, id: &str) -> Difference {
        Difference::of_ratings((earlier, id), (later, id)).unwrap()
    }

    /// Newcombe, *Interval estimation for the difference between independent proportions* (1998), table II, method 10.
    #[test]
    fn shares_differ_as_in_newcombes_examples() {
        for (later, earlier, low, high) in [
            ([56, 70], [48, 80], 0.0524, 0.3339),
            ([9, 10], [3, 10], 0.1705, 0.8090),
            ([6, 7], [2, 7], 0.0582, 0.8062),
            ([5, 56], [0, 29], -0.0381, 0.1926),
            ([0, 10], [0, 20], -0.1611, 0.2775),
            ([0, 10], [0, 10], -0.2775, 0.2775),
            ([10, 10], [0, 20], 0.6791, 1.0),
            ([10, 10], [0, 10], 0.6075, 1.0),
        ] {
            let found = Difference::of_shares(earlier, later).unwrap();
            assert!(
                (found.low - low).abs() < 6e-5 && (found.high - high).abs() < 6e-5,
                "{found:?}"
            );
        }
        assert_eq!(Difference::of_shares([0, 0], [1, 2]), None);
    }

    #[test]
    fn a_draw_is_half_a_win() {
        let record = |wins, draws, losses| Wdl {
            wins,
            draws,
            losses,
        };
        let found = Difference::of_scores(record(0, 4, 0), record(4, 0, 0)).unwrap();
        assert_eq!(found.difference, 0.5);
        let decided = Difference::of_scores(record(2, 0, 2), record(4, 0, 0)).unwrap();
        assert!(
            found.high - found.low < decided.high - decided.low,
            "draws vary less: {found:?} {decided:?}"
        );
    }

    #[test]
    fn a_turn_of_fortune_over_many_matches_is_no_luck() {
        let earlier = league(190, 200);
        let later = league(10, 200);
        for (id, sign) in [("P01", -1.0), ("P02", 1.0)] {
            let found = of_ratings(&earlier, &later, id);
            assert!(
                !found.can_be_luck() && found.difference * sign > 100.0,
                "{id}: {found:?}"
            );
            assert!(found.low < found.difference && found.difference < found.high);
        }
    }

    #[test]
    fn a_few_matches_tell_nothing() {
        let earlier = league(2, 3);
        let later = league(1, 3);
        for id in ["P01", "P02", "P03"] {
            assert!(of_ratings(&earlier, &later, id).can_be_luck(), "{id}");
        }
    }

    /// Regression: two leagues of a single match with opposite results.
    #[test]
    fn a_single_match_that_turns_out_otherwise_is_luck() {
        let one = |outcome: MatchOutcome| {
            let mut results = league(0, 0);
            results.matches.truncate(1);
            results.matches[0].outcome = outcome;
            results.players.truncate(2);
            results.matches[0].b = "P02".into();
            results
        };
        let outcomes = [
            MatchOutcome::WonByA,
            MatchOutcome::WonByB,
            MatchOutcome::Drawn,
        ];
        for first in outcomes {
            for second in outcomes {
                for id in ["P01", "P02"] {
                    let found = of_ratings(&one(first), &one(second), id);
                    assert!(found.can_be_luck(), "{first:?}, {second:?}: {found:?}");
                }
            }
        }
    }

    #[test]
    fn a_league_beside_itself_shows_no_difference() {
        let found = of_ratings(&league(7, 10), &league(7, 10), "P01");
        assert!(
            found.difference.abs() < 1e-9 && found.can_be_luck(),
            "{found:?}"
        );
    }

    #[test]
    fn a_player_without_a_match_has_no_difference() {
        let mut later = league(5, 10);
        later.matches.retain(|played| played.b != "P03");
        assert_eq!(
            Difference::of_ratings((&league(5, 10), "P03"), (&later, "P03")),
            None
        );
    }

    #[test]
    fn a_player_is_known_by_its_name_or_by_its_id() {
        let bob = Entrant {
            rank: 1,
            id: "P01".into(),
            name: "Bob".into(),
        };
        let mut elsewhere = league(1, 2);
        let ids = |elsewhere: &Results, by| -> Vec<String> {
            same(&bob, elsewhere, by)
                .into_iter()
                .map(|player| player.id.clone())
                .collect()
        };
        assert_eq!(ids(&elsewhere, KnownBy::Name), ["P02"]);
        assert_eq!(ids(&elsewhere, KnownBy::Id), ["P01"]);
        elsewhere.players[2].name = "Bob".into();
        assert_eq!(ids(&elsewhere, KnownBy::Name), ["P02", "P03"]);
    }
}
