//! `matchday standings`: the table.

use super::query::{QueryArgs, cell, show};
use crate::view::table;
use anyhow::Result;
use serde_json::Value;
use std::process::ExitCode;

pub(super) async fn execute(args: QueryArgs) -> Result<ExitCode> {
    show(&args, async |client| client.standings().await, standings_table).await
}

/// Managers of another make may tell of a row no more than rank, player and points.
fn standings_table(data: &Value) -> Result<String> {
    let rows = data.get("standings").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if rows.is_empty() {
        return Ok("no player has registered yet".to_owned());
    }
    let is_ladder = rows.iter().any(|row| row.get("rating").is_some());
    let fields = ["rank", "player_id", "display_name", "played", "wins", "draws", "losses", "points"];
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let known = fields.iter().map(|field| cell(row, field));
            let rated = is_ladder.then(|| [cell(row, "rating"), interval(row)]);
            known.chain(rated.into_iter().flatten()).chain([cell(row, "rank_reason")]).collect()
        })
        .collect();
    let known = ["RANK", "PLAYER", "NAME", "PLAYED", "WON", "DRAWN", "LOST", "POINTS"];
    let rated: &[&str] = if is_ladder { &["RATING", "95 %"] } else { &[] };
    Ok(table(&[&known, rated, &[""]].concat(), &rows))
}

/// The 95 % interval of a rating.
fn interval(row: &Value) -> String {
    let number = |field: &str| row.get(field).and_then(Value::as_f64);
    match number("rating").zip(number("rating_deviation")) {
        Some((rating, deviation)) => {
            format!("{:.0} to {:.0}", rating - 1.96 * deviation, rating + 1.96 * deviation)
        }
        None => String::new(),
    }
}
