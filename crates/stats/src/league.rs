//! All statistics of one league: results in, data and sentences out. Pure; the same results and seed give the same
//! numbers.

use crate::bradley_terry::{Fit, Model, Prior, Superiority, rating};
use crate::glicko;
use crate::luck::{self, ByChance, ChanceRounds, Meter, StandingsByChance};
use crate::normal::Z_95;
use crate::null_model::{NullModel, PointsDistribution};
use crate::posterior;
use crate::results::{Game, Results, Wdl};
use crate::rng::SeededRng;
use crate::sample_size::{SETTLED, matches_needed};
use crate::sentences;
use crate::spread::{self, Hyperprior};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resampling {
    pub seed: u64,
    /// Draws from the posterior distribution for the intervals of strengths. Leagues that are too large for
    /// [`DRAWS_MIN`] of them use the curvature of the posterior instead.
    pub posterior_draws: u32,
    /// Simulated leagues of the null model; large leagues use fewer, down to 500.
    pub leagues_of_chance: u32,
}

impl Default for Resampling {
    fn default() -> Self {
        Self {
            seed: 1,
            posterior_draws: 2000,
            leagues_of_chance: 4000,
        }
    }
}

/// Fewer draws would blur the ends of intervals. Where everyone has played so many matches that they take too long, the
/// posterior is close to normal.
pub const DRAWS_MIN: u32 = 400;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeagueStatistics {
    pub game: String,
    /// Matches that were not forfeited. All other statistics are about these.
    pub matches: u32,
    /// Forfeited matches, which say nothing about strength.
    pub forfeits: u32,
    pub luck: Luck,
    /// In the order of the standings.
    pub players: Vec<PlayerStatistics>,
    /// Each rank compared with the next.
    pub neighbours: Vec<Superiority>,
    pub top_two: Option<TopTwo>,
}

/// How much of the standings chance explains.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Luck {
    pub chance: NullModel,
    /// `None` before the first match.
    pub table: Option<StandingsByChance>,
    pub meter: Meter,
    /// The luck meter, for people.
    pub sentence: String,
    /// A remark about the game itself, if there is one.
    pub note: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlayerStatistics {
    /// In the standings, from 1: level players share it.
    pub rank: u32,
    pub player_id: String,
    pub display_name: String,
    /// Without forfeited matches.
    pub record: Wdl,
    pub points: u64,
    /// The rating that is shown, by Bradley and Terry. `None` before the player's first match.
    pub bradley_terry: Option<Strength>,
    /// What a ladder pairs its players by, besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairing_rating: Option<PairingRating>,
    /// The exact p-values of at least and of at most so many points, under the null model.
    pub as_good_by_chance: f64,
    pub as_bad_by_chance: f64,
    pub meter: Meter,
    /// For people.
    pub sentence: String,
}

/// A Glicko-2 rating. Its deviation makes no interval that could be relied on: it pairs players, and is not what they
/// are judged by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairingRating {
    #[serde(flatten)]
    pub now: glicko::Rating,
    /// After each round.
    pub history: Vec<AfterRound>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AfterRound {
    pub round: u32,
    pub rating: f64,
    pub deviation: f64,
}

/// A Bradley-Terry strength as a rating: 1500 is the average of the league, 400 points are odds of ten to one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Strength {
    pub rating: f64,
    /// The 95 % credible interval.
    pub low: f64,
    pub high: f64,
}

impl Strength {
    /// The standard deviation, as the interval has it.
    pub fn deviation(self) -> f64 {
        (self.high - self.low) / (2.0 * Z_95)
    }
}

/// The first two of the standings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TopTwo {
    #[serde(flatten)]
    pub superiority: Superiority,
    /// The number of further matches between them that would show which one is better, at the estimated strengths.
    /// `None` if they are too close.
    pub more_matches: Option<u64>,
    /// For people.
    pub sentence: String,
}

impl LeagueStatistics {
    /// `rounds`: how leagues of chance are drawn.
    pub fn of(results: &Results, rounds: &ChanceRounds<'_>, settings: &Resampling) -> Self {
        let games = results.games();
        let forfeits = results
            .matches
            .iter()
            .filter(|played| played.forfeited)
            .count();
        let chance = NullModel::of(&results.game, &games);
        let by_chance = by_chance(results, rounds, &games, &chance, settings);
        let model = Model::of(results.players.len(), &games, Prior::default());
        let fit = if games.is_empty() {
            None
        } else {
            spread::fit(&model, Hyperprior::Uniform)
        };
        let strengths = fit
            .as_ref()
            .map(|fit| strengths(&model, fit, games.len(), settings));
        Self {
            game: results.game.clone(),
            matches: count(games.len()),
            forfeits: count(forfeits),
            players: players(
                results,
                &games,
                &chance,
                by_chance.as_ref(),
                strengths.as_deref(),
            ),
            luck: luck(results, chance, by_chance.as_ref()),
            neighbours: fit
                .as_ref()
                .map_or_else(Vec::new, |fit| neighbours(results, fit)),
            top_two: fit.as_ref().and_then(|fit| top_two(results, fit)),
        }
    }
}

/// The ratings of all players by the matches up to the end of each round; of a ladder, whose rounds have no end, by all its
/// matches, as of its last round.
pub fn ratings_by_round(results: &Results, settings: &Resampling) -> Vec<(u32, Vec<Strength>)> {
    let games = results.games();
    let mut rounds: Vec<u32> = games.iter().map(|game| game.round).collect();
    rounds.sort_unstable();
    rounds.dedup();
    let first = if results.ladder {
        rounds.len().saturating_sub(1)
    } else {
        0
    };
    let rounds = rounds.get(first..).unwrap_or_default();
    let after = |round: &u32| {
        let until: Vec<Game> = games
            .iter()
            .filter(|game| game.round <= *round)
            .cloned()
            .collect();
        let model = Model::of(results.players.len(), &until, Prior::default());
        let fit = spread::fit(&model, Hyperprior::Uniform)?;
        let work = until.len() * rounds.len();
        Some((*round, strengths(&model, &fit, work, settings)))
    };
    rounds.iter().filter_map(after).collect()
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Limits repetitions in proportion to the size of the league.
fn within(work: usize, matches: usize, least: u32, most: u32) -> u32 {
    count(work / matches.max(1)).max(least).min(most)
}

fn by_chance(
    results: &Results,
    rounds: &ChanceRounds<'_>,
    games: &[Game],
    chance: &NullModel,
    settings: &Resampling,
) -> Option<ByChance> {
    let players = results.players.len();
    // Drawing a round takes longer than playing it, in swiss leagues with the third power of the players.
    let work = match rounds {
        ChanceRounds::Fixed => within(20_000_000, games.len(), 500, settings.leagues_of_chance),
        ChanceRounds::Drawn { .. } => within(
            40_000_000,
            players.saturating_pow(3),
            100,
            settings.leagues_of_chance,
        ),
        ChanceRounds::Unknown => 0,
    };
    let mut rng = SeededRng::new(settings.seed, 1);
    luck::compare_with_chance(players, games, chance, rounds, work, &mut rng)
}

fn luck(results: &Results, chance: NullModel, by_chance: Option<&ByChance>) -> Luck {
    let table = by_chance.map(|by_chance| by_chance.table);
    let meter = table.map_or(Meter::NothingYet, |table| Meter::of(table.spread));
    let has_results = results.matches.iter().any(|played| !played.forfeited);
    let sentence = sentences::of_table(meter, table.as_ref(), chance.basis, has_results);
    Luck {
        chance,
        table,
        meter,
        sentence,
        note: sentences::of_game(&results.game),
    }
}

fn strengths(model: &Model, fit: &Fit, matches: usize, settings: &Resampling) -> Vec<Strength> {
    let affordable = count(2_000_000 / matches.max(1));
    let intervals = if affordable >= DRAWS_MIN {
        let draws = affordable.min(settings.posterior_draws);
        posterior::intervals(model, fit, draws, &mut SeededRng::new(settings.seed, 2))
    } else {
        posterior::normal_intervals(fit)
    };
    rated(fit, intervals)
}

/// The strengths of a fit as ratings, with their intervals.
pub(crate) fn rated(fit: &Fit, intervals: Vec<[f64; 2]>) -> Vec<Strength> {
    let strengths = fit.ratings().zip(intervals);
    strengths
        .map(|(of, [low, high])| Strength {
            rating: of,
            low: rating(low),
            high: rating(high),
        })
        .collect()
}

fn players(
    results: &Results,
    games: &[Game],
    chance: &NullModel,
    chance_leagues: Option<&ByChance>,
    strengths: Option<&[Strength]>,
) -> Vec<PlayerStatistics> {
    let all = results.players.len();
    let pairing_ratings = results.ladder.then(|| glicko::of_ladder(all, games));
    let each = results.players.iter().enumerate().map(|(place, player)| {
        let own = || {
            games
                .iter()
                .filter(|game| game.a == place || game.b == place)
        };
        let record = record(own(), place);
        let by_chance =
            PointsDistribution::over(own().filter_map(|game| chance.in_game(game, place)));
        let points = record.points();
        let [as_good, as_bad] = [by_chance.at_least(points), by_chance.at_most(points)];
        let anybody = luck::anybody(chance_leagues, as_good.min(as_bad), all);
        let chances = [as_good, as_bad, anybody];
        let (meter, sentence) = sentences::of_record(&player.id, record, chances, chance.basis);
        PlayerStatistics {
            rank: player.rank,
            player_id: player.id.clone(),
            display_name: player.name.clone(),
            record,
            points,
            pairing_rating: pairing_ratings
                .as_deref()
                .map(|history| pairing_rating(place, history)),
            bradley_terry: strengths
                .and_then(|all| all.get(place))
                .copied()
                .filter(|_| record.total() > 0),
            as_good_by_chance: as_good,
            as_bad_by_chance: as_bad,
            meter,
            sentence,
        }
    });
    each.collect()
}

fn record<'a>(games: impl Iterator<Item = &'a Game>, player: usize) -> Wdl {
    let mut seen_from_a = [Wdl::default(); 2];
    let [as_a, as_b] = &mut seen_from_a;
    games.for_each(|game| {
        if game.a == player {
            as_a.count(game.verdict)
        } else {
            as_b.count(game.verdict)
        }
    });
    let [first, second] = [*as_a, as_b.reversed()];
    Wdl {
        wins: first.wins + second.wins,
        draws: first.draws + second.draws,
        losses: first.losses + second.losses,
    }
}

fn pairing_rating(place: usize, history: &[(u32, Vec<glicko::Rating>)]) -> PairingRating {
    let ratings = history
        .iter()
        .filter_map(|(round, ratings)| Some((*round, *ratings.get(place)?)));
    let after = |(round, rating): (u32, glicko::Rating)| AfterRound {
        round,
        rating: rating.rating,
        deviation: rating.deviation,
    };
    PairingRating {
        now: ratings
            .clone()
            .next_back()
            .map_or_else(glicko::Rating::default, |(_, rating)| rating),
        history: ratings.map(after).collect(),
    }
}

fn superiority(results: &Results, fit: &Fit, ahead: usize) -> Option<Superiority> {
    let [first, second] = [ahead, ahead + 1].map(|place| results.players.get(place));
    Some(Superiority {
        ahead: first?.id.clone(),
        behind: second?.id.clone(),
        likelihood: fit.superiority(ahead, ahead + 1),
    })
}

fn neighbours(results: &Results, fit: &Fit) -> Vec<Superiority> {
    (0..results.players.len())
        .filter_map(|place| superiority(results, fit, place))
        .collect()
}

fn top_two(results: &Results, fit: &Fit) -> Option<TopTwo> {
    let superiority = superiority(results, fit, 0)?;
    let settled = superiority.likelihood >= SETTLED || superiority.likelihood <= 1.0 - SETTLED;
    let more_matches = if settled {
        Some(0)
    } else {
        matches_needed(fit.chance(0, 1))
    };
    let sentence = sentences::of_top_two(
        &superiority,
        more_matches,
        sentences::is_pure_luck(&results.game),
    );
    Some(TopTwo {
        superiority,
        more_matches,
        sentence,
    })
}
