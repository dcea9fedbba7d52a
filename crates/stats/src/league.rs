//! All that statistics have to say about one league: results in, plain data and sentences out. Pure; the same results and
//! the same seed give the same numbers.

use crate::bootstrap;
use crate::bradley_terry::{Fit, Model, Prior, rating};
use crate::chance::{self, PointsByChance};
use crate::complementary::Meeting;
use crate::dice::Dice;
use crate::glicko;
use crate::holm;
use crate::luck::{self, TableByChance};
use crate::results::{Game, Results, Verdict, Wdl};
use crate::settle::matches_to_settle;
use crate::words;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Where chance comes from, and how much work may be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    pub seed: u64,
    /// How often a league is played again for the intervals of strengths; large leagues take fewer, down to 100.
    pub resamples: u32,
    /// How many leagues of chance the table is held against; large leagues take fewer, down to 500.
    pub leagues_of_chance: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { seed: 1, resamples: 400, leagues_of_chance: 4000 }
    }
}

/// A pair of players whose p-value, corrected for the number of pairs, is below this is asked about.
pub const ASK_BELOW: f64 = 0.05;
/// A likelihood from which on something counts as settled.
pub const SETTLED: f64 = 0.95;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeagueStatistics {
    pub game: String,
    /// Matches that were played out. All that follows is about these.
    pub matches: u32,
    /// Matches that somebody lost without playing, which say nothing of strength.
    pub forfeits: u32,
    pub luck: Luck,
    /// In the order of the table.
    pub players: Vec<PlayerStatistics>,
    /// Each place of the table against the next.
    pub neighbours: Vec<Superiority>,
    pub top_two: Option<TopTwo>,
    /// In even/odd only.
    pub complementary: Option<Complementary>,
}

/// How much of the table chance explains.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Luck {
    pub chance: chance::Model,
    /// `None` before the first match.
    pub table: Option<TableByChance>,
    pub meter: Meter,
    /// The luck meter, for people.
    pub sentence: String,
    /// What the game itself allows for, where there is something to know.
    pub note: Option<String>,
}

/// How far luck alone explains something, by its chance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Meter {
    /// There is nothing to explain yet.
    NothingYet,
    /// Luck does this in a fifth of all cases or more.
    Luck,
    /// In less than a fifth.
    Hint,
    /// In less than one case of 20.
    ProbablyMore,
    /// In less than one case of 100.
    HardlyLuck,
}

impl Meter {
    pub fn of(chance: f64) -> Self {
        match chance {
            p if p < 0.01 => Self::HardlyLuck,
            p if p < 0.05 => Self::ProbablyMore,
            p if p < 0.2 => Self::Hint,
            _ => Self::Luck,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlayerStatistics {
    pub player_id: String,
    pub display_name: String,
    /// Of the matches that were played out.
    pub record: Wdl,
    pub points: u64,
    pub glicko: Glicko,
    /// `None` before the player's first match.
    pub bradley_terry: Option<Strength>,
    /// The exact chance of so many points or more, and of so many or fewer, if nobody were better than anybody.
    pub as_good_by_chance: f64,
    pub as_bad_by_chance: f64,
    pub meter: Meter,
    /// For people.
    pub sentence: String,
}

/// A rating of Glicko-2.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Glicko {
    #[serde(flatten)]
    pub now: glicko::Rating,
    /// With 95 %, the true rating lies between these.
    pub low: f64,
    pub high: f64,
    /// How it came about.
    pub history: Vec<AfterRound>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AfterRound {
    pub round: u32,
    pub rating: f64,
    pub deviation: f64,
}

/// A strength by Bradley and Terry, as a rating: 1500 is the average of the league, 400 points are ten to one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Strength {
    pub rating: f64,
    /// With 95 %, the true one lies between these.
    pub low: f64,
    pub high: f64,
}

/// How likely it is that of two players the one with the better place is the better one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Superiority {
    pub ahead: String,
    pub behind: String,
    pub likelihood: f64,
}

/// The first two of the table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TopTwo {
    #[serde(flatten)]
    pub superiority: Superiority,
    /// How many more matches between them would settle which one is better, if they go on as they have. `None` if they
    /// are too close for any number that could be played.
    pub more_matches: Option<u64>,
    /// For people.
    pub sentence: String,
}

/// Whether pairs of players call opposite more often than they would without an agreement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Complementary {
    /// How many pairs have met.
    pub pairs: u32,
    /// Whether any pair has met often enough for an agreement to show.
    pub can_be_told: bool,
    /// The smallest p-value of all pairs, not corrected.
    pub p_smallest: Option<f64>,
    /// The pairs that are worth a question, the most conspicuous first.
    pub questions: Vec<Question>,
    /// For people.
    pub sentence: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    pub players: [String; 2],
    pub met: u32,
    pub opposite: u32,
    pub expected: f64,
    pub p: f64,
    /// Corrected for the number of pairs, after Holm.
    pub p_corrected: f64,
    /// For people: a question, not a verdict.
    pub sentence: String,
}

impl LeagueStatistics {
    pub fn of(results: &Results, settings: &Settings) -> Self {
        let games = results.games();
        let forfeits = results.matches.iter().filter(|played| played.forfeited).count();
        let chance = chance::Model::of(&results.game, &games);
        let model = Model::of(results.players.len(), &games, Prior::default());
        let fit = if games.is_empty() { None } else { model.fit() };
        let strengths = fit.as_ref().map(|fit| strengths(&model, fit, games.len(), settings));
        Self {
            game: results.game.clone(),
            matches: count(games.len()),
            forfeits: count(forfeits),
            luck: luck(results, &games, chance, settings),
            players: players(results, &games, &chance, strengths.as_deref()),
            neighbours: fit.as_ref().map_or_else(Vec::new, |fit| neighbours(results, fit)),
            top_two: fit.as_ref().and_then(|fit| top_two(results, fit)),
            complementary: complementary(results, &games),
        }
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// How often something that costs as much as the league is large may be done.
fn within(work: usize, matches: usize, least: u32, most: u32) -> u32 {
    count(work / matches.max(1)).max(least).min(most)
}

fn luck(results: &Results, games: &[Game], chance: chance::Model, settings: &Settings) -> Luck {
    let leagues = within(20_000_000, games.len(), 500, settings.leagues_of_chance);
    let mut dice = Dice::new(settings.seed, 1);
    let players = results.players.len();
    let table = luck::against_chance(players, games, &chance, leagues, &mut dice);
    let meter = table.map_or(Meter::NothingYet, |table| Meter::of(table.spread));
    let sentence = words::of_table(meter, table.as_ref(), chance.basis, players);
    Luck { chance, table, meter, sentence, note: words::of_game(&results.game) }
}

fn strengths(model: &Model, fit: &Fit, matches: usize, settings: &Settings) -> Vec<Strength> {
    let resamples = within(2_000_000, matches, 100, settings.resamples);
    let intervals = bootstrap::intervals(model, fit, resamples, &mut Dice::new(settings.seed, 2));
    let strengths = fit.ratings().zip(intervals);
    strengths.map(|(of, [low, high])| Strength { rating: of, low: rating(low), high: rating(high) }).collect()
}

fn players(
    results: &Results,
    games: &[Game],
    chance: &chance::Model,
    strengths: Option<&[Strength]>,
) -> Vec<PlayerStatistics> {
    let history = glicko::by_round(results.players.len(), games);
    let all = results.players.len();
    let each = results.players.iter().enumerate().map(|(place, player)| {
        let own = || games.iter().filter(|game| game.a == place || game.b == place);
        let record = record(own(), place);
        let by_chance = PointsByChance::over(own().filter_map(|game| chance.in_game(game, place)));
        let points = record.points();
        let [as_good, as_bad] = [by_chance.at_least(points), by_chance.at_most(points)];
        let (meter, sentence) = words::of_record(&player.id, record, [as_good, as_bad], chance.basis, all);
        PlayerStatistics {
            player_id: player.id.clone(),
            display_name: player.name.clone(),
            record,
            points,
            glicko: glicko_of(place, &history),
            bradley_terry: strengths.and_then(|all| all.get(place)).copied().filter(|_| record.total() > 0),
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
    games.for_each(|game| if game.a == player { as_a.count(game.verdict) } else { as_b.count(game.verdict) });
    let [first, second] = [*as_a, as_b.seen_from_the_other_side()];
    Wdl {
        wins: first.wins + second.wins,
        draws: first.draws + second.draws,
        losses: first.losses + second.losses,
    }
}

fn glicko_of(place: usize, history: &[(u32, Vec<glicko::Rating>)]) -> Glicko {
    let ratings = history.iter().filter_map(|(round, ratings)| Some((*round, *ratings.get(place)?)));
    let now = ratings.clone().next_back().map_or_else(glicko::Rating::default, |(_, rating)| rating);
    let [low, high] = now.interval();
    let after = |(round, glicko::Rating { rating, deviation, .. })| AfterRound { round, rating, deviation };
    Glicko { now, low, high, history: ratings.map(after).collect() }
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
    (0..results.players.len()).filter_map(|place| superiority(results, fit, place)).collect()
}

fn top_two(results: &Results, fit: &Fit) -> Option<TopTwo> {
    let superiority = superiority(results, fit, 0)?;
    let settled = superiority.likelihood >= SETTLED || superiority.likelihood <= 1.0 - SETTLED;
    let more_matches = if settled { Some(0) } else { matches_to_settle(fit.chance(0, 1)) };
    let sentence = words::of_top_two(&superiority, more_matches, words::is_pure_luck(&results.game));
    Some(TopTwo { superiority, more_matches, sentence })
}

/// Every pair that has met, with what both called. In even/odd a match is drawn if both call the same, and only then.
fn meetings(results: &Results, games: &[Game]) -> Vec<([usize; 2], Meeting)> {
    let mut counts: BTreeMap<[usize; 2], (u32, u32)> = BTreeMap::new();
    for game in games {
        let (met, opposite) = counts.entry([game.a.min(game.b), game.a.max(game.b)]).or_default();
        *met += 1;
        *opposite += u32::from(game.verdict != Verdict::Draw);
    }
    let calls = |place: usize| results.players.get(place)?.calls;
    let pairs = counts.into_iter().filter_map(|(pair, (met, opposite))| {
        let [a, b] = pair.map(calls);
        Some((pair, Meeting { a: a?, b: b?, met, opposite }))
    });
    pairs.filter(|(_, meeting)| meeting.is_possible()).collect()
}

fn complementary(results: &Results, games: &[Game]) -> Option<Complementary> {
    if results.game != "even_odd" {
        return None;
    }
    let meetings = meetings(results, games);
    let p_values: Vec<f64> = meetings.iter().map(|(_, meeting)| meeting.p_value()).collect();
    let corrected = holm::adjusted(&p_values);
    let name = |place: usize| results.players.get(place).map_or_else(String::new, |player| player.id.clone());
    let conspicuous = meetings.iter().zip(&p_values).zip(&corrected).filter(|(_, p)| **p < ASK_BELOW);
    let mut questions: Vec<Question> = conspicuous
        .map(|(((pair, meeting), p), p_corrected)| {
            let (met, opposite, expected) = (meeting.met, meeting.opposite, meeting.expected());
            let (players, sentence) = (pair.map(name), String::new());
            Question { players, met, opposite, expected, p: *p, p_corrected: *p_corrected, sentence }
        })
        .collect();
    questions.sort_by(|one, other| one.p.total_cmp(&other.p));
    let pairs = count(meetings.len());
    questions.iter_mut().for_each(|question| question.sentence = words::of_question(question, pairs));
    let could_show = |meeting: &Meeting| meeting.p_value_min() * f64::from(pairs) < ASK_BELOW;
    let can_be_told = !questions.is_empty() || meetings.iter().any(|(_, meeting)| could_show(meeting));
    let p_smallest = p_values.iter().copied().min_by(f64::total_cmp);
    let sentence = words::of_pairs(pairs, can_be_told, p_smallest, &questions);
    Some(Complementary { pairs, can_be_told, p_smallest, questions, sentence })
}
