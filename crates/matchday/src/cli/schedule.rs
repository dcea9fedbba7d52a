//! `matchday schedule`: the rounds, their matches and results.

use super::query::{QueryArgs, show};
use crate::manager_client::in_our_form;
use crate::view::{schedule_table, table};
use anyhow::Result;
use matchday_core::protocol::messages::query_data::ScheduleData;
use serde_json::Value;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub(super) struct ScheduleArgs {
    #[command(flatten)]
    query: QueryArgs,
    /// Show this round only
    #[arg(long, value_name = "N")]
    round: Option<u32>,
}

pub(super) async fn execute(args: ScheduleArgs) -> Result<ExitCode> {
    show(&args.query, async |client| client.schedule(args.round).await, schedule_table).await
}

fn schedule_table(data: &Value) -> Result<String> {
    let ScheduleData { rounds, rounds_to_come } = in_our_form("schedule", data.clone())?;
    if rounds.is_empty() {
        return Ok("the rounds are drawn up when the league starts".to_owned());
    }
    let titled = rounds.iter().any(|round| round.title.is_some());
    let rows = rounds.iter().flat_map(|round| {
        // All but the reason, which has no room here.
        let head = move |row: Vec<String>| {
            let title = titled.then(|| round.title.clone().unwrap_or_default().escaped().to_string());
            let cells = row.into_iter().take(5);
            std::iter::once(round.round_id.to_string()).chain(title).chain(cells).collect::<Vec<_>>()
        };
        schedule_table::rows(round).into_iter().map(head)
    });
    let rows: Vec<Vec<String>> = rows.collect();
    let headers = ["ROUND", "TITLE", "MATCH", "PLAYER A", "PLAYER B", "REFEREE", "RESULT"];
    let headers: Vec<&str> = headers.into_iter().filter(|header| titled || *header != "TITLE").collect();
    let mut text = table(&headers, &rows);
    if let Some(to_come) = rounds_to_come {
        text.push_str(&format!(
            "\nmore rounds to come, at least {to_come}: each is drawn from the results before it"
        ));
    }
    Ok(text)
}
