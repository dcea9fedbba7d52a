//! `matchday status`: how far the league has come.

use super::query::{QueryArgs, cell, show};
use super::standings::unproven_remark;
use crate::manager_client::ManagerClient;
use anyhow::Result;
use matchday_audit::plural::count_of;
use matchday_core::protocol::{Timestamp, Untrusted};
use matchday_runtime::Clock;
use matchday_terminal::{headed, table};
use serde_json::{Value, json};
use std::process::ExitCode;

pub(super) async fn execute(args: QueryArgs) -> Result<ExitCode> {
    let ask = async |client: &ManagerClient| {
        let mut status = client.status().await?;
        if status.get("status").and_then(Value::as_str) == Some(REGISTRATION)
            && let (Some(registered), Some(status)) =
                (registered(client).await, status.as_object_mut())
        {
            status.insert("registered".to_owned(), registered);
        }
        if let (Some(status), Some(relay)) = (status.as_object_mut(), client.relay().await) {
            status.insert("connections".to_owned(), relay);
        }
        Ok(status)
    };
    show(&args, ask, |data| {
        Ok(headed(&status_table(data)) + &registered_table(data) + &connections_table(data))
    })
    .await
}

/// The phase before the start.
const REGISTRATION: &str = "registration";

/// Who has registered: players by the standings, and referees by the dashboard, if it is open. `None` if the manager does not tell.
async fn registered(client: &ManagerClient) -> Option<Value> {
    let standings = client.standings().await.ok()?;
    let listed = |data: &Value, list: &str, id: &str, name: &str| -> Vec<Value> {
        let agents = data.get(list).and_then(Value::as_array);
        let agents = agents.map(Vec::as_slice).unwrap_or_default().iter();
        agents
            .map(|agent| json!({"agent_id": agent.get(id), "display_name": agent.get(name)}))
            .collect()
    };
    let mut all = listed(&standings, "standings", "player_id", "display_name");
    let page = client.dashboard_page("api/referees").await;
    let referees = page.and_then(|page| serde_json::from_slice::<Value>(&page).ok());
    if let Some(referees) = referees {
        all.extend(listed(&referees, "referees", "id", "name"));
    }
    Some(all.into())
}

/// Who has registered, while more can; empty if that is not known.
fn registered_table(status: &Value) -> String {
    let Some(agents) = status.get("registered").and_then(Value::as_array) else {
        return String::new();
    };
    if agents.is_empty() {
        return "\n\nnobody has registered yet".to_owned();
    }
    let row = |agent: &Value| vec![cell(agent, "agent_id"), cell(agent, "display_name")];
    let rows: Vec<_> = agents.iter().map(row).collect();
    format!("\n\n{}", table(&["REGISTERED", "NAME"], &rows))
}

/// How each agent is connected; empty if none dials out.
fn connections_table(status: &Value) -> String {
    let agents = status
        .get("connections")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    let text = |agent: &Value, key: &str| {
        agent
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    if !agents.iter().any(|agent| text(agent, "via") == "relay") {
        return String::new();
    }
    let row = |agent: &Value| {
        let how = match (
            text(agent, "via").as_str(),
            text(agent, "transport").as_str(),
        ) {
            ("relay", "stream") => "relay, stream",
            ("relay", "long_poll") => "relay, long poll",
            ("relay", _) => "relay, not connected",
            _ => "direct",
        };
        vec![
            cell(agent, "agent_id"),
            how.to_owned(),
            cell(agent, "since"),
        ]
    };
    let rows: Vec<_> = agents.iter().map(row).collect();
    format!("\n\n{}", table(&["AGENT", "CONNECTION", "SINCE"], &rows))
}

/// LEAGUE_STATUS as a table of one row. Managers of another make may tell less, or in their own words.
pub(super) fn status_table(status: &Value) -> String {
    let text = |key: &str| cell(status, key);
    if status.get("players").is_some() {
        let row = vec![text("players"), text("matches_completed")];
        let table = table(&["PLAYERS", "MATCHES COMPLETED"], &[row]);
        return format!("{table}\nthe manager has no status: this is from its standings");
    }
    if status.get("current_round").is_none() {
        return format!(
            "the manager answers {}",
            Untrusted::new(&status.to_string()).escaped()
        );
    }
    let mut round = match status.get("ladder") {
        Some(Value::Bool(true)) => text("current_round"),
        _ => format!("{} of {}", text("current_round"), text("total_rounds")),
    };
    if text("status") == REGISTRATION {
        // The rounds are drawn up at the start.
        round = "-".to_owned();
    }
    if let Some(Value::String(title)) = status.get("round_title") {
        round.push_str(&format!(" ({title})"));
    }
    let row = vec![
        text("league_id"),
        text("status"),
        round,
        text("matches_completed"),
    ];
    table(&["LEAGUE", "STATUS", "ROUND", "MATCHES COMPLETED"], &[row])
        + &beginning(status)
        + &proof_remarks(status)
}

/// When the first match of the round begins, if that is still to come.
fn beginning(status: &Value) -> String {
    let text = |key: &str| status.get(key).and_then(Value::as_str);
    let at = text("starts_at").filter(|_| text("status") == Some("running"));
    let at = at.and_then(|at| Some(Timestamp::parse(at)?.0));
    at.filter(|at| *at > Clock::start().now())
        .map_or_else(String::new, |at| {
            format!("\nthe first match of the round begins at {at}")
        })
}

/// What waits for a referee that proves, and what nobody proved; empty if there is neither.
fn proof_remarks(status: &Value) -> String {
    let count = |key: &str| {
        status
            .get(key)
            .and_then(Value::as_u64)
            .filter(|count| *count > 0)
    };
    let waiting = count("matches_awaiting_prover").map(awaiting_prover);
    let unproven = count("results_unproven").map(unproven_remark);
    waiting
        .into_iter()
        .chain(unproven)
        .map(|remark| format!("\n{remark}"))
        .collect()
}

/// Why the league stands still, and what the operator can do.
pub(super) fn awaiting_prover(matches: u64) -> String {
    let many = count_of(
        usize::try_from(matches).unwrap_or(usize::MAX),
        "match waits",
        "matches wait",
    );
    format!(
        "{many} for a referee that proves its results: none of them answers. Restart one that had registered, or \
         give the matches to every referee with `matchday admin allow-unproven`"
    )
}
