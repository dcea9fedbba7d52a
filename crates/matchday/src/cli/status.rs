//! `matchday status`: how far the league has come.

use super::query::{QueryArgs, cell, show};
use crate::view::table;
use anyhow::Result;
use matchday_core::protocol::Untrusted;
use serde_json::Value;
use std::process::ExitCode;

pub(super) async fn execute(args: QueryArgs) -> Result<ExitCode> {
    show(&args, async |client| client.status().await, |data| Ok(status_table(data))).await
}

/// LEAGUE_STATUS as a table of one row. Managers of another make may tell less, or in their own words.
pub(super) fn status_table(status: &Value) -> String {
    let text = |key: &str| cell(status, key);
    if status.get("players").is_some() {
        let row = vec![text("players"), text("matches_completed")];
        let table = table(&["PLAYERS", "MATCHES COMPLETED"], &[row]);
        return format!("{table}\nthe manager tells no status, this is from its standings");
    }
    if status.get("current_round").is_none() {
        return format!("the manager answers {}", Untrusted::new(&status.to_string()).escaped());
    }
    let mut round = format!("{} of {}", text("current_round"), text("total_rounds"));
    if let Some(Value::String(title)) = status.get("round_title") {
        round.push_str(&format!(" ({title})"));
    }
    let row = vec![text("league_id"), text("status"), round, text("matches_completed")];
    table(&["LEAGUE", "STATUS", "ROUND", "MATCHES COMPLETED"], &[row])
}
