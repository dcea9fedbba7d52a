//! The standings as table rows, and which columns to show where space is limited. Pure.

use super::rank_changes::{RankChanges, has_begun};
use matchday_core::protocol::messages::StandingRow;

pub const HEADERS: [&str; 10] =
    ["rank", "player", "name", "played", "won", "drawn", "lost", "points", "technical", "why"];

/// Sets of columns, widest first.
pub const COLUMN_SETS: &[&[usize]] = &[
    &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    &[0, 1, 2, 3, 4, 5, 6, 7, 8],
    &[0, 1, 2, 3, 4, 5, 6, 7],
    &[0, 1, 3, 4, 5, 6, 7],
    &[0, 1, 3, 7],
];

/// The same without the optional columns.
pub const COMPACT_COLUMN_SETS: &[&[usize]] =
    &[&[0, 1, 2, 3, 4, 5, 6, 7], &[0, 1, 3, 4, 5, 6, 7], &[0, 1, 3, 7]];

/// The first rows, with how their ranks have changed.
pub fn rows(standings: &[StandingRow], changes: &RankChanges, shown: usize) -> Vec<Vec<String>> {
    let shown = standings.iter().take(shown);
    shown.map(|row| cells(row, changes.rank(row, standings), has_begun(standings))).collect()
}

fn cells(row: &StandingRow, rank: String, has_begun: bool) -> Vec<String> {
    let technical = row.technical_losses.unwrap_or(0);
    let numbers = [row.played, row.wins, row.draws, row.losses, row.points, technical];
    let mut cells = vec![rank, row.player_id.to_string(), row.display_name.escaped().to_string()];
    cells.extend(numbers.iter().map(ToString::to_string));
    let reason = row.rank_reason.clone().filter(|_| has_begun);
    cells.push(reason.unwrap_or_default().escaped().to_string());
    cells
}
