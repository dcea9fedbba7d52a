//! Messages and answers as lines. An exchange that both sides recorded is one line, with the time it took on either side. Pure.

use super::milliseconds;
use crate::describe::summarize;
use crate::log_set::LogSet;
use crate::model_calls::ModelCallView;
use matchday_core::league::League;
use matchday_core::protocol::{Timestamp, Untrusted};
use matchday_core::referee::RefereeEvent;
use matchday_store::exchange::{Direction, Exchange};
use std::collections::BTreeMap;

/// The agent at each endpoint.
#[derive(Debug, Default)]
pub struct EndpointNames(BTreeMap<String, String>);

impl EndpointNames {
    pub(crate) fn of(logs: &LogSet) -> Self {
        let mut names = BTreeMap::new();
        let assigned = logs.referees.iter().flat_map(|log| &log.entries);
        for entry in assigned {
            if let RefereeEvent::Assigned { assignment } = &entry.event {
                for player in &assignment.players {
                    if let Some(endpoint) = &player.endpoint {
                        names.insert(endpoint.raw().to_owned(), player.player_id.to_string());
                    }
                }
            }
        }
        if let Some(league_log) = &logs.league {
            names.extend(Self::of_league(&league_log.league).0);
        }
        Self(names)
    }

    /// The members of a league.
    pub fn of_league(league: &League) -> Self {
        let players = league
            .players
            .iter()
            .map(|(id, known)| (&known.meta.contact_endpoint, id.to_string()));
        let referees = league
            .referees
            .iter()
            .map(|(id, known)| (&known.meta.contact_endpoint, id.to_string()));
        Self(
            players
                .chain(referees)
                .map(|(endpoint, id)| (endpoint.raw().to_owned(), id))
                .collect(),
        )
    }

    /// Who asked, and who was asked.
    pub fn route(&self, exchange: &Exchange) -> (String, String) {
        let agent = Untrusted::new(short(&exchange.agent)).escaped().to_string();
        match exchange.direction {
            Direction::Out => (agent, self.receiver(exchange)),
            Direction::In => {
                let sender = summarize(&exchange.request).sender;
                let sender = sender.as_deref().map(short);
                (
                    sender.map_or_else(|| exchange.peer.escaped().to_string(), str::to_owned),
                    agent,
                )
            }
        }
    }

    fn receiver(&self, exchange: &Exchange) -> String {
        match self.0.get(exchange.peer.raw()) {
            Some(id) => id.clone(),
            None if TO_MANAGER.contains(&exchange.message_type.raw()) => "manager".to_owned(),
            None => exchange.peer.escaped().to_string(),
        }
    }
}

/// The messages that only a manager receives.
const TO_MANAGER: &[&str] = &[
    "MATCH_RESULT_REPORT",
    "LEAGUE_QUERY",
    "LEAGUE_REGISTER_REQUEST",
    "REFEREE_REGISTER_REQUEST",
];

/// `P01` for `player:P01`.
fn short(agent: &str) -> &str {
    match agent {
        "league_manager" => "manager",
        _ => agent.split_once(':').map_or(agent, |(_, id)| id),
    }
}

/// An exchange as its sender recorded it, or else its receiver; and with the first, what the receiver recorded of it.
pub(super) type Pair<'a> = (&'a Exchange, Option<&'a Exchange>);

/// Puts together what both sides recorded. The sender's record tells more, so it is the one that comes first.
pub fn paired(exchanges: &[Exchange]) -> Vec<Pair<'_>> {
    let sent = exchanges
        .iter()
        .filter(|exchange| exchange.direction == Direction::Out);
    let mut pairs: Vec<Pair<'_>> = sent.map(|told| (told, None)).collect();
    for heard in exchanges
        .iter()
        .filter(|exchange| exchange.direction == Direction::In)
    {
        let same = |(told, other): &&mut Pair<'_>| {
            other.is_none()
                && told.direction == Direction::Out
                && told.message_type == heard.message_type
                && told.conversation_id == heard.conversation_id
                && told.request == heard.request
        };
        match pairs.iter_mut().find(same) {
            Some((_, other)) => *other = Some(heard),
            None => pairs.push((heard, None)),
        }
    }
    pairs
}

/// A line for each exchange: `REF01 -> P01  GAME_INVITATION  4.1 ms  GAME_JOIN_ACK, accept true  (0.3 ms at P01)`.
pub(super) fn lines(names: &EndpointNames, exchanges: &[Exchange]) -> Vec<(Timestamp, String)> {
    let pairs = paired(exchanges);
    let told: Vec<(String, String, &Pair<'_>)> = pairs
        .iter()
        .map(|pair| {
            let (from, to) = names.route(pair.0);
            (format!("{from} -> {to}"), to, pair)
        })
        .collect();
    let width = told
        .iter()
        .map(|(route, ..)| route.chars().count())
        .max()
        .unwrap_or(0);
    told.iter()
        .map(|(route, to, pair)| (pair.0.at, format!("{route:width$}  {}", line(pair, to))))
        .collect()
}

fn line((told, heard): &Pair<'_>, receiver: &str) -> String {
    let took = |exchange: &Exchange| exchange.done_at.map(|done| milliseconds(done, exchange.at));
    let mut line = format!("{:<22}", told.message_type.escaped());
    if let Some(took) = took(told) {
        line.push_str(&format!("  {took:>8.1} ms"));
    }
    line.push_str("  ");
    line.push_str(&match ModelCallView::of(told) {
        Some(call) if told.direction == Direction::Out => call.outcome(),
        _ => summarize_answer(told.answer.as_deref(), told.outcome.untrusted()),
    });
    let mut line = line.trim_end().to_owned();
    line.push_str(&remarks(told));
    if let Some(heard) = heard {
        let took = took(heard).map_or_else(String::new, |took| format!("{took:.1} ms"));
        if told.answer.is_none() && heard.answer.is_some() {
            let answer = summarize_answer(heard.answer.as_deref(), heard.outcome.untrusted());
            line.push_str(&format!(
                "; {receiver} answered after {took}, which did not arrive: {answer}"
            ));
        } else if !took.is_empty() {
            line.push_str(&format!("  ({took} at {receiver})"));
        }
    }
    line
}

/// What of the time that an exchange took is worth a word: a connection that was long in coming, an answer that was
/// begun and never ended, one that had hardly any time left.
fn remarks(told: &Exchange) -> String {
    let after = |at: Option<Timestamp>| at.map(|at| milliseconds(at, told.at));
    let mut remarks = String::new();
    if let Some(waited) = after(told.connected_at).filter(|waited| *waited >= CONNECTING_MS) {
        remarks.push_str(&format!("; connected after {waited:.1} ms"));
    }
    match (
        after(told.done_at),
        after(told.first_byte_at),
        after(told.deadline_at),
    ) {
        (_, Some(begun), _) if told.answer.is_none() => {
            remarks.push_str(&format!("; an answer began after {begun:.1} ms"));
        }
        (Some(done), _, Some(allowed)) if told.answer.is_some() && done > allowed * NEARLY_ALL => {
            remarks.push_str(&format!("; {:.1} ms before its deadline", allowed - done));
        }
        _ => {}
    }
    remarks
}

/// A connection on the same continent stands sooner.
const CONNECTING_MS: f64 = 100.0;
/// How much of the time allowed makes an answer a near thing.
const NEARLY_ALL: f64 = 0.9;

/// `GAME_JOIN_ACK, accept true`, or how it ended otherwise.
pub(crate) fn summarize_answer(answer: Option<&str>, outcome: Untrusted<'_>) -> String {
    let outcome = outcome.escaped().to_string();
    let Some(answer) = answer.map(summarize) else {
        return outcome;
    };
    let parts = [answer.message_type.unwrap_or_default(), answer.details];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        outcome
    } else {
        parts.join(", ")
    }
}
