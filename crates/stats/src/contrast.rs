//! Compares two leagues of the same players: whose strength has changed significantly? Pure.

use crate::bradley_terry::{Model, Prior};
use crate::holm;
use crate::league::{LeagueStatistics, PlayerStatistics, Resampling, Strength};
use crate::normal::{self, Z_95};
use crate::results::{Results, Wdl};
use crate::season::{KnownBy, keys};
use crate::spread::{self, Hyperprior};
use serde::Serialize;

/// The significance level, for p-values corrected for the number of players.
pub const DIFFERS_BELOW: f64 = 0.05;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Side {
    pub player_id: String,
    pub display_name: String,
    /// Its rank in the standings.
    pub rank: u32,
    /// Without forfeited matches.
    #[serde(flatten)]
    pub record: Wdl,
    pub points: u64,
    pub strength: Option<Strength>,
    /// The standard deviation of the strength, in rating points.
    pub deviation: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Contrast {
    /// The name or id that identifies it.
    pub player: String,
    /// `None` if it was not in that league.
    pub first: Option<Side>,
    pub second: Option<Side>,
    /// `None` unless it has played in both.
    pub difference: Option<Difference>,
}

/// How much stronger a player was in the second league, each time relative to the others of that league.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Difference {
    pub rating: f64,
    /// The 95 % confidence interval.
    pub low: f64,
    pub high: f64,
    /// Two-sided, under the null hypothesis of no change.
    pub p: f64,
    /// With Holm's correction for the number of players.
    pub p_corrected: f64,
    pub more_than_chance: bool,
}

/// All players of either league, in the order of the first, then of the second.
pub fn contrast(first: &Results, second: &Results, by: KnownBy, settings: &Resampling) -> Vec<Contrast> {
    let sides = [first, second].map(|results| sides(results, by, settings));
    let [before, after] = &sides;
    let of = |sides: &[(String, Side)], key: &str| {
        sides.iter().find(|(known, _)| known == key).map(|(_, side)| side.clone())
    };
    let newcomers = after.iter().filter(|(key, _)| of(before, key).is_none());
    let mut all: Vec<Contrast> = before
        .iter()
        .chain(newcomers)
        .map(|(key, _)| {
            let (first, second) = (of(before, key), of(after, key));
            let both = first.as_ref().zip(second.as_ref());
            let difference = both.and_then(|(before, after)| Difference::between(before, after));
            Contrast { player: key.clone(), first, second, difference }
        })
        .collect();
    correct(&mut all);
    all
}

fn sides(results: &Results, by: KnownBy, settings: &Resampling) -> Vec<(String, Side)> {
    let statistics = LeagueStatistics::of(results, settings);
    let games = results.games();
    let fit = spread::fit(&Model::of(results.players.len(), &games, Prior::default()), Hyperprior::Uniform);
    let deviation = |place: usize| fit.as_ref().map(|fit| fit.deviation(place));
    let ranked = statistics.players.into_iter().enumerate().zip((1..).zip(keys(results, by)));
    ranked.map(|((place, player), (rank, key))| (key, Side::of(rank, player, deviation(place)))).collect()
}

impl Side {
    fn of(rank: u32, player: PlayerStatistics, deviation: Option<f64>) -> Self {
        Self {
            player_id: player.player_id,
            display_name: player.display_name,
            rank,
            record: player.record,
            points: player.points,
            strength: player.bradley_terry,
            deviation,
        }
    }
}

impl Difference {
    /// The leagues are independent, so the variances add up. `None` unless both have strengths.
    fn between(before: &Side, after: &Side) -> Option<Self> {
        let rating = after.strength?.rating - before.strength?.rating;
        let error = before.deviation?.hypot(after.deviation?);
        let p = if error > 0.0 { 2.0 * normal::below(-rating.abs() / error) } else { 1.0 };
        let half = Z_95 * error;
        let (low, high) = (rating - half, rating + half);
        Some(Self { rating, low, high, p, p_corrected: p, more_than_chance: false })
    }
}

fn correct(all: &mut [Contrast]) {
    let found: Vec<f64> =
        all.iter().filter_map(|one| one.difference).map(|difference| difference.p).collect();
    let differences = all.iter_mut().filter_map(|one| one.difference.as_mut());
    for (difference, p) in differences.zip(holm::adjusted(&found)) {
        difference.p_corrected = p;
        difference.more_than_chance = p < DIFFERS_BELOW;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Entrant, MatchOutcome, Played};

    /// Ada and Bob met `met` times, and Ada won `ada` of them; Eve lost to both once.
    fn league(ada: u32, met: u32) -> Results {
        let entrant = |id: &str, name: &str| Entrant { id: id.into(), name: name.into() };
        let played = |round: u32, a: &str, b: &str, won: bool| Played {
            round,
            a: a.into(),
            b: b.into(),
            outcome: if won { MatchOutcome::WonByA } else { MatchOutcome::WonByB },
            forfeited: false,
        };
        let mut matches: Vec<Played> =
            (0..met).map(|round| played(round + 1, "P01", "P02", round < ada)).collect();
        matches.push(played(met + 1, "P01", "P03", true));
        matches.push(played(met + 2, "P02", "P03", true));
        let players = vec![entrant("P01", "Ada"), entrant("P02", "Bob"), entrant("P03", "Eve")];
        Results { game: "nim".into(), players, matches, ladder: false }
    }

    fn of<'a>(all: &'a [Contrast], name: &str) -> &'a Contrast {
        all.iter().find(|one| one.player == name).unwrap()
    }

    #[test]
    fn a_turn_of_fortune_over_many_matches_is_more_than_chance() {
        let all = contrast(&league(190, 200), &league(10, 200), KnownBy::Name, &Resampling::default());
        for (name, sign) in [("Ada", -1.0), ("Bob", 1.0)] {
            let difference = of(&all, name).difference.unwrap();
            assert!(
                difference.more_than_chance && difference.rating * sign > 100.0,
                "{name}: {difference:?}"
            );
            assert!(difference.low < difference.rating && difference.rating < difference.high);
        }
    }

    #[test]
    fn a_few_matches_tell_nothing() {
        let all = contrast(&league(2, 3), &league(1, 3), KnownBy::Name, &Resampling::default());
        for one in &all {
            assert!(!one.difference.unwrap().more_than_chance, "{one:?}");
        }
    }

    /// Regression: two leagues of a single match with opposite results.
    #[test]
    fn a_single_match_that_turns_out_otherwise_is_chance() {
        let one = |outcome: MatchOutcome| {
            let mut results = league(0, 0);
            results.matches.truncate(1);
            results.matches[0].outcome = outcome;
            results.players.truncate(2);
            results.matches[0].b = "P02".into();
            results
        };
        let outcomes = [MatchOutcome::WonByA, MatchOutcome::WonByB, MatchOutcome::Drawn];
        for first in outcomes {
            for second in outcomes {
                for contrast in contrast(&one(first), &one(second), KnownBy::Id, &Resampling::default()) {
                    let found = contrast.difference.unwrap();
                    assert!(!found.more_than_chance && found.p > 0.1, "{first:?}, {second:?}: {found:?}");
                }
            }
        }
    }

    #[test]
    fn a_league_beside_itself_shows_no_difference() {
        let all = contrast(&league(7, 10), &league(7, 10), KnownBy::Id, &Resampling::default());
        for one in &all {
            let difference = one.difference.unwrap();
            assert!(difference.rating.abs() < 1e-9 && difference.p > 0.99, "{one:?}");
        }
    }

    #[test]
    fn a_player_of_one_league_only_has_no_difference() {
        let mut second = league(5, 10);
        second.players[2].name = "Zoe".into();
        let all = contrast(&league(5, 10), &second, KnownBy::Name, &Resampling::default());
        let names: Vec<&str> = all.iter().map(|one| one.player.as_str()).collect();
        assert_eq!(names, ["Ada", "Bob", "Eve", "Zoe"]);
        assert!(of(&all, "Eve").second.is_none() && of(&all, "Zoe").first.is_none());
        assert!(of(&all, "Zoe").difference.is_none());
    }
}
