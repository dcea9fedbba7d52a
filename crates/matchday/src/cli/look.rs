//! `matchday status`, `standings`, `schedule`: what anyone may see of a league, once or again and again.

use super::desk::{Desk, ManagerArg};
use super::manager_answer::in_our_form;
use super::serve::Stop;
use super::watch::Watch;
use crate::view::{fixtures, headed, say, table};
use anyhow::Result;
use matchday_core::protocol::Untrusted;
use matchday_core::protocol::messages::query::ScheduleData;
use serde_json::Value;
use std::process::ExitCode;
use std::time::Duration;
use tokio::time::sleep;

const REFRESH: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, clap::Args)]
pub(super) struct LookArgs {
    #[command(flatten)]
    at: ManagerArg,
    /// Print the data as JSON
    #[arg(long)]
    json: bool,
    /// Refresh every second until the league is completed, or Ctrl-C
    #[arg(long)]
    watch: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct ScheduleArgs {
    #[command(flatten)]
    look: LookArgs,
    /// Show this round only
    #[arg(long, value_name = "N")]
    round: Option<u32>,
}

pub(super) async fn status(args: LookArgs) -> Result<ExitCode> {
    show(&args, async |desk| desk.status().await, |data| Ok(status_table(data))).await
}

pub(super) async fn standings(args: LookArgs) -> Result<ExitCode> {
    show(&args, async |desk: &Desk| desk.standings().await, standings_table).await
}

pub(super) async fn schedule(args: ScheduleArgs) -> Result<ExitCode> {
    show(&args.look, async |desk: &Desk| desk.schedule(args.round).await, schedule_table).await
}

/// Asks and prints, once or until there is nothing more to come.
pub(super) async fn show(
    args: &LookArgs,
    ask: impl AsyncFn(&Desk) -> Result<Value>,
    for_people: impl Fn(&Value) -> Result<String>,
) -> Result<ExitCode> {
    let desk = args.at.desk()?;
    let render = async || {
        let data = ask(&desk).await?;
        shown(args, &data, &for_people)
    };
    if !args.watch {
        say(render().await?);
        return Ok(ExitCode::SUCCESS);
    }
    let mut stop = Stop::listen()?;
    let mut watch = Watch::new(args.json);
    watch.show(render().await?);
    let watching = async {
        loop {
            // Asked first, so that what is shown last is how it ended.
            let completed = is_completed(&desk).await;
            match render().await {
                Ok(frame) => watch.show(frame),
                // A manager that is being started again is worth waiting for.
                Err(error) => watch.trouble(format!("{error:#}")),
            }
            if completed {
                return;
            }
            sleep(REFRESH).await;
        }
    };
    tokio::select! {
        () = stop.told() => watch.interrupted(),
        () = watching => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// Data as it is printed: for programs or for people.
pub(super) fn shown(
    args: &LookArgs,
    data: &Value,
    for_people: impl Fn(&Value) -> Result<String>,
) -> Result<String> {
    match args.json {
        true if args.watch => Ok(data.to_string()),
        true => Ok(serde_json::to_string_pretty(data)?),
        false => for_people(data).map(|text| headed(&text)),
    }
}

async fn is_completed(desk: &Desk) -> bool {
    desk.status().await.is_ok_and(|status| status.get("status").is_some_and(|phase| phase == "completed"))
}

/// LEAGUE_STATUS as a table of one row.
pub(super) fn status_table(status: &Value) -> String {
    let text = |key: &str| cell(status, key);
    let mut round = format!("{} of {}", text("current_round"), text("total_rounds"));
    if let Some(Value::String(title)) = status.get("round_title") {
        round.push_str(&format!(" ({title})"));
    }
    let row = vec![text("league_id"), text("status"), round, text("matches_completed")];
    table(&["LEAGUE", "STATUS", "ROUND", "MATCHES COMPLETED"], &[row])
}

/// A field as it is shown, empty if it is missing.
fn cell(object: &Value, key: &str) -> String {
    match object.get(key) {
        Some(Value::String(text)) => Untrusted::new(text).escaped().to_string(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    }
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
        fixtures::rows(round).into_iter().map(head)
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
