//! What the stores at hand do not tell of a match, and which store does. Pure.

use crate::store::Exchange;
use crate::store::chronicle::Chronicle;
use matchday_core::protocol::{MatchId, RefereeId};
use std::collections::BTreeSet;

/// One line for each gap.
pub(super) fn of(chronicle: &Chronicle, match_id: &MatchId, exchanges: &[Exchange]) -> Vec<String> {
    let mut gaps = Vec::new();
    for (referee, file) in absent_referees(chronicle, match_id, exchanges) {
        let command = command(chronicle, &file, match_id);
        gaps.push(format!(
            "What {referee} and the players said to each other is in the store of {referee}: add it, as in `{command}`."
        ));
    }
    if gaps.is_empty() && exchanges.is_empty() && is_begun(chronicle, match_id) {
        gaps.push("No messages of this match were kept: its agents ran with `--exchanges off`.".into());
    }
    if chronicle.league.is_none() {
        let command = command(chronicle, "matchday.db", match_id);
        let what = match chronicle.referees.as_slice() {
            [] => "What the referee and the opponent did is in their stores, the table in the manager's",
            _ => "What the manager made of it, and the table, is in the manager's store",
        };
        gaps.push(format!("{what}: name more files to see more, as in `{command}`."));
    }
    gaps
}

/// The referees that had the match and of whom nothing is here, with what their files are called by default.
pub(crate) fn absent_referees(
    chronicle: &Chronicle,
    match_id: &MatchId,
    exchanges: &[Exchange],
) -> Vec<(RefereeId, String)> {
    let Some(history) = &chronicle.league else { return Vec::new() };
    let Some(game) = history.league.matches.get(match_id) else { return Vec::new() };
    let had: BTreeSet<&RefereeId> = game.attempts.iter().collect();
    let is_here = |id: &RefereeId| {
        chronicle.referees.iter().any(|diary| diary.id() == id.as_str())
            || exchanges.iter().any(|exchange| exchange.agent == id.as_str())
    };
    had.into_iter()
        .filter(|id| !is_here(id))
        .map(|id| {
            let known = history.league.referees.get(id);
            let port = known.and_then(|referee| port(referee.meta.contact_endpoint.raw()));
            let port = port.map_or_else(|| "PORT".to_owned(), |port| port.to_string());
            (id.clone(), format!("referee-{port}.db"))
        })
        .collect()
}

fn port(endpoint: &str) -> Option<u16> {
    endpoint.parse::<hyper::Uri>().ok()?.port_u16()
}

/// Whether there was anything to say.
fn is_begun(chronicle: &Chronicle, match_id: &MatchId) -> bool {
    let games = chronicle.league.iter().filter_map(|history| history.league.matches.get(match_id));
    games.into_iter().all(|game| !game.attempts.is_empty())
}

fn command(chronicle: &Chronicle, more: &str, match_id: &MatchId) -> String {
    let files: Vec<String> = chronicle.files().map(|file| file.display().to_string()).collect();
    format!("matchday replay {} {more} --match {match_id}", files.join(" "))
}
