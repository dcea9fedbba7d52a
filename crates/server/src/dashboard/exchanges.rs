//! Renders recorded messages for the message inspector. Pure.

use super::access::Access;
use matchday_audit::describe;
use matchday_audit::describe::summarize;
use matchday_audit::model_calls::is_private;
use matchday_audit::timeline::EndpointNames;
use matchday_core::driver::ExchangeOutcome;
use matchday_core::league::League;
use matchday_core::protocol::{MessageType, Timestamp};
use matchday_store::redact::EndpointRedactor;
use matchday_store::{Direction, Exchange};
use serde::Serialize;

/// One message and its answer.
#[derive(Debug, Serialize)]
pub(crate) struct MessageView {
    pub id: i64,
    pub from: String,
    pub to: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub conversation_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_id: Option<String>,
    pub sent_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connected_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_byte_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered_at: Option<String>,
    /// Until when an answer was waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_at: Option<String>,
    /// When it was over, whether or not there was an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    /// When its receiver had it and had answered it, by the receiver's own record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub received_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handled_at: Option<String>,
    /// `ok`, or what went wrong.
    pub outcome: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
}

/// Renders recorded messages as far as the request's access allows.
#[derive(Debug)]
pub(crate) struct MessageRenderer<'a> {
    league: &'a League,
    names: EndpointNames,
    redactor: EndpointRedactor,
    access: Access,
}

/// Messages that belong to no match. Another type without a match may be of one that could not be parsed.
const LEAGUE_WIDE: &[MessageType] = &[
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

impl<'a> MessageRenderer<'a> {
    pub(crate) fn new(league: &'a League, access: Access) -> Self {
        Self {
            league,
            names: EndpointNames::of_league(league),
            redactor: EndpointRedactor::of(league),
            access,
        }
    }

    /// Whether the request may see a message at all.
    pub(crate) fn is_open(&self, exchange: &Exchange) -> bool {
        if self.access.undecided {
            return true;
        }
        if self.hides(exchange) {
            return false;
        }
        match &exchange.match_id {
            Some(id) => self
                .league
                .matches
                .get(id)
                .is_some_and(|game| game.decision.is_some()),
            None => MessageType::parse(exchange.message_type.raw())
                .is_some_and(|kind| LEAGUE_WIDE.contains(&kind)),
        }
    }

    /// Whether it tells what a player thinks, and the request may not read that yet.
    pub(crate) fn hides(&self, exchange: &Exchange) -> bool {
        !self.access.undecided && is_private(exchange, self.league.phase)
    }

    /// Whether an agent sent or received the message.
    pub(crate) fn concerns(&self, exchange: &Exchange, agent: &str) -> bool {
        let recorder = exchange.agent.eq_ignore_ascii_case(agent);
        // The sender is in the body; a text search is cheaper than parsing every body.
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
        if self.access.endpoints() {
            text.to_owned()
        } else {
            self.redactor.redact(text)
        }
    }

    pub(crate) fn show(
        &self,
        id: i64,
        exchange: &Exchange,
        received: Option<&Exchange>,
        bodies: bool,
    ) -> MessageView {
        let (from, to) = self.names.route(exchange);
        let name = |name: String| {
            if self.is_name(&name) {
                name
            } else {
                "unknown".to_owned()
            }
        };
        let answered = exchange.answer.as_deref();
        let body = |text: &str| bodies.then(|| self.text(text));
        let time = |at: Option<Timestamp>| at.map(describe::time);
        MessageView {
            id,
            from: name(from),
            to: name(to),
            kind: kind(exchange),
            conversation_id: self.text(exchange.conversation_id.as_str()),
            match_id: exchange.match_id.as_ref().map(ToString::to_string),
            sent_at: describe::time(exchange.at),
            connected_at: time(exchange.connected_at),
            first_byte_at: time(exchange.first_byte_at),
            deadline_at: time(exchange.deadline_at),
            answered_at: time(exchange.done_at.filter(|_| answered.is_some())),
            ended_at: time(exchange.done_at),
            received_at: time(received.map(|received| received.at)),
            handled_at: time(received.and_then(|received| received.done_at)),
            outcome: if is_ok(exchange) {
                "ok".to_owned()
            } else {
                self.text(exchange.outcome.raw())
            },
            error_code: code(exchange).map(|code| self.text(&code)),
            answer_type: answered
                .and_then(|answer| summarize(answer).message_type)
                .map(|kind| self.text(&kind)),
            request: body(&exchange.request),
            answer: answered.and_then(body),
        }
    }

    /// Whether this is a name and not an address, which only the operator may see.
    fn is_name(&self, name: &str) -> bool {
        let is_player = |name: &str| self.league.players.keys().any(|id| id.as_str() == name);
        let is_referee = |name: &str| self.league.referees.keys().any(|id| id.as_str() == name);
        self.access.endpoints()
            || matches!(name, "manager" | "launcher" | "its model" | "its client")
            || is_player(name)
            || is_referee(name)
    }
}

fn kind(exchange: &Exchange) -> String {
    match exchange.message_type.raw() {
        "" => "(unreadable)".to_owned(),
        known => known.chars().take(64).collect(),
    }
}

fn is_ok(exchange: &Exchange) -> bool {
    exchange.error_code.is_none() && ExchangeOutcome::parse(exchange.outcome.raw()).is_ok()
}

/// `E003`, if it ended with an error that has a code. Agents may have codes of their own.
pub(crate) fn code(exchange: &Exchange) -> Option<String> {
    if let Some(code) = &exchange.error_code {
        return Some(code.chars().take(32).collect());
    }
    // Older stores have it in the text only.
    match ExchangeOutcome::parse(exchange.outcome.raw()) {
        ExchangeOutcome::Error { code, .. } => Some(code.code().to_owned()),
        _ => None,
    }
}
