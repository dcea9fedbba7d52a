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
    let fields =
        ["rank", "player_id", "display_name", "played", "wins", "draws", "losses", "points", "rank_reason"];
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| fields.iter().map(|field| cell(row, field)).collect()).collect();
    let headers = ["RANK", "PLAYER", "NAME", "PLAYED", "WON", "DRAWN", "LOST", "POINTS", ""];
    Ok(table(&headers, &rows))
}
