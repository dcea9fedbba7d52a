//! `matchday standings`: the standings of a league.

use super::query::{QueryArgs, cell, columns, show};
use anyhow::Result;
use matchday_audit::league_view::Standing;
use matchday_audit::plural::count_of;
use matchday_core::protocol::messages::query_data::StandingsData;
use matchday_terminal::standings_table::standings_table;
use matchday_terminal::{Paint, headed, table};
use serde::Deserialize;
use serde_json::Value;
use std::process::ExitCode;

pub(super) async fn execute(args: QueryArgs) -> Result<ExitCode> {
    show(
        &args,
        async |client| client.standings().await,
        |data| Ok(for_people(data)),
    )
    .await
}

fn for_people(data: &Value) -> String {
    let Ok(StandingsData {
        standings,
        results_unproven,
    }) = StandingsData::deserialize(data)
    else {
        return shortest(data);
    };
    if standings.is_empty() {
        return "no player has registered yet".to_owned();
    }
    let rows: Vec<Standing> = standings.iter().map(Into::into).collect();
    let table = standings_table(&rows, rows.len())
        .fitted(columns())
        .text(Paint::of_stdout());
    match results_unproven {
        0 => table,
        unproven => format!("{table}\n{}", unproven_remark(unproven.into())),
    }
}

/// The standings of a manager that tells no more than rank, player and points.
fn shortest(data: &Value) -> String {
    let rows = data
        .get("standings")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    let row = |row: &Value| {
        ["rank", "player_id", "display_name", "points"]
            .map(|key| cell(row, key))
            .to_vec()
    };
    headed(&table(
        &["RANK", "PLAYER", "NAME", "POINTS"],
        &rows.iter().map(row).collect::<Vec<_>>(),
    ))
}

/// What is to be said of results that nobody proved.
pub(super) fn unproven_remark(unproven: u64) -> String {
    let many = count_of(
        usize::try_from(unproven).unwrap_or(usize::MAX),
        "result is",
        "results are",
    );
    format!(
        "{many} unproven: reported by the referee alone, although a player of the match has a key"
    )
}
