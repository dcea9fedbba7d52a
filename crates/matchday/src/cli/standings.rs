//! `matchday standings`: the table.

use super::query::{QueryArgs, cell, show};
use anyhow::Result;
use matchday_audit::plural::count_of;
use matchday_terminal::table;
use serde_json::Value;
use std::process::ExitCode;

pub(super) async fn execute(args: QueryArgs) -> Result<ExitCode> {
    show(&args, async |client| client.standings().await, standings_table).await
}

const FIELDS: [&str; 9] =
    ["rank", "player_id", "display_name", "played", "wins", "draws", "losses", "technical_losses", "points"];

/// Managers of another make may tell of a row no more than rank, player and points.
fn standings_table(data: &Value) -> Result<String> {
    let rows = data.get("standings").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if rows.is_empty() {
        return Ok("no player has registered yet".to_owned());
    }
    let number = |row: &Value, field: &str| row.get(field).and_then(Value::as_u64);
    let unplayed = rows.iter().all(|row| number(row, "played") == Some(0));
    let is_ladder = rows.iter().any(|row| row.get("rating").is_some());
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let mut cells: Vec<String> = FIELDS.iter().map(|field| cell(row, field)).collect();
            if let (true, [rank, ..]) = (unplayed, cells.as_mut_slice()) {
                // Nobody has a rank before the first result.
                *rank = "-".to_owned();
            }
            if is_ladder {
                cells.extend([cell(row, "rating"), interval(row)]);
            }
            cells.push(if unplayed { String::new() } else { cell(row, "rank_reason") });
            cells
        })
        .collect();
    let known = ["RANK", "PLAYER", "NAME", "PLAYED", "WON", "DRAWN", "LOST", "TECHNICAL", "POINTS"];
    let rated: &[&str] = if is_ladder { &["RATING", "95 %"] } else { &[] };
    let remark = match data.get("results_unproven").and_then(Value::as_u64) {
        None | Some(0) => String::new(),
        Some(unproven) => format!("\n{}", unproven_remark(unproven)),
    };
    Ok(table(&[&known, rated, &["WHY"]].concat(), &rows) + &remark)
}

/// What is to be said of results that nobody proved.
pub(super) fn unproven_remark(unproven: u64) -> String {
    let many = count_of(usize::try_from(unproven).unwrap_or(usize::MAX), "result is", "results are");
    format!("{many} unproven: the word of a referee, although a player of the match has a key")
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn row(number: u32, played: u32, technical: u32) -> Value {
        json!({
            "rank": 1, "player_id": format!("P0{number}"), "display_name": "Ada", "played": played, "wins": 0, "draws": 0,
            "losses": played, "technical_losses": technical, "points": 0, "rank_reason": "level with P02",
        })
    }

    #[test]
    fn technical_losses_are_shown_and_ranks_only_after_a_match() {
        let shown = |rows: [Value; 2]| standings_table(&json!({ "standings": rows })).unwrap();
        insta::assert_snapshot!(shown([row(1, 2, 1), row(2, 2, 0)]), @r"
        RANK  PLAYER  NAME  PLAYED  WON  DRAWN  LOST  TECHNICAL  POINTS  WHY
           1  P01     Ada        2    0      0     2          1       0  level with P02
           1  P02     Ada        2    0      0     2          0       0  level with P02
        ");
        insta::assert_snapshot!(shown([row(1, 0, 0), row(2, 0, 0)]), @r"
        RANK  PLAYER  NAME  PLAYED  WON  DRAWN  LOST  TECHNICAL  POINTS  WHY
        -     P01     Ada        0    0      0     0          0       0
        -     P02     Ada        0    0      0     0          0       0
        ");
    }
}
