//! Ratings across leagues: Glicko-2 over all of them in order, each round a rating period. Pure.

use crate::glicko::{Rating, by_round_from};
use crate::results::{MatchOutcome, Results};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What identifies a player across leagues.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KnownBy {
    #[default]
    Name,
    /// Managers assign ids in the order of registration, so an id may belong to another player in another league.
    Id,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Carried {
    /// The name or id that identifies it.
    pub player: String,
    /// In how many leagues it was, and how many matches it has played in them, without forfeits.
    pub leagues: u32,
    pub matches: u64,
    #[serde(flatten)]
    pub rating: Rating,
    /// The 95 % confidence interval.
    pub low: f64,
    pub high: f64,
    /// After each of its leagues.
    pub history: Vec<AfterLeague>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AfterLeague {
    pub league: String,
    pub rating: f64,
    pub deviation: f64,
}

/// The key of each player of a league. Players of the same name are distinguished by id.
fn keys(results: &Results, by: KnownBy) -> Vec<String> {
    let same = |name: &str| {
        results
            .players
            .iter()
            .filter(|player| player.name == name)
            .count()
    };
    let key = |player: &crate::Entrant| match by {
        KnownBy::Id => player.id.clone(),
        KnownBy::Name if same(&player.name) > 1 => format!("{} ({})", player.name, player.id),
        KnownBy::Name => player.name.clone(),
    };
    results.players.iter().map(key).collect()
}

/// The ratings of all players after all leagues, best first. The deviation of a player that misses a league grows, as
/// after a round without a match.
pub fn carry_over(leagues: &[(String, Results)], by: KnownBy) -> Vec<Carried> {
    let mut known: BTreeMap<String, Carried> = BTreeMap::new();
    for (name, results) in leagues {
        let keys = keys(results, by);
        let games = results.games();
        for (_, absent) in known.iter_mut().filter(|(key, _)| !keys.contains(key)) {
            absent.rating = absent.rating.after(&[]);
        }
        let start = keys.iter().map(|key| {
            known
                .get(key)
                .map_or_else(Rating::default, |old| old.rating)
        });
        let start: Vec<Rating> = start.collect();
        let rounds = by_round_from(start.clone(), &games);
        let end = rounds
            .into_iter()
            .next_back()
            .map_or(start, |(_, ratings)| ratings);
        for ((place, key), rating) in keys.into_iter().enumerate().zip(end) {
            let played = games
                .iter()
                .filter(|game| game.a == place || game.b == place)
                .count() as u64;
            let player = known
                .entry(key.clone())
                .or_insert_with(|| Carried::unknown(key));
            player.leagues += 1;
            player.matches += played;
            player.rating = rating;
            let (rating, deviation) = (rating.rating, rating.deviation);
            player.history.push(AfterLeague {
                league: name.clone(),
                rating,
                deviation,
            });
        }
    }
    let mut all: Vec<Carried> = known.into_values().collect();
    for player in &mut all {
        [player.low, player.high] = player.rating.interval();
    }
    all.sort_by(|one, other| other.rating.rating.total_cmp(&one.rating.rating));
    all
}

/// A player's row in the table of a season.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeasonRow {
    /// The name or id that identifies it.
    pub player: String,
    pub leagues: u32,
    /// Forfeited matches included, as in the tables of the leagues.
    pub played: u32,
    pub wins: u32,
    pub draws: u32,
    pub losses: u32,
    /// 3 for a win, 1 for a draw.
    pub points: u32,
    /// Glicko-2, carried over from league to league, without forfeited matches.
    pub rating: f64,
    /// The 95 % confidence interval.
    pub low: f64,
    pub high: f64,
}

impl SeasonRow {
    /// As people read it, beneath its rank.
    pub fn cells(&self, rank: u32) -> [String; 10] {
        [
            rank.to_string(),
            self.player.clone(),
            self.leagues.to_string(),
            self.played.to_string(),
            self.wins.to_string(),
            self.draws.to_string(),
            self.losses.to_string(),
            self.points.to_string(),
            format!("{:.0}", self.rating),
            format!("{:.0} to {:.0}", self.low, self.high),
        ]
    }
}

/// The points over all leagues of a season, most first; then wins, then the rating.
pub fn season_table(leagues: &[(String, Results)], by: KnownBy) -> Vec<SeasonRow> {
    let mut records: BTreeMap<String, [u32; 3]> = BTreeMap::new();
    for (_, results) in leagues {
        let named: BTreeMap<&str, String> = results
            .players
            .iter()
            .map(|player| player.id.as_str())
            .zip(keys(results, by))
            .collect();
        for played in &results.matches {
            let [a, b] = match played.outcome {
                MatchOutcome::WonByA => [0, 2],
                MatchOutcome::WonByB => [2, 0],
                MatchOutcome::Drawn => [1, 1],
                MatchOutcome::LostByBoth => [2, 2],
            };
            for (player, place) in [(&played.a, a), (&played.b, b)] {
                let record = named
                    .get(player.as_str())
                    .map(|key| records.entry(key.clone()).or_default());
                if let Some(count) = record.and_then(|record: &mut [u32; 3]| record.get_mut(place))
                {
                    *count += 1;
                }
            }
        }
    }
    let rows = carry_over(leagues, by).into_iter().map(|carried| {
        let [wins, draws, losses] = records.get(&carried.player).copied().unwrap_or_default();
        SeasonRow {
            player: carried.player,
            leagues: carried.leagues,
            played: wins + draws + losses,
            wins,
            draws,
            losses,
            points: 3 * wins + draws,
            rating: carried.rating.rating,
            low: carried.low,
            high: carried.high,
        }
    });
    let mut rows: Vec<SeasonRow> = rows.collect();
    // Those who are level stay in the order of their ratings.
    rows.sort_by_key(|row| std::cmp::Reverse((row.points, row.wins)));
    rows
}

impl Carried {
    fn unknown(player: String) -> Self {
        let rating = Rating::default();
        Self {
            player,
            leagues: 0,
            matches: 0,
            rating,
            low: 0.0,
            high: 0.0,
            history: Vec::new(),
        }
    }
}

/// What a player has done in one league of a season.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CareerRow {
    pub league: String,
    /// Its id there.
    pub player_id: String,
    /// Where it ended in the league's standings, and among how many.
    pub place: usize,
    pub players: usize,
    /// Forfeited matches included.
    pub wins: u32,
    pub draws: u32,
    pub losses: u32,
    /// After this league.
    pub rating: f64,
}

/// What a player has done in each league of a season that it was in, in their order.
pub fn career(leagues: &[(String, Results)], by: KnownBy, player: &str) -> Vec<CareerRow> {
    let carried = carry_over(leagues, by);
    let found = carried.iter().find(|carried| carried.player == player);
    let mut ratings = found.into_iter().flat_map(|carried| &carried.history);
    let row = |(league, results): &(String, Results)| {
        let place = keys(results, by).iter().position(|key| key == player)?;
        let player_id = results.players.get(place)?.id.clone();
        let alone = season_table(&[(league.clone(), results.clone())], by);
        let row = alone.into_iter().find(|row| row.player == player)?;
        Some(CareerRow {
            league: league.clone(),
            player_id,
            place: place + 1,
            players: results.players.len(),
            wins: row.wins,
            draws: row.draws,
            losses: row.losses,
            rating: ratings.next().map_or(row.rating, |after| after.rating),
        })
    };
    leagues.iter().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Entrant, MatchOutcome, Played};

    fn league(players: &[(&str, &str)], matches: &[(u32, &str, &str)]) -> Results {
        let entrant = |(id, name): &(&str, &str)| Entrant {
            id: (*id).into(),
            name: (*name).into(),
        };
        let won = |(round, a, b): &(u32, &str, &str)| Played {
            round: *round,
            a: (*a).into(),
            b: (*b).into(),
            outcome: MatchOutcome::WonByA,
            forfeited: false,
        };
        Results {
            game: "nim".into(),
            players: players.iter().map(entrant).collect(),
            matches: matches.iter().map(won).collect(),
            ladder: false,
        }
    }

    fn named<'a>(all: &'a [Carried], name: &str) -> &'a Carried {
        all.iter().find(|player| player.player == name).unwrap()
    }

    #[test]
    fn two_leagues_are_rated_as_one_with_all_their_rounds() {
        let players = [("P01", "Ada"), ("P02", "Bob")];
        let both = [
            ("one".to_owned(), league(&players, &[(1, "P01", "P02")])),
            (
                "two".to_owned(),
                league(&players, &[(1, "P02", "P01"), (2, "P02", "P01")]),
            ),
        ];
        let whole = league(
            &players,
            &[(1, "P01", "P02"), (2, "P02", "P01"), (3, "P02", "P01")],
        );
        let whole = [("whole".to_owned(), whole)];
        let carried = carry_over(&both, KnownBy::Name);
        let at_once = carry_over(&whole, KnownBy::Name);
        for name in ["Ada", "Bob"] {
            assert_eq!(
                named(&carried, name).rating,
                named(&at_once, name).rating,
                "{name}"
            );
        }
        assert_eq!(carried[0].player, "Bob");
        assert_eq!(
            (
                carried[0].leagues,
                carried[0].matches,
                carried[0].history.len()
            ),
            (2, 3, 2)
        );
    }

    #[test]
    fn the_table_of_a_season_adds_up_the_points_of_its_leagues() {
        let players = [("P01", "Ada"), ("P02", "Bob")];
        let mut second = league(&players, &[(1, "P02", "P01"), (2, "P02", "P01")]);
        second.matches[1].forfeited = true;
        let leagues = [
            ("one".to_owned(), league(&players, &[(1, "P01", "P02")])),
            ("two".to_owned(), second),
        ];
        let table = season_table(&leagues, KnownBy::Name);
        let rows: Vec<_> = table
            .iter()
            .map(|row| (row.player.as_str(), row.leagues, row.played, row.points))
            .collect();
        assert_eq!(rows, [("Bob", 2, 3, 6), ("Ada", 2, 3, 3)]);
        assert!(table[0].low < table[0].rating && table[0].rating < table[0].high);
    }

    #[test]
    fn a_name_is_the_same_player_under_another_id_and_an_id_is_not() {
        let leagues = [
            (
                "one".to_owned(),
                league(&[("P01", "Ada"), ("P02", "Bob")], &[(1, "P01", "P02")]),
            ),
            (
                "two".to_owned(),
                league(&[("P01", "Bob"), ("P02", "Ada")], &[(1, "P02", "P01")]),
            ),
        ];
        let by_name = carry_over(&leagues, KnownBy::Name);
        assert!(named(&by_name, "Ada").rating.rating > 1700.0, "{by_name:?}");
        let by_id = carry_over(&leagues, KnownBy::Id);
        assert!(
            by_id
                .iter()
                .all(|player| (player.rating.rating - 1500.0).abs() < 100.0),
            "{by_id:?}"
        );
    }

    #[test]
    fn a_player_that_misses_a_league_becomes_less_certain() {
        let leagues = [
            (
                "one".to_owned(),
                league(&[("P01", "Ada"), ("P02", "Bob")], &[(1, "P01", "P02")]),
            ),
            (
                "two".to_owned(),
                league(&[("P01", "Bob"), ("P02", "Eve")], &[(1, "P01", "P02")]),
            ),
        ];
        let all = carry_over(&leagues, KnownBy::Name);
        let ada = named(&all, "Ada");
        assert_eq!(ada.leagues, 1);
        assert!(ada.rating.deviation > ada.history[0].deviation);
        assert_eq!(ada.rating.rating, ada.history[0].rating);
    }

    #[test]
    fn two_of_the_same_name_are_told_apart() {
        let results = league(&[("P01", "Ada"), ("P02", "Ada"), ("P03", "Bob")], &[]);
        assert_eq!(
            keys(&results, KnownBy::Name),
            ["Ada (P01)", "Ada (P02)", "Bob"]
        );
    }
}
