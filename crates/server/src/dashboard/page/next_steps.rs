//! The next steps for the operator, as sentences and commands. Pure.

use super::league::LeagueLocation;
use crate::dashboard::access::Access;
use matchday_audit::plural::count_of;
use matchday_core::league::{League, RenewedBy};
use matchday_core::protocol::messages::Phase;
use serde::Serialize;

#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct NextStep {
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

fn step(text: impl Into<String>, command: impl Into<String>) -> NextStep {
    NextStep {
        text: text.into(),
        command: Some(command.into()),
    }
}

fn remark(text: impl Into<String>) -> NextStep {
    NextStep {
        text: text.into(),
        command: None,
    }
}

pub(super) fn steps(league: &League, location: &LeagueLocation, access: Access) -> Vec<NextStep> {
    let file = &location.file;
    // The commands of an operator do not work for others; whoever runs a manager alone has no token to show.
    let is_visitor = location.is_of_a_service() && !access.operator;
    match (league.phase, location.manager.as_deref()) {
        // The store of a service is its operator's.
        (Phase::Completed, _) if is_visitor => Vec::new(),
        (Phase::Completed, _) => vec![
            step(
                "Verify every number, every score and the standings.",
                format!("matchday verify {file}"),
            ),
            step(
                "Look at the league again at any time.",
                format!("matchday dashboard {file}"),
            ),
        ],
        (_, None) => vec![step(
            "This league is not running. Start its manager again to continue it.",
            format!("matchday manager --store {file}"),
        )],
        (Phase::Registration, Some(_)) if is_visitor => vec![remark(format!(
            "{}: the operator starts the league.",
            registered(league)
        ))],
        (_, Some(_)) if is_visitor => Vec::new(),
        (Phase::Registration, Some(manager)) => {
            with_warnings(league, manager, registration(league, manager))
        }
        (Phase::Running, Some(manager)) => with_warnings(league, manager, running(league, manager)),
        (Phase::Paused, Some(manager)) => vec![step(
            "The league is paused: running matches are finished, and no more begin. Resume it when you are ready.",
            format!("matchday admin resume --manager {manager}"),
        )],
    }
}

/// How many renewed registrations are named.
const RENEWALS_MAX: usize = 5;

/// The steps after what the operator should look into: each agent that has registered again.
fn with_warnings(league: &League, manager: &str, steps: Vec<NextStep>) -> Vec<NextStep> {
    let players = league
        .players
        .iter()
        .map(|(id, it)| (id.as_str(), it.renewals, it.request));
    let referees = league
        .referees
        .iter()
        .map(|(id, it)| (id.as_str(), it.renewals, it.request));
    let mut renewed: Vec<_> = players
        .chain(referees)
        .filter(|(_, renewals, _)| *renewals > 0)
        .collect();
    // The weakest identification comes first.
    renewed.sort_by_key(|(_, _, request)| {
        request.and_then(|it| it.renewed_by) != Some(RenewedBy::Address)
    });
    let more = renewed.len().saturating_sub(RENEWALS_MAX);
    let mut warnings: Vec<NextStep> = (renewed.into_iter().take(RENEWALS_MAX))
        .map(|(id, renewals, request)| {
            let times = if renewals == 1 { "once".to_owned() } else { format!("{renewals} times") };
            let by = request.and_then(|it| it.renewed_by).map_or("its token", RenewedBy::name);
            let text = format!(
                "Warning: {id} has registered again {times}, last known by {by}. If nobody restarted it, give it a new token."
            );
            step(text, format!("matchday admin rotate {id} --manager {manager}"))
        })
        .collect();
    if more > 0 {
        warnings.push(remark(format!(
            "Warning: {more} more have registered again."
        )));
    }
    warnings.extend(steps);
    warnings
}

/// `3 players and 1 referee have registered`
fn registered(league: &League) -> String {
    let players = league.players.values().filter(|player| !player.withdrawn);
    let (players, referees) = (players.count(), league.referees.len());
    format!(
        "{} and {} {} registered",
        count_of(players, "player", "players"),
        count_of(referees, "referee", "referees"),
        if players + referees == 1 {
            "has"
        } else {
            "have"
        }
    )
}

fn registration(league: &League, manager: &str) -> Vec<NextStep> {
    let players = league
        .players
        .values()
        .filter(|player| !player.withdrawn)
        .count();
    let mut steps = Vec::new();
    if league.referees.is_empty() {
        steps.push(step(
            "No referee has registered yet: start one.",
            format!("matchday referee --listen 127.0.0.1:0 --manager {manager}"),
        ));
    }
    if players < 2 {
        let text = match players {
            0 => {
                "No player has registered yet: start two, or point agents of your own at this address."
            }
            _ => "One more player is needed.",
        };
        // A free port each, so that the same command can be given again.
        steps.push(step(
            text,
            format!("matchday player --listen 127.0.0.1:0 --manager {manager}"),
        ));
    }
    if steps.is_empty() {
        let text = format!(
            "{}: start the league when everybody has registered.",
            registered(league)
        );
        steps.push(step(text, format!("matchday start --manager {manager}")));
    }
    steps
}

fn running(league: &League, manager: &str) -> Vec<NextStep> {
    let mut steps = Vec::new();
    let able = league
        .referees
        .values()
        .filter(|referee| referee.is_in() && !referee.is_suspended())
        .count();
    if able == 0 {
        steps.push(step(
            "No referee answers, so no match can be played: restart a registered referee.",
            format!("matchday referee --manager {manager}"),
        ));
    }
    let awaiting = league.matches_awaiting_prover();
    if able > 0 && awaiting > 0 {
        steps.push(step(
            format!(
                "Matches wait for a referee that proves its results ({awaiting}): none of them answers. Restart one that had registered, or give them to every referee; their results are then marked unproven."
            ),
            format!("matchday admin allow-unproven --manager {manager}"),
        ));
    }
    let out = league
        .players
        .iter()
        .filter(|(_, player)| player.is_suspended() && !player.withdrawn);
    let out: Vec<&str> = out.map(|(id, _)| id.as_str()).collect();
    if !out.is_empty() {
        let names = out.join(", ");
        let verb = if out.len() == 1 { "is" } else { "are" };
        steps.push(remark(format!(
            "{names} {verb} suspended and forfeit matches without play, until they answer again: check them."
        )));
    }
    steps
}
