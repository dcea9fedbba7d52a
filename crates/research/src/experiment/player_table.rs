//! What is told of each player of an experiment with models: rating, wins by seat, failures by their kind, what it used. A fold
//! over rows and replies; pure.

use super::blunders::{Judged, Known, judge};
use super::models::ModelPlayer;
use super::plan::Plan;
use super::replies::{Key, TurnRecord};
use crate::Ending;
use crate::match_row::Row;
use matchday_core::agent::Usage;
use matchday_core::game::Seat;
use matchday_runtime::decider::FailureKind;
use matchday_stats::bradley_terry::{Model, Pair, Prior, RATING_AVERAGE, RATING_SCALE};
use matchday_stats::estimate::Estimate;
use matchday_stats::posterior;
use matchday_stats::quantile::quantile;
use matchday_stats::results::Wdl;
use matchday_stats::rng::SeededRng;
use matchday_stats::spread::{self, Hyperprior};
use serde::Serialize;
use std::collections::BTreeMap;

/// Draws from the posterior distribution of ratings.
const DRAWS: u32 = 4_000;
/// With fewer matches a rating says little.
const MATCHES_MIN: u64 = 30;

/// Of one player in some games.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PlayerRow {
    pub player: String,
    /// As the plan names it; empty for strategies and programs.
    pub model: String,
    /// As the server states it.
    pub served_as: Vec<String>,
    /// By the Bradley-Terry model, with a credible interval of 95 %.
    pub rating: Option<Estimate>,
    /// In the first and in the second seat.
    pub seats: [Wdl; 2],
    /// Matches that both lost.
    pub lost_by_both: u64,
    /// Matches that it forfeited, by why.
    pub forfeits: BTreeMap<FailureKind, u64>,
    /// Matches of it in which its own server failed in every attempt.
    pub not_played: u64,
    /// Attempts at a match that its own server failed.
    pub voided: u64,
    /// Calls whose answer was no move, by why.
    pub failed_calls: BTreeMap<FailureKind, u64>,
    pub usage: Usage,
    /// Whether the plan states prices.
    pub has_prices: bool,
    /// Of a call, in milliseconds: the median and the 95th percentile.
    pub latency_ms: Option<[f64; 2]>,
    /// Moves that the game's rules can judge.
    pub judged: u64,
    pub blunders: u64,
}

/// The players in one game, or in all.
#[derive(Debug, Serialize)]
pub struct Scope {
    /// `None`: all games.
    pub game: Option<String>,
    /// Best first.
    pub players: Vec<PlayerRow>,
    /// The score of each against each, in the order of `players`; a draw is half a win.
    pub scores: Vec<Vec<Option<f64>>>,
}

#[derive(Debug, Serialize)]
pub struct PlayerTable {
    pub scopes: Vec<Scope>,
    /// What the figures do not show.
    pub notes: Vec<String>,
}

/// Counts of the rows of one game.
#[derive(Debug, Clone, Default)]
pub(super) struct PlayerCounts {
    players: Vec<PlayerRow>,
    /// By row and column, each from the point of view of the row.
    pairs: BTreeMap<(usize, usize), Wdl>,
    known: Known,
}

impl PlayerCounts {
    pub(super) fn add(
        &mut self,
        game: &matchday_core::game::GameEntry,
        names: &[String],
        rows: &[Row],
    ) {
        self.players.resize_with(names.len(), PlayerRow::default);
        for row in rows {
            let judged = judge(game, &row.log, &mut self.known);
            for seat in Seat::BOTH {
                self.count(row, seat, *seat.of(&judged));
            }
            let [a, b] = row.players;
            for (seat, pair) in [(Seat::A, (a, b)), (Seat::B, (b, a))] {
                let record = self.pairs.entry(pair).or_default();
                count(record, row.ending, seat);
            }
        }
    }

    fn count(&mut self, row: &Row, seat: Seat, judged: Judged) {
        let Some(player) = self.players.get_mut(*seat.of(&row.players)) else {
            return;
        };
        let [first, second] = &mut player.seats;
        let record = if seat == Seat::A { first } else { second };
        count(record, row.ending, seat);
        player.lost_by_both += u64::from(row.ending == Ending::ForfeitedByBoth);
        let failure = *seat.of(&row.failures);
        match (row.ending, failure) {
            (Ending::NotPlayed, Some(FailureKind::Server)) => player.not_played += 1,
            (Ending::NotPlayed, _) | (_, None) => {}
            (_, Some(kind)) => *player.forfeits.entry(kind).or_default() += 1,
        }
        player.judged += judged.moves;
        player.blunders += judged.blunders;
    }
}

fn count(record: &mut Wdl, ending: Ending, seat: Seat) {
    match ending.half_points(seat) {
        Some(2) => record.wins += 1,
        Some(1) => record.draws += 1,
        Some(_) => record.losses += 1,
        None => {}
    }
}

impl PlayerRow {
    pub fn record(&self) -> Wdl {
        let [first, second] = self.seats;
        sum(first, second)
    }

    pub fn matches(&self) -> u64 {
        self.record().total() + self.lost_by_both
    }

    fn add(&mut self, other: &Self) {
        for (own, more) in self.seats.iter_mut().zip(other.seats) {
            *own = sum(*own, more);
        }
        self.lost_by_both += other.lost_by_both;
        self.not_played += other.not_played;
        self.judged += other.judged;
        self.blunders += other.blunders;
        for (kind, count) in &other.forfeits {
            *self.forfeits.entry(*kind).or_default() += count;
        }
    }

    fn add_turns<'a>(&mut self, turns: impl Iterator<Item = &'a TurnRecord>) {
        let mut latencies: Vec<f64> = Vec::new();
        for turn in turns {
            self.voided += u64::from(turn.failure == Some(FailureKind::Server));
            for call in &turn.calls {
                latencies.push(call.latency_ms as f64);
                self.usage = self.usage.plus(Usage {
                    calls: 1,
                    input_tokens: call.input_tokens,
                    output_tokens: call.output_tokens,
                    cost_micros: call.cost_micros,
                });
                if let Some(kind) = call.failure {
                    *self.failed_calls.entry(kind).or_default() += 1;
                }
                if let Some(name) = &call.model
                    && !self.served_as.contains(name)
                {
                    self.served_as.push(name.clone());
                }
            }
        }
        latencies.sort_by(f64::total_cmp);
        let share = |share| quantile(&latencies, share);
        self.latency_ms = share(0.5).zip(share(0.95)).map(|(p50, p95)| [p50, p95]);
    }
}

fn sum(one: Wdl, other: Wdl) -> Wdl {
    Wdl {
        wins: one.wins + other.wins,
        draws: one.draws + other.draws,
        losses: one.losses + other.losses,
    }
}

/// `counts` are of each group of the plan: one game in one format.
pub(super) fn table(
    plan: &Plan,
    counts: &[&PlayerCounts],
    turns: &[(Key, TurnRecord)],
) -> PlayerTable {
    let cells = plan.cells();
    let mut names: Vec<String> = Vec::new();
    for name in plan.tournaments.iter().flat_map(|game| game.names()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let scope = |game: Option<&'static str>| {
        let groups = cells
            .iter()
            .filter(|cell| game.is_none_or(|game| cell.tournament.game.name == game))
            .map(|cell| (cell.group, cell.tournament));
        let groups: BTreeMap<usize, _> = groups.collect();
        let mut players: Vec<PlayerRow> = names
            .iter()
            .map(|name| PlayerRow {
                player: name.clone(),
                ..PlayerRow::default()
            })
            .collect();
        let mut pairs: BTreeMap<(usize, usize), Wdl> = BTreeMap::new();
        for (group, tournament) in groups {
            let own = tournament.names();
            let place = |number: usize| {
                let name = own.get(number)?;
                names.iter().position(|known| known == name)
            };
            let Some(counts) = counts.get(group) else {
                continue;
            };
            for (number, row) in counts.players.iter().enumerate() {
                if let Some(all) = place(number).and_then(|place| players.get_mut(place)) {
                    all.add(row);
                }
            }
            for ((a, b), record) in &counts.pairs {
                if let Some(pair) = place(*a).zip(place(*b)) {
                    let all = pairs.entry(pair).or_default();
                    *all = sum(*all, *record);
                }
            }
        }
        for (place, player) in players.iter_mut().enumerate() {
            let of_player = turns.iter().filter(|(key, _)| {
                cells.get(key.cell).is_some_and(|cell| {
                    game.is_none_or(|game| cell.tournament.game.name == game)
                        && cell.tournament.names().get(key.player) == names.get(place)
                })
            });
            player.add_turns(of_player.map(|(_, turn)| turn));
            if let Some(model) = model_of(plan, &player.player) {
                player.model.clone_from(&model.model);
                player.has_prices = model.has_prices;
            }
        }
        rated(game, players, &pairs)
    };
    let mut scopes = vec![scope(None)];
    if plan.tournaments.len() > 1 {
        scopes.extend(plan.tournaments.iter().map(|of| scope(Some(of.game.name))));
    }
    let notes = notes(plan, &scopes);
    PlayerTable { scopes, notes }
}

fn model_of<'a>(plan: &'a Plan, name: &str) -> Option<&'a ModelPlayer> {
    let model = plan.models.iter().find(|model| model.name == name);
    model.map(AsRef::as_ref)
}

/// Ratings, and everything in their order.
fn rated(
    game: Option<&'static str>,
    mut players: Vec<PlayerRow>,
    pairs: &BTreeMap<(usize, usize), Wdl>,
) -> Scope {
    let once = pairs
        .iter()
        .filter(|((a, b), record)| a < b && record.total() > 0);
    let once = once.map(|((a, b), record)| Pair {
        a: *a,
        b: *b,
        record: *record,
    });
    let model = Model::of_pairs(players.len(), once.collect(), Prior::default());
    let fit = (!pairs.is_empty())
        .then(|| spread::fit(&model, Hyperprior::Uniform))
        .flatten();
    if let Some(fit) = fit {
        let intervals = posterior::intervals(&model, &fit, DRAWS, &mut SeededRng::new(1, 2));
        let rating = |strength: f64| RATING_AVERAGE + RATING_SCALE * strength;
        for ((player, value), [low, high]) in players.iter_mut().zip(fit.ratings()).zip(intervals) {
            player.rating = (player.record().total() > 0).then(|| Estimate {
                value,
                low: rating(low),
                high: rating(high),
            });
        }
    }
    let mut order: Vec<usize> = (0..players.len()).collect();
    let value = |player: &PlayerRow| {
        player
            .rating
            .map_or(f64::NEG_INFINITY, |rating| rating.value)
    };
    order.sort_by(|a, b| {
        let [a, b] = [a, b].map(|place| players.get(*place).map_or(f64::NEG_INFINITY, value));
        b.total_cmp(&a)
    });
    let score = |a: usize, b: usize| {
        let record = pairs.get(&(a, b))?;
        let points = record.wins as f64 + record.draws as f64 / 2.0;
        (record.total() > 0).then(|| points / record.total() as f64)
    };
    Scope {
        game: game.map(str::to_owned),
        scores: order
            .iter()
            .map(|a| order.iter().map(|b| score(*a, *b)).collect())
            .collect(),
        players: order
            .iter()
            .filter_map(|place| players.get(*place).cloned())
            .collect(),
    }
}

fn notes(plan: &Plan, scopes: &[Scope]) -> Vec<String> {
    let mut notes = Vec::new();
    let players = scopes.first().map_or(&[][..], |all| all.players.as_slice());
    let few: Vec<&str> = players
        .iter()
        .filter(|player| player.matches() < MATCHES_MIN)
        .map(|player| player.player.as_str())
        .collect();
    if !few.is_empty() {
        notes.push(format!(
            "Fewer than {MATCHES_MIN} matches are too few to tell players apart: {}.",
            few.join(", ")
        ));
    }
    if plan.seeds.len() == 1 {
        notes.push(
            "One seed: openings and chance were drawn once. More seeds show what depends on them."
                .to_owned(),
        );
    }
    let lost: u64 = players.iter().map(|player| player.not_played).sum();
    if lost > 0 {
        notes.push(format!(
            "Matches that were not played because the server of a model failed in every attempt: {lost}. They count for nobody, \
             and if they were harder or easier than others the ratings are off by that."
        ));
    }
    let free: Vec<&str> = players
        .iter()
        .filter(|player| player.usage.calls > 0 && !player.has_prices)
        .map(|player| player.player.as_str())
        .collect();
    if !free.is_empty() {
        notes.push(format!(
            "The plan states no prices, so the cost is not known: {}.",
            free.join(", ")
        ));
    }
    for player in players.iter().filter(|player| player.served_as.len() > 1) {
        notes.push(format!(
            "The server answered for {} as several models: {}.",
            player.player,
            player.served_as.join(", ")
        ));
    }
    notes.push(
        "Intervals take matches as independent. Models that repeat the same games have wider ones than shown; openings give \
         them different games."
            .to_owned(),
    );
    notes
}
