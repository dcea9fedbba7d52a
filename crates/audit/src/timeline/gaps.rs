//! What the stores at hand lack of a match, and which store has it. Pure.

use crate::log_set::LogSet;
use matchday_core::protocol::{MatchId, RefereeId};
use matchday_store::exchange::Exchange;
use std::collections::BTreeSet;

/// One line for each gap.
pub(super) fn of(logs: &LogSet, match_id: &MatchId, exchanges: &[Exchange]) -> Vec<String> {
    let mut gaps = Vec::new();
    for (referee, file) in absent_referees(logs, match_id, exchanges) {
        let command = command(logs, &file, match_id);
        gaps.push(format!(
            "What {referee} and the players said to each other is in the store of {referee}: add it, as in `{command}`."
        ));
    }
    if gaps.is_empty() && exchanges.is_empty() && is_begun(logs, match_id) {
        gaps.push(
            "No messages of this match were kept: its agents ran with `--exchanges off`.".into(),
        );
    }
    if logs.league.is_none() {
        let command = command(logs, "matchday.db", match_id);
        let what = match logs.referees.as_slice() {
            [] => {
                "What the referee and the opponent did is in their stores, the table in the manager's"
            }
            _ => "The manager's decision and the standings are in the manager's store",
        };
        gaps.push(format!(
            "{what}: name more files to see more, as in `{command}`."
        ));
    }
    gaps
}

/// The referees that had the match and of whom nothing is here, with what their files are called by default.
pub fn absent_referees(
    logs: &LogSet,
    match_id: &MatchId,
    exchanges: &[Exchange],
) -> Vec<(RefereeId, String)> {
    let Some(league_log) = &logs.league else {
        return Vec::new();
    };
    let Some(game) = league_log.league.matches.get(match_id) else {
        return Vec::new();
    };
    let had: BTreeSet<&RefereeId> = game.attempts.iter().collect();
    let is_here = |id: &RefereeId| {
        logs.referees.iter().any(|log| log.id() == id.as_str())
            || exchanges
                .iter()
                .any(|exchange| exchange.agent == id.as_str())
    };
    had.into_iter()
        .filter(|id| !is_here(id))
        .map(|id| {
            let known = league_log.league.referees.get(id);
            let port = known.and_then(|referee| port(referee.meta.contact_endpoint.raw()));
            let port = port.map_or_else(|| "PORT".to_owned(), |port| port.to_string());
            (id.clone(), format!("referee-{port}.db"))
        })
        .collect()
}

fn port(endpoint: &str) -> Option<u16> {
    endpoint
        .split_once("://")?
        .1
        .split('/')
        .next()?
        .rsplit_once(':')?
        .1
        .parse()
        .ok()
}

/// Whether there was anything to say.
fn is_begun(logs: &LogSet, match_id: &MatchId) -> bool {
    let games = logs
        .league
        .iter()
        .filter_map(|league_log| league_log.league.matches.get(match_id));
    games.into_iter().all(|game| !game.attempts.is_empty())
}

fn command(logs: &LogSet, more: &str, match_id: &MatchId) -> String {
    let stores: Vec<String> = logs.stores().map(ToString::to_string).collect();
    format!(
        "matchday replay {} {more} --match {match_id}",
        stores.join(" ")
    )
}
