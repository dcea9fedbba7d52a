//! Recorded messages as they are shown. Pure.

use super::redact::Redactor;
use super::viewer::Sees;
use crate::store::gist::gist;
use crate::store::timeline::Names;
use crate::store::words::of_time;
use crate::store::{Direction, Exchange};
use matchday_core::league::League;
use matchday_core::protocol::{MessageType, Timestamp};
use serde::Serialize;

/// One message and its answer.
#[derive(Debug, Serialize)]
pub(crate) struct Shown {
    pub(crate) id: i64,
    pub(crate) from: String,
    pub(crate) to: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) conversation_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) match_id: Option<String>,
    pub(crate) sent_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) connected_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) first_byte_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) answered_at: Option<String>,
    /// Until when an answer was waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) deadline_at: Option<String>,
    /// When it was over, whether or not there was an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended_at: Option<String>,
    /// When its receiver had it and had answered it, by the receiver's own record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) received_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) handled_at: Option<String>,
    /// `ok`, or what went wrong.
    pub(crate) outcome: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error_code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) answer_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) request: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<String>,
}

/// Turns records into what a viewer may see of them.
#[derive(Debug)]
pub(crate) struct Showing<'a> {
    league: &'a League,
    names: Names,
    redactor: Redactor,
    sees: Sees,
}

/// What is said about the league at large. Whatever else belongs to no match may be part of one that could not be read.
const OF_NO_MATCH: &[MessageType] = &[
    MessageType::RefereeRegisterRequest,
    MessageType::LeagueRegisterRequest,
    MessageType::RoundAnnouncement,
    MessageType::RoundCompleted,
    MessageType::LeagueCompleted,
    MessageType::LeagueStandingsUpdate,
    MessageType::LeagueQuery,
    MessageType::StartLeague,
    MessageType::LeagueOrder,
];

/// Ends that are no errors and have no message.
const FINE: &[&str] = &["received", "data", "answered", "ping"];

impl<'a> Showing<'a> {
    pub(crate) fn new(league: &'a League, sees: Sees) -> Self {
        Self { league, names: Names::of_league(league), redactor: Redactor::of(league), sees }
    }

    /// Whether the viewer may know of a message at all.
    pub(crate) fn is_open(&self, exchange: &Exchange) -> bool {
        if self.sees.undecided {
            return true;
        }
        match &exchange.match_id {
            Some(id) => self.league.matches.get(id).is_some_and(|game| game.decision.is_some()),
            None => MessageType::parse(exchange.message_type.raw())
                .is_some_and(|kind| OF_NO_MATCH.contains(&kind)),
        }
    }

    /// Whether an agent said it or was told it.
    pub(crate) fn concerns(&self, exchange: &Exchange, agent: &str) -> bool {
        let recorder = exchange.agent.eq_ignore_ascii_case(agent);
        // Who has sent a message is written in it, and reading many of them takes long.
        if exchange.direction == Direction::In
            && !recorder
            && agent != "manager"
            && !exchange.request.contains(agent)
        {
            return false;
        }
        let (from, to) = self.names.route(exchange);
        from.eq_ignore_ascii_case(agent) || to.eq_ignore_ascii_case(agent)
    }

    pub(crate) fn text(&self, text: &str) -> String {
        if self.sees.endpoints() { text.to_owned() } else { self.redactor.redact(text) }
    }

    pub(crate) fn show(&self, id: i64, exchange: &Exchange, heard: Option<&Exchange>, bodies: bool) -> Shown {
        let (from, to) = self.names.route(exchange);
        let name = |name: String| if self.is_name(&name) { name } else { "unknown".to_owned() };
        let answered = exchange.answer.as_deref();
        let body = |text: &str| bodies.then(|| self.text(text));
        let time = |at: Option<Timestamp>| at.map(of_time);
        Shown {
            id,
            from: name(from),
            to: name(to),
            kind: kind(exchange),
            conversation_id: self.text(exchange.conversation_id.as_str()),
            match_id: exchange.match_id.as_ref().map(ToString::to_string),
            sent_at: of_time(exchange.at),
            connected_at: time(exchange.connected_at),
            first_byte_at: time(exchange.first_byte_at),
            deadline_at: time(exchange.deadline_at),
            answered_at: time(exchange.done_at.filter(|_| answered.is_some())),
            ended_at: time(exchange.done_at),
            received_at: time(heard.map(|heard| heard.at)),
            handled_at: time(heard.and_then(|heard| heard.done_at)),
            outcome: if is_fine(exchange) { "ok".to_owned() } else { self.text(exchange.outcome.raw()) },
            error_code: code(exchange).map(|code| self.text(&code)),
            answer_type: answered.and_then(|answer| gist(answer).message_type).map(|kind| self.text(&kind)),
            request: body(&exchange.request),
            answer: answered.and_then(body),
        }
    }

    /// Whoever is not a member is called by its address, which is the operator's to know.
    fn is_name(&self, name: &str) -> bool {
        let is_player = |name: &str| self.league.players.keys().any(|id| id.as_str() == name);
        let is_referee = |name: &str| self.league.referees.keys().any(|id| id.as_str() == name);
        self.sees.endpoints() || matches!(name, "manager" | "launcher") || is_player(name) || is_referee(name)
    }
}

fn kind(exchange: &Exchange) -> String {
    match exchange.message_type.raw() {
        "" => "(unreadable)".to_owned(),
        known => known.chars().take(64).collect(),
    }
}

fn is_fine(exchange: &Exchange) -> bool {
    let outcome = exchange.outcome.raw();
    let answered = MessageType::parse(outcome).is_some_and(|kind| kind != MessageType::LeagueError);
    answered && code(exchange).is_none() || FINE.contains(&outcome)
}

/// `E003`, if it ended with an error that has a code. Agents may have codes of their own.
pub(crate) fn code(exchange: &Exchange) -> Option<String> {
    if let Some(code) = &exchange.error_code {
        return Some(code.chars().take(32).collect());
    }
    // Older stores have it in words only.
    let is_code = |text: &&str| {
        let digits = text.strip_prefix('E').unwrap_or_default();
        digits.len() == 3 && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    exchange.outcome.raw().split([' ', ':']).next().filter(is_code).map(str::to_owned)
}
