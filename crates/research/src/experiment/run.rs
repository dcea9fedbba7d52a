//! Plays what is missing of an experiment, repetition by repetition, on all cores and in the order of the plan.

use super::folder::Folder;
use super::plan::{Cell, Plan};
use super::results::Fold;
use super::row::Row;
use crate::openings::Opening;
use crate::simulate::progress::ProgressBar;
use crate::{Duels, Entrant, ExternalRules, Leagues, Run, Seasons};
use anyhow::Result;
use std::ops::ControlFlow;

/// Plays until every cell is complete, or the run is stopped. Returns whether it is complete.
pub fn play(
    plan: &Plan,
    folder: &mut Folder,
    fold: &mut Fold<'_>,
    run: &Run<'_>,
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
        let mut failed = None;
        run.in_order(
            plan.repetitions - before,
            || entrants.iter().any(Entrant::takes_batches),
            |place| repetition(plan, number, cell, before + place, &openings, run),
            |rows| {
                // A repetition that was interrupted is not whole.
                if run.is_stopped() {
                    return ControlFlow::Break(());
                }
                let text: String = rows.iter().map(|row| row.write(cell, &names)).collect();
                if let Err(error) = folder.append(&text) {
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
            u64::from(plan.series.get()).next_multiple_of(2)
        };
        let each = matches.checked_div(repetitions).unwrap_or(pairs * unit);
        each * plan.repetitions
    };
    cells.iter().enumerate().map(of_cell).sum()
}

/// The rows of one repetition: a series of each pair, or one league.
fn repetition(
    plan: &Plan,
    number: usize,
    cell: &Cell<'_>,
    repetition: u64,
    openings: &[Opening],
    run: &Run<'_>,
) -> Vec<Row> {
    let game = cell.tournament.game;
    let entrants = &cell.tournament.entrants.entrants;
    let seed = cell.seed;
    let rules = cell
        .tournament
        .rules
        .as_ref()
        .map(|rules| rules as &dyn ExternalRules);
    let mut rows = Vec::new();
    if let Some(competition) = cell.competition {
        let leagues = Leagues {
            game,
            entrants,
            rules,
            competition,
            leagues: plan.repetitions,
            seed,
        };
        let season = leagues.play_one(run, repetition, |meeting| {
            rows.push(Row::of(number, repetition, meeting.players, meeting.played));
        });
        // Whether so many can play was checked with the plan.
        let season = season.unwrap_or_else(|_| Seasons::none(entrants.len()));
        let rank = |player: usize| {
            let reached = season
                .places
                .get(player)?
                .iter()
                .position(|count| *count > 0)?;
            u32::try_from(reached + 1).ok()
        };
        for row in &mut rows {
            let [a, b] = row.players.map(rank);
            row.ranks = a.zip(b).map(|(a, b)| [a, b]);
        }
    } else {
        let duels = Duels {
            game,
            entrants,
            rules,
            matches: u64::MAX >> 1,
            series: plan.series,
            openings,
            seed,
            every_unit: true,
        };
        for pair in 0..duels.pairs().len() {
            duels.play_unit(run, pair, repetition, |meeting| {
                rows.push(Row::of(number, repetition, meeting.players, meeting.played));
            });
        }
    }
    (1..)
        .zip(&mut rows)
        .for_each(|(number, row)| row.number = number);
    rows
}
