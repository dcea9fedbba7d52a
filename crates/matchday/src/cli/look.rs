//! `matchday status`, `standings`, `schedule`, `stats`: what anyone may see of a league, once or again and again.

use super::desk::{Desk, ManagerArg};
use super::serve::Stop;
use super::watch::Watch;
use crate::view::{headed, say, table};
use anyhow::{Result, bail};
use matchday_core::protocol::messages::query::{
    MatchProgress, PlayerStatsData, RefereeListing, RefereesData, ScheduleData, ScheduledMatch, StandingsData,
};
use matchday_core::protocol::messages::{GameStatus, Record};
use serde_json::{Value, json};
use std::collections::BTreeMap;
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

#[derive(Debug, clap::Args)]
pub(super) struct StatsArgs {
    /// Which player or referee, such as P01 or REF01
    agent: String,
    #[command(flatten)]
    look: LookArgs,
}

pub(super) async fn status(args: LookArgs) -> Result<ExitCode> {
    show(&args, async |desk| desk.status().await, |data| Ok(status_table(data))).await
}

pub(super) async fn standings(args: LookArgs) -> Result<ExitCode> {
    show(&args, async |desk| desk.data("get_standings", json!({})).await, standings_table).await
}

pub(super) async fn schedule(args: ScheduleArgs) -> Result<ExitCode> {
    let params = args.round.map_or_else(|| json!({}), |round| json!({ "round_id": round }));
    show(&args.look, async |desk| desk.data("get_schedule", params.clone()).await, schedule_table).await
}

pub(super) async fn stats(args: StatsArgs) -> Result<ExitCode> {
    if args.agent.starts_with("REF") {
        let ask = async |desk: &Desk| referee_of(&desk.data("get_referees", json!({})).await?, &args.agent);
        return show(&args.look, ask, referee_table).await;
    }
    let params = json!({"player_id": args.agent});
    show(&args.look, async |desk| desk.data("get_player_stats", params.clone()).await, stats_table).await
}

/// One referee of the list of all.
fn referee_of(data: &Value, wanted: &str) -> Result<Value> {
    let RefereesData { referees } = serde_json::from_value(data.clone())?;
    let known: Vec<_> = referees.iter().map(|referee| referee.referee_id.as_str()).collect();
    match referees.iter().find(|referee| referee.referee_id.as_str() == wanted) {
        Some(referee) => Ok(serde_json::to_value(referee)?),
        None if known.is_empty() => bail!("no referee {wanted}: none has registered yet"),
        None => bail!("no referee {wanted}: the league has {}", known.join(", ")),
    }
}

fn referee_table(data: &Value) -> Result<String> {
    let referee: RefereeListing = serde_json::from_value(data.clone())?;
    let state = data.get("state").and_then(Value::as_str).unwrap_or_default();
    let rows = [
        ("version", referee.version),
        ("state", state.to_owned()),
        ("matches decided", referee.matches_decided.to_string()),
        ("departures from the rules", counted(&referee.deviations)),
    ];
    let rows: Vec<_> = rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]).collect();
    Ok(table(&[referee.referee_id.as_str(), referee.display_name.as_str()], &rows))
}

/// How often each thing was seen, on one line.
fn counted(counts: &BTreeMap<String, u32>) -> String {
    counts.iter().map(|(what, count)| format!("{what} {count}")).collect::<Vec<_>>().join(", ")
}

/// Asks and prints, once or until there is nothing more to come.
async fn show(
    args: &LookArgs,
    ask: impl AsyncFn(&Desk) -> Result<Value>,
    for_people: impl Fn(&Value) -> Result<String>,
) -> Result<ExitCode> {
    let desk = args.at.desk()?;
    let render = async || {
        let data = ask(&desk).await?;
        match args.json {
            true if args.watch => Ok(data.to_string()),
            true => Ok(serde_json::to_string_pretty(&data)?),
            false => for_people(&data).map(|text| headed(&text)),
        }
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

async fn is_completed(desk: &Desk) -> bool {
    desk.status().await.is_ok_and(|status| status.get("status").is_some_and(|phase| phase == "completed"))
}

/// LEAGUE_STATUS as a table of one row.
pub(super) fn status_table(status: &Value) -> String {
    let text = |key: &str| match status.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    };
    let round = format!("{} of {}", text("current_round"), text("total_rounds"));
    let row = vec![text("league_id"), text("status"), round, text("matches_completed")];
    table(&["LEAGUE", "STATUS", "ROUND", "MATCHES COMPLETED"], &[row])
}

fn standings_table(data: &Value) -> Result<String> {
    let StandingsData { standings } = serde_json::from_value(data.clone())?;
    if standings.is_empty() {
        return Ok("no player has registered yet".to_owned());
    }
    let rows: Vec<Vec<String>> = standings
        .iter()
        .map(|row| {
            let numbers = [row.played, row.wins, row.draws, row.losses, row.points].map(|n| n.to_string());
            let mut cells =
                vec![row.rank.to_string(), row.player_id.to_string(), row.display_name.to_string()];
            cells.extend(numbers);
            cells.push(row.rank_reason.clone().unwrap_or_default());
            cells
        })
        .collect();
    let headers = ["RANK", "PLAYER", "NAME", "PLAYED", "WON", "DRAWN", "LOST", "POINTS", ""];
    Ok(table(&headers, &rows))
}

fn schedule_table(data: &Value) -> Result<String> {
    let ScheduleData { rounds } = serde_json::from_value(data.clone())?;
    if rounds.is_empty() {
        return Ok("the rounds are drawn up when the league starts".to_owned());
    }
    let mut rows = Vec::new();
    for round in &rounds {
        for game in &round.matches {
            let referee = game.referee_id.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
            let (a, b) = (&game.player_a_id, &game.player_b_id);
            let (number, id) = (round.round_id.to_string(), game.match_id.to_string());
            rows.push(vec![number, id, a.to_string(), b.to_string(), referee, outcome(game)]);
        }
        if let Some(bye) = &round.bye {
            let dash = || "-".to_owned();
            rows.push(vec![
                round.round_id.to_string(),
                dash(),
                bye.to_string(),
                dash(),
                dash(),
                "bye".into(),
            ]);
        }
    }
    Ok(table(&["ROUND", "MATCH", "PLAYER A", "PLAYER B", "REFEREE", "RESULT"], &rows))
}

fn outcome(game: &ScheduledMatch) -> String {
    match (&game.result, game.state) {
        (Some(result), _) => {
            let technical = if result.status == GameStatus::TechnicalLoss { " (technical)" } else { "" };
            match &result.winner {
                Some(winner) => format!("{winner} won{technical}"),
                None if technical.is_empty() => "draw".to_owned(),
                None => "nobody won (technical)".to_owned(),
            }
        }
        (None, MatchProgress::Playing) => "playing".to_owned(),
        (None, _) => "to come".to_owned(),
    }
}

fn stats_table(data: &Value) -> Result<String> {
    let PlayerStatsData { player_id, display_name, stats } = serde_json::from_value(data.clone())?;
    let rate = |count: u32, rate: Option<f64>| match rate {
        Some(rate) => format!("{count} ({:.0} %)", rate * 100.0),
        None => count.to_string(),
    };
    let against = stats.against.iter().map(|(player, record)| {
        let Record { wins, draws, losses } = record;
        format!("{player} {wins}-{draws}-{losses}")
    });
    let answer = stats.mean_answer_ms.map_or_else(|| "-".to_owned(), |ms| format!("{ms} ms"));
    let rows = [
        ("rank", stats.rank.to_string()),
        ("points", stats.points.to_string()),
        ("played", stats.played.to_string()),
        ("won", rate(stats.wins, stats.win_rate)),
        ("drawn", rate(stats.draws, stats.draw_rate)),
        ("lost", rate(stats.losses, stats.loss_rate)),
        ("technical losses", stats.technical_losses.to_string()),
        ("mean answer", answer),
        ("choices", counted(&stats.choices)),
        ("won-drawn-lost against", against.collect::<Vec<_>>().join(", ")),
        ("departures from the rules", counted(&stats.deviations)),
    ];
    let rows: Vec<_> = rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]).collect();
    Ok(table(&[player_id.as_str(), display_name.as_str()], &rows))
}
