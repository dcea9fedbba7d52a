//! A league or a match as a timeline that a person can follow: what was sent, when, what came back, how long it took,
//! and why it ended as it did. Pure: from what was recorded to text.
//!
//! # Layout
//! - `one_match`: a match, from all that the stores at hand tell of it
//! - `exchanges`: messages and answers, those that both sides recorded put together
//! - `outcome`: why it ended as it did; `positions`: the boards; `transcripts`: what models were told and said
//! - `gaps`: what is missing here, and which store holds it

mod exchanges;
mod gaps;
mod one_match;
mod outcome;
mod positions;
mod transcripts;

use crate::agent_log::{AgentEvent, AgentLog};
use crate::describe;
use crate::league_log::LeagueLog;
use crate::log_set::LogSet;
use matchday_core::league::LeagueEvent;
use matchday_core::protocol::untrusted::escape_line;
use matchday_core::protocol::{MatchId, PlayerId, Timestamp};
use matchday_store::error::StoreError;

pub(super) use exchanges::summarize_answer;
pub use exchanges::{EndpointNames, paired};
pub use gaps::absent_referees;
pub use one_match::match_events;
pub(super) use outcome::decided;
pub use outcome::fault;

/// The timeline of a match, or of the whole league in brief. Without the manager's store, that of its agents.
pub fn replay(logs: &LogSet, match_id: Option<&MatchId>) -> Result<String, StoreError> {
    match (match_id, &logs.league) {
        (None, Some(league_log)) => Ok(of_league(league_log)),
        (None, None) => Ok(of_agents(logs)),
        (Some(match_id), _) => match one_match::tell(logs, match_id)? {
            Some(text) => Ok(text),
            None => Err(no_match(logs, match_id)),
        },
    }
}

/// Why there is nothing to tell of a match.
pub(super) fn no_match(logs: &LogSet, match_id: &MatchId) -> StoreError {
    if logs.league.is_some() {
        return StoreError::NoMatch(match_id.clone());
    }
    let known: Vec<String> = logs.matches().iter().map(ToString::to_string).collect();
    let known = match known.as_slice() {
        [] => "it has no match at all".to_owned(),
        [only] => format!("its only match is {only}"),
        [first, .., last] => format!("it has {} matches, from {first} to {last}", known.len()),
    };
    StoreError::NotItsMatch {
        who: tellers(logs),
        match_id: match_id.clone(),
        known,
    }
}

/// `REF01`, `REF01 and P02`: whose own stores these are.
fn tellers(logs: &LogSet) -> String {
    let referees = logs.referees.iter().map(AgentLog::id);
    let names: Vec<&str> = referees
        .chain(logs.players.iter().map(AgentLog::id))
        .collect();
    match names.as_slice() {
        [] => "a store without events".to_owned(),
        [only] => (*only).to_owned(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

/// Everything that happened to a league, one line each.
fn of_league(league_log: &LeagueLog) -> String {
    let joint = league_log.league.joint_champions();
    let told = |event: &LeagueEvent| match event {
        LeagueEvent::LeagueCompleted { .. } if !joint.is_empty() => {
            let names: Vec<&str> = joint.iter().map(PlayerId::as_str).collect();
            format!(
                "league completed: {} are level and share the title",
                names.join(", ")
            )
        }
        event => describe::league_event(event),
    };
    in_seconds(
        league_log
            .entries
            .iter()
            .map(|entry| (entry.at, told(&entry.event)))
            .collect(),
    )
}

/// Everything that agents wrote down for themselves, one line each.
fn of_agents(logs: &LogSet) -> String {
    let mut lines: Vec<(Timestamp, String)> = logs.referees.iter().flat_map(told).collect();
    lines.extend(logs.players.iter().flat_map(told));
    lines.sort_by_key(|(at, _)| *at);
    in_seconds(lines)
}

fn told<E: AgentEvent>(log: &AgentLog<E>) -> impl Iterator<Item = (Timestamp, String)> {
    log.entries
        .iter()
        .map(|entry| (entry.at, format!("{} {}", log.id(), entry.event.describe())))
}

fn in_seconds(lines: Vec<(Timestamp, String)>) -> String {
    let Some((zero, _)) = lines.first() else {
        return "nothing has happened yet\n".into();
    };
    let zero = *zero;
    let mut text = format!("times in seconds after {}\n\n", describe::time(zero));
    for (at, line) in lines {
        let seconds = milliseconds(at, zero) / 1000.0;
        text.push_str(&format!("{seconds:>10.3}  {}\n", escape_line(&line)));
    }
    text
}

fn milliseconds(at: Timestamp, zero: Timestamp) -> f64 {
    at.as_micros().saturating_sub(zero.as_micros()) as f64 / 1000.0
}
