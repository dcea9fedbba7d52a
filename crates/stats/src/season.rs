//! Ratings across leagues, by Bradley and Terry from the matches of all of them. Pure.

use crate::bradley_terry::{Model, Prior};
use crate::league::{Strength, rated};
use crate::posterior;
use crate::results::{Game, MatchOutcome, Results};
use crate::spread::{self, Hyperprior};
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
pub struct Career {
    /// The name or id that identifies it.
    pub player: String,
    /// In how many leagues it was, and how many matches it has played in them, without forfeits.
    pub leagues: u32,
    pub matches: u64,
    #[serde(flatten)]
    pub rating: Strength,
    /// By all matches up to the end of each of its leagues.
    pub history: Vec<AfterLeague>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AfterLeague {
    pub league: String,
    pub rating: f64,
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

/// The matches of several leagues as those of one, whose players are known again.
#[derive(Default)]
struct Pool {
    /// The place of each player.
    places: BTreeMap<String, usize>,
    games: Vec<Game>,
}

impl Pool {
    fn add(&mut self, results: &Results, by: KnownBy) {
        let places: Vec<usize> = keys(results, by)
            .into_iter()
            .map(|key| {
                let next = self.places.len();
                *self.places.entry(key).or_insert(next)
            })
            .collect();
        let own = |place: usize| places.get(place).copied();
        let games = results.games().into_iter().filter_map(|game| {
            Some(Game {
                a: own(game.a)?,
                b: own(game.b)?,
                ..game
            })
        });
        self.games.extend(games);
    }

    /// Of each player, by its place. The intervals are those of the curvature: over several leagues there are enough matches.
    fn ratings(&self) -> Vec<Strength> {
        let model = Model::of(self.places.len(), &self.games, Prior::default());
        spread::fit(&model, Hyperprior::Uniform).map_or_else(Vec::new, |fit| {
            let intervals = posterior::normal_intervals(&fit);
            rated(&fit, intervals)
        })
    }
}

/// The ratings of all players by the matches of all leagues, best first.
pub fn careers(leagues: &[(String, Results)], by: KnownBy) -> Vec<Career> {
    let mut pool = Pool::default();
    let mut histories: BTreeMap<String, Vec<AfterLeague>> = BTreeMap::new();
    for (name, results) in leagues {
        pool.add(results, by);
        let ratings = pool.ratings();
        for key in keys(results, by) {
            let place = pool.places.get(&key);
            let rating = place.and_then(|place| ratings.get(*place));
            let after = rating.map(|strength| AfterLeague {
                league: name.clone(),
                rating: strength.rating,
            });
            histories.entry(key).or_default().extend(after);
        }
    }
    let ratings = pool.ratings();
    let careers = histories.into_iter().filter_map(|(player, history)| {
        let place = *pool.places.get(&player)?;
        let games = pool.games.iter();
        Some(Career {
            leagues: u32::try_from(history.len()).unwrap_or(u32::MAX),
            matches: games
                .filter(|game| game.a == place || game.b == place)
                .count() as u64,
            rating: *ratings.get(place)?,
            player,
            history,
        })
    });
    let mut careers: Vec<Career> = careers.collect();
    careers.sort_by(|one, other| other.rating.rating.total_cmp(&one.rating.rating));
    careers
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
    /// By Bradley and Terry, from all matches of the season that were not forfeited.
    pub rating: f64,
    /// The 95 % interval.
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
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    let mut pool = Pool::default();
    for (_, results) in leagues {
        pool.add(results, by);
        for key in keys(results, by) {
            *counts.entry(key).or_default() += 1;
        }
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
    let ratings = pool.ratings();
    let rows = pool.places.into_iter().filter_map(|(player, place)| {
        let [wins, draws, losses] = records.get(&player).copied().unwrap_or_default();
        let Strength { rating, low, high } = *ratings.get(place)?;
        Some(SeasonRow {
            leagues: counts.get(&player).copied().unwrap_or(0),
            player,
            played: wins + draws + losses,
            wins,
            draws,
            losses,
            points: 3 * wins + draws,
            rating,
            low,
            high,
        })
    });
    let mut rows: Vec<SeasonRow> = rows.collect();
    rows.sort_by(|one, other| {
        let level = (other.points, other.wins).cmp(&(one.points, one.wins));
        level.then(other.rating.total_cmp(&one.rating))
    });
    rows
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
    let careers = careers(leagues, by);
    let found = careers.iter().find(|career| career.player == player);
    let mut ratings = found.into_iter().flat_map(|career| &career.history);
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
            rank: 1,
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

    fn named<'a>(all: &'a [Career], name: &str) -> &'a Career {
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
        let carried = careers(&both, KnownBy::Name);
        let at_once = careers(&whole, KnownBy::Name);
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
        let by_name = careers(&leagues, KnownBy::Name);
        assert!(named(&by_name, "Ada").rating.rating > 1550.0, "{by_name:?}");
        let by_id = careers(&leagues, KnownBy::Id);
        assert!(
            by_id
                .iter()
                .all(|player| (player.rating.rating - 1500.0).abs() < 1.0),
            "{by_id:?}"
        );
    }

    #[test]
    fn a_player_that_misses_a_league_is_rated_by_those_that_it_played() {
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
        let all = careers(&leagues, KnownBy::Name);
        let ada = named(&all, "Ada");
        assert_eq!((ada.leagues, ada.matches, ada.history.len()), (1, 1, 1));
        // Bob has beaten Eve since, which makes the win over Bob worth more.
        assert!(ada.rating.rating > ada.history[0].rating);
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
