//! The results of an experiment: a fold over the rows of `matches.csv`, so that a run that was interrupted has the same
//! results as one that was not. Pure.

use super::cycles::cycles;
use super::plan::{Cell, Plan, Stop, format_name};
use super::player_table::{self, PlayerCounts, PlayerTable};
use super::replies::Replies;
use crate::distinct::DistinctGames;
use crate::match_row::Row;
use crate::payoff_sums::PayoffSums;
use crate::simulate::report::PairResult;
use crate::summary::{self, SeasonRow};
use crate::{Pair, Seasons, Tally};
use matchday_core::game::Seat;
use matchday_stats::estimate::Estimate;
use matchday_stats::sprt::{Answer, Standing};
use matchday_stats::student::t_95;
use serde::Serialize;

/// With fewer repetitions, intervals are no reason to stop.
const REPETITIONS_MIN: u64 = 20;
/// By how much the number of repetitions grows from one point of a plot to the next.
const GROWTH: f64 = 1.1;

/// All results of one game in one format, over all seeds.
#[derive(Debug, Clone)]
struct Group {
    names: Vec<String>,
    repetitions: u64,
    pairs: Vec<Pair>,
    /// Only of leagues.
    seasons: Option<Seasons>,
    payoffs: Vec<PayoffSums>,
    goes_by_payoff: bool,
    /// Sum and count, of each row against each column.
    payoff_matrix: Vec<Vec<(u64, u64)>>,
    convergence: Vec<Snapshot>,
    /// Only with models.
    players: PlayerCounts,
}

/// The scores after so many repetitions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Snapshot {
    pub repetitions: u64,
    /// One for each strategy, in the order of the plan: the payoff of a match where tables of the game go by that, else the score.
    pub scores: Vec<Option<f64>>,
}

/// What is folded, row by row.
#[derive(Debug)]
pub struct Fold<'a> {
    plan: &'a Plan,
    groups: Vec<Group>,
    cells: Vec<CellFold>,
}

#[derive(Debug)]
struct CellFold {
    group: usize,
    repetitions: u64,
    matches: u64,
    pairs: Vec<Pair>,
}

impl<'a> Fold<'a> {
    pub fn new(plan: &'a Plan) -> Self {
        let cells = plan.cells();
        let mut groups: Vec<Group> = Vec::new();
        for cell in &cells {
            if cell.group == groups.len() {
                let names = cell.tournament.names();
                let count = names.len();
                groups.push(Group {
                    repetitions: 0,
                    pairs: pairs(
                        count,
                        cell.tournament.settings.openings.0 * plan.seeds.len(),
                    ),
                    seasons: cell.competition.map(|_| Seasons::none(count)),
                    payoffs: vec![PayoffSums::default(); count],
                    goes_by_payoff: cell.tournament.game.ranks_by_payoff(),
                    payoff_matrix: vec![vec![(0, 0); count]; count],
                    convergence: Vec::new(),
                    players: PlayerCounts::default(),
                    names,
                });
            }
        }
        let of_cell = |cell: &Cell<'_>| {
            let pairs = pairs(
                cell.tournament.entrants.entrants.len(),
                cell.tournament.settings.openings.0,
            );
            CellFold {
                group: cell.group,
                repetitions: 0,
                matches: 0,
                pairs,
            }
        };
        Self {
            plan,
            groups,
            cells: cells.iter().map(of_cell).collect(),
        }
    }

    /// How many repetitions and matches of a cell there are.
    pub fn played(&self, cell: usize) -> (u64, u64) {
        self.cells
            .get(cell)
            .map_or((0, 0), |cell| (cell.repetitions, cell.matches))
    }

    /// Whether a cell needs no more repetitions.
    pub fn is_complete(&self, cell: usize) -> bool {
        let Some(CellFold {
            repetitions, pairs, ..
        }) = self.cells.get(cell)
        else {
            return true;
        };
        let settled = match self.plan.stop {
            None => false,
            Some(Stop::Sprt(sprt)) => pairs
                .first()
                .is_some_and(|pair| sprt.standing(pair.tally.pairs).answer != Answer::Open),
            Some(Stop::Margin(margin)) => {
                *repetitions >= REPETITIONS_MIN && widest(pairs) <= margin
            }
        };
        settled || *repetitions >= self.plan.repetitions
    }

    /// Takes in the rows of one whole repetition of a cell.
    pub fn repetition(&mut self, cell: usize, rows: &[Row]) {
        let has_models = !self.plan.models.is_empty();
        let cells = if has_models {
            self.plan.cells()
        } else {
            Vec::new()
        };
        let tournament = cells.get(cell).map(|cell| cell.tournament);
        let Some(cell) = self.cells.get_mut(cell) else {
            return;
        };
        cell.repetitions += 1;
        cell.matches += rows.len() as u64;
        if let Some(group) = self.groups.get_mut(cell.group) {
            add_pairs(&mut cell.pairs, rows, group.goes_by_payoff);
            add_pairs(&mut group.pairs, rows, group.goes_by_payoff);
            group.add(rows);
            if let Some(of) = tournament {
                group.players.add(of.game, &group.names, rows);
            }
        }
    }

    /// With what the models said in the matches that count; and that, as it is published.
    pub fn results_with(&self, replies: &Replies) -> anyhow::Result<(Results, String)> {
        let turns = replies.of_played(|key| key.repetition < self.played(key.cell).0);
        let counts: Vec<&PlayerCounts> = self.groups.iter().map(|group| &group.players).collect();
        let results = Results {
            players: Some(player_table::table(self.plan, &counts, &turns)),
            ..self.results()
        };
        Ok((results, replies.text(&turns)?))
    }

    pub fn results(&self) -> Results {
        let cells = self.plan.cells();
        let of_group = |(number, group): (usize, &Group)| {
            let cells = cells
                .iter()
                .zip(&self.cells)
                .filter(|(cell, _)| cell.group == number);
            let of_seed = cells.clone().map(|(cell, played)| SeedResult {
                seed: cell.seed,
                repetitions: played.repetitions,
                matches: played.matches,
                sprt: match self.plan.stop {
                    Some(Stop::Sprt(sprt)) => played
                        .pairs
                        .first()
                        .map(|pair| sprt.standing(pair.tally.pairs)),
                    _ => None,
                },
            });
            let (game, format) = cells.clone().next().map_or(("", ""), |(cell, _)| {
                (cell.tournament.game.name, format_name(cell.competition))
            });
            group.result(game, format, of_seed.collect())
        };
        Results {
            version: env!("CARGO_PKG_VERSION"),
            name: self.plan.name.clone(),
            plan: self.plan.text.clone(),
            players: None,
            groups: self.groups.iter().enumerate().map(of_group).collect(),
        }
    }
}

fn pairs(players: usize, openings: usize) -> Vec<Pair> {
    let places = (0..players).flat_map(|a| (a + 1..players).map(move |b| (a, b)));
    let distinct = DistinctGames::of_openings(openings);
    places
        .map(|(a, b)| Pair {
            a,
            b,
            tally: Tally::default(),
            distinct: distinct.clone(),
        })
        .collect()
}

fn add_pairs(pairs: &mut [Pair], rows: &[Row], goes_by_payoff: bool) {
    for pair in pairs {
        let mut tally = Tally::default();
        let mut before = None;
        for row in rows.iter().filter(|row| row.was_played()) {
            let first = match row.players {
                [a, b] if a == pair.a && b == pair.b => Seat::A,
                [a, b] if a == pair.b && b == pair.a => Seat::B,
                _ => continue,
            };
            tally.count_swapped(row.ending, first, &mut before);
            if goes_by_payoff {
                tally.pay(row.payoffs, first);
            }
            pair.distinct.add(first == Seat::A, row.log.hash());
        }
        if tally.matches() > 0 {
            pair.tally.add_series(&tally);
        }
    }
}

/// Half the width of the widest interval of a strategy's score.
fn widest(pairs: &[Pair]) -> f64 {
    let players = pairs.iter().map(|pair| pair.b + 1).max().unwrap_or(0);
    let names: Vec<String> = vec![String::new(); players];
    let scores = summary::of_duels(&names, pairs)
        .into_iter()
        .filter_map(|row| row.score);
    scores
        .map(|score| (score.high - score.low) / 2.0)
        .fold(0.0, f64::max)
}

impl Group {
    fn add(&mut self, rows: &[Row]) {
        self.repetitions += 1;
        let mut own = vec![PayoffSums::default(); self.names.len()];
        for row in rows.iter().filter(|row| row.was_played()) {
            let [a, b] = row.players;
            let [payoff_a, payoff_b] = row.payoffs;
            for (player, opponent, payoff) in [(a, b, payoff_a), (b, a, payoff_b)] {
                let cell = self
                    .payoff_matrix
                    .get_mut(player)
                    .and_then(|row| row.get_mut(opponent));
                if let Some((total, matches)) = cell {
                    *total += u64::from(payoff);
                    *matches += 1;
                }
                if let Some(own) = own.get_mut(player) {
                    own.pay(payoff);
                }
            }
        }
        self.payoffs
            .iter_mut()
            .zip(own)
            .for_each(|(all, own)| all.add(&own.as_series()));
        self.add_season(rows);
        let last = self
            .convergence
            .last()
            .map_or(0, |snapshot| snapshot.repetitions);
        if self.repetitions as f64 >= last as f64 * GROWTH {
            let snapshot = self.snapshot();
            self.convergence.push(snapshot);
        }
    }

    fn add_season(&mut self, rows: &[Row]) {
        let Some(seasons) = &mut self.seasons else {
            return;
        };
        seasons.leagues += 1;
        seasons.matches += rows.len() as u64;
        for player in 0..self.names.len() {
            let mut tally = Tally::default();
            let mut rank = None;
            for row in rows {
                let is_paid = self.goes_by_payoff && row.was_played();
                for (seat, (place, own)) in Seat::BOTH
                    .into_iter()
                    .zip(row.players.into_iter().zip(row.ranks.unwrap_or_default()))
                {
                    if place == player {
                        tally.count(row.ending, seat);
                        if is_paid {
                            tally.pay(row.payoffs, seat);
                        }
                        rank = usize::try_from(own)
                            .ok()
                            .and_then(|rank| rank.checked_sub(1));
                    }
                }
            }
            seasons
                .tallies
                .get_mut(player)
                .into_iter()
                .for_each(|all| all.add_series(&tally));
            let places = seasons.places.get_mut(player);
            let place = places
                .zip(rank)
                .and_then(|(places, rank)| places.get_mut(rank));
            place.into_iter().for_each(|count| *count += 1);
        }
    }

    /// With an interval over repetitions.
    fn payoff(&self, sums: &PayoffSums) -> Option<Estimate> {
        let (value, error) = sums.mean()?;
        let half = t_95(self.repetitions.saturating_sub(1)) * error;
        Some(Estimate {
            value,
            low: value - half,
            high: value + half,
        })
    }

    fn snapshot(&self) -> Snapshot {
        let rows = summary::of_duels(&self.names, &self.pairs);
        let score = |name: &String| {
            rows.iter()
                .find(|row| row.strategy == *name)
                .and_then(|row| row.payoff_per_match.or(row.score))
                .map(|score| score.value)
        };
        Snapshot {
            repetitions: self.repetitions,
            scores: self.names.iter().map(score).collect(),
        }
    }

    fn result(&self, game: &str, format: &str, seeds: Vec<SeedResult>) -> GroupResult {
        let pairs: Vec<PairResult> = self
            .pairs
            .iter()
            .map(|pair| PairResult::of(&self.names, pair))
            .collect();
        let beats = |a: usize, b: usize| {
            let found = self
                .pairs
                .iter()
                .zip(&pairs)
                .find(|(pair, _)| [pair.a, pair.b] == [a.min(b), a.max(b)]);
            let score = found.and_then(|(_, result)| result.score);
            score.is_some_and(|score| {
                if a < b {
                    score.low > 0.5
                } else {
                    score.high < 0.5
                }
            })
        };
        let name = |place: &usize| self.names.get(*place).cloned().unwrap_or_default();
        let mut convergence = self.convergence.clone();
        if convergence
            .last()
            .is_none_or(|last| last.repetitions < self.repetitions)
            && self.repetitions > 0
        {
            convergence.push(self.snapshot());
        }
        let mean =
            |(total, matches): &(u64, u64)| (*matches > 0).then(|| *total as f64 / *matches as f64);
        GroupResult {
            game: game.to_owned(),
            format: format.to_owned(),
            repetitions: self.repetitions,
            matches: seeds.iter().map(|seed| seed.matches).sum(),
            seeds,
            strategies: summary::of_duels(&self.names, &self.pairs),
            leagues: self
                .seasons
                .as_ref()
                .map(|seasons| summary::of_leagues(&self.names, seasons)),
            payoffs: self
                .names
                .iter()
                .cloned()
                .zip(self.payoffs.iter().map(|sums| self.payoff(sums)))
                .collect(),
            payoff_matrix: self
                .payoff_matrix
                .iter()
                .map(|row| row.iter().map(mean).collect())
                .collect(),
            cycles: cycles(self.names.len(), beats)
                .iter()
                .map(|cycle| cycle.iter().map(name).collect())
                .collect(),
            convergence,
            names: self.names.clone(),
            pairs,
        }
    }
}

/// All of it, as `results.json` holds it.
#[derive(Debug, Serialize)]
pub struct Results {
    /// Of this program.
    pub version: &'static str,
    pub name: String,
    /// As it was written.
    pub plan: String,
    /// If models play.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub players: Option<PlayerTable>,
    #[serde(rename = "results")]
    pub groups: Vec<GroupResult>,
}

impl Results {
    pub(crate) fn matches(&self) -> u64 {
        self.groups.iter().map(|group| group.matches).sum()
    }
}

/// One game in one format, over all seeds.
#[derive(Debug, Serialize)]
pub struct GroupResult {
    pub game: String,
    pub format: String,
    /// In the order of the plan.
    pub names: Vec<String>,
    pub repetitions: u64,
    pub matches: u64,
    pub seeds: Vec<SeedResult>,
    /// By payoff or points per match, as tables of the game are.
    pub strategies: Vec<summary::Row>,
    pub pairs: Vec<PairResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leagues: Option<Vec<SeasonRow>>,
    /// For each match.
    pub payoffs: Vec<(String, Option<Estimate>)>,
    /// Of each row against each column, in the order of `names`.
    pub payoff_matrix: Vec<Vec<Option<f64>>>,
    /// Each beats the next, and the last the first, all with a confidence of 95 %.
    pub cycles: Vec<Vec<String>>,
    pub convergence: Vec<Snapshot>,
}

#[derive(Debug, Serialize)]
pub struct SeedResult {
    pub seed: u64,
    pub repetitions: u64,
    pub matches: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sprt: Option<Standing>,
}
