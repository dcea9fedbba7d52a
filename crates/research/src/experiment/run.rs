//! Plays what is missing of an experiment, repetition by repetition, on all cores and in the order of the plan.

use super::folder::Folder;
use super::models::{Unit, in_unit};
use super::plan::{Cell, Plan, format_name};
use super::replies::{Names, Replies};
use super::results::Fold;
use crate::match_row::Row;
use crate::openings::Opening;
use crate::simulate::progress::ProgressBar;
use crate::{Duels, Entrant, ExternalRules, Leagues, Run};
use anyhow::Result;
use matchday_core::agent::Usage;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// The replies of an earlier run, in this folder or `from` elsewhere; then no model is asked. What was used counts for the budgets.
pub fn open_replies(folder: &Path, plan: &Plan, from: Option<&Path>) -> Result<Replies> {
    let cells = plan.cells();
    let names = cells.iter().map(|cell| {
        let names = cell.tournament.names().into_iter().enumerate();
        let names = names.map(|(place, name)| {
            let model = cell.tournament.models.iter().find(|(of, _)| *of == place);
            let model = model.map_or_else(String::new, |(_, player)| player.model.clone());
            (name, model)
        });
        Names {
            game: cell.tournament.game.name,
            format: format_name(cell.competition),
            seed: cell.seed,
            players: names.collect(),
        }
    });
    let replies = Replies::open(folder, names.collect(), !plan.models.is_empty(), from)?;
    if from.is_some() {
        return Ok(replies);
    }
    for (key, record) in replies.all() {
        let models = cells.get(key.cell).map(|cell| &cell.tournament.models);
        let mut models = models.into_iter().flatten();
        let Some((_, player)) = models.find(|(place, _)| *place == key.player) else {
            continue;
        };
        for call in &record.calls {
            player.provider.budget.count(Usage {
                calls: 1,
                input_tokens: call.input_tokens,
                output_tokens: call.output_tokens,
                cost_micros: call.cost_micros,
            });
        }
    }
    Ok(replies)
}

/// Plays until every cell is complete, or the run is stopped. Returns whether it is complete.
pub fn play(
    plan: &Plan,
    folder: &mut Folder,
    fold: &mut Fold<'_>,
    run: &Run<'_>,
    replies: &Arc<Replies>,
    bar: &mut ProgressBar,
) -> Result<bool> {
    let cells = plan.cells();
    bar.resume(matches(fold, cells.len()));
    for (number, cell) in cells.iter().enumerate() {
        let (before, _) = fold.played(number);
        if fold.is_complete(number) {
            continue;
        }
        let openings = plan.openings_of(cell).unwrap_or_default();
        let names = cell.tournament.names();
        let entrants = &cell.tournament.entrants.entrants;
        let playing = Playing {
            plan,
            number,
            cell,
            openings: &openings,
            replies,
            run,
        };
        let parts = playing.parts();
        let mut rows: Vec<Row> = Vec::new();
        let mut failed = None;
        run.in_order(
            (plan.repetitions - before) * parts,
            || entrants.iter().any(Entrant::takes_batches),
            |block| {
                let part = block % parts;
                (part, playing.part(before + block / parts, part))
            },
            |(part, of_part)| {
                // A repetition that was interrupted is not whole.
                if run.is_stopped() {
                    return ControlFlow::Break(());
                }
                rows.extend(of_part);
                if part + 1 < parts {
                    return ControlFlow::Continue(());
                }
                let rows = std::mem::take(&mut rows);
                if let Err(error) = folder.append(cell, &names, &rows) {
                    failed = Some(error);
                    return ControlFlow::Break(());
                }
                fold.repetition(number, &rows);
                if bar.is_due() {
                    bar.at(matches(fold, cells.len()), expected(plan, fold, &cells));
                }
                if fold.is_complete(number) {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            },
        );
        if let Some(error) = failed {
            return Err(error);
        }
        if run.is_stopped() {
            return Ok(false);
        }
    }
    Ok(true)
}

fn matches(fold: &Fold<'_>, cells: usize) -> u64 {
    (0..cells).map(|cell| fold.played(cell).1).sum()
}

/// About how many matches there will be: what a league takes is known once one was played.
fn expected(plan: &Plan, fold: &Fold<'_>, cells: &[Cell<'_>]) -> u64 {
    let of_cell = |(number, cell): (usize, &Cell<'_>)| {
        let (repetitions, matches) = fold.played(number);
        if fold.is_complete(number) {
            return matches;
        }
        let players = cell.tournament.entrants.entrants.len() as u64;
        let pairs = players * players.saturating_sub(1) / 2;
        let unit = if cell.competition.is_some() {
            1
        } else {
            u64::from(cell.tournament.settings.matches_of_pair())
        };
        let each = matches.checked_div(repetitions).unwrap_or(pairs * unit);
        each * plan.repetitions
    };
    cells.iter().enumerate().map(of_cell).sum()
}

/// A cell that is being played.
struct Playing<'a> {
    plan: &'a Plan,
    number: usize,
    cell: &'a Cell<'a>,
    openings: &'a [Opening],
    replies: &'a Arc<Replies>,
    run: &'a Run<'a>,
}

impl Playing<'_> {
    /// Of how many parts a repetition is made: a series of each pair, or one league.
    fn parts(&self) -> u64 {
        let players = self.cell.tournament.entrants.entrants.len() as u64;
        match self.cell.competition {
            Some(_) => 1,
            None => (players * players.saturating_sub(1) / 2).max(1),
        }
    }

    fn part(&self, repetition: u64, part: u64) -> Vec<Row> {
        let tournament = self.cell.tournament;
        let entrants = &tournament.entrants.entrants;
        let models = &tournament.models;
        let part = usize::try_from(part).unwrap_or(usize::MAX);
        if models.is_empty() {
            return self.rows(entrants, repetition, part);
        }
        let series = tournament.settings.matches_of_pair();
        let unit = Unit {
            cell: self.number,
            repetition,
            matches_before: u32::try_from(part).unwrap_or(0).saturating_mul(series),
        };
        let entrants = in_unit(entrants, models, unit, self.replies);
        self.rows(&entrants, repetition, part)
    }

    fn rows(&self, entrants: &[Entrant], repetition: u64, part: usize) -> Vec<Row> {
        let Cell {
            tournament, seed, ..
        } = *self.cell;
        let game = tournament.game;
        let rules = tournament
            .rules
            .as_ref()
            .map(|rules| rules as &dyn ExternalRules);
        let mut rows = match self.cell.competition {
            None => {
                let duels = Duels {
                    game,
                    entrants,
                    rules,
                    matches: u64::MAX >> 1,
                    series: tournament.settings.series,
                    openings: self.openings,
                    seed,
                    every_unit: true,
                    records: true,
                };
                duels.play_unit(self.run, part, repetition)
            }
            Some(competition) => {
                let leagues = Leagues {
                    game,
                    entrants,
                    rules,
                    competition,
                    leagues: self.plan.repetitions,
                    seed,
                    records: true,
                };
                // Whether so many can play was checked with the plan.
                leagues.play_one(self.run, repetition).unwrap_or_default()
            }
        };
        rows.iter_mut().for_each(|row| row.cell = self.number);
        rows
    }
}
