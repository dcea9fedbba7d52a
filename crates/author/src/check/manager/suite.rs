//! Shared by the manager's test cases: sending as a member, decoding answers, checking refusals.

use super::members::{Member, Role};
use super::results::ReportedResult;
use super::rules;
use crate::check::exchange::Exchange;
use crate::check::probe::{Alter, Probe, Reply};
use crate::check::reply::{NO_CODE, ReplyKind};
use crate::check::report::Findings;
use crate::check::rule::Rule;
use crate::check::wire::{Wire, WireState};
use matchday_core::protocol::decode::{Conformance, Incoming, Limits, Reading, decode};
use matchday_core::protocol::dialect::answer::WireAnswer;
use matchday_core::protocol::{Body, Message, Sender};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, sleep};

pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// The time allowed for a notice that follows a result.
pub(super) const NOTICE_TIMEOUT: Duration = Duration::from_secs(5);
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Codes that the sources do not have: others may refuse with another one.
const OWN_CODES: [&str; 8] = [
    "E002", "E006", "E007", "E008", "E010", "E013", "E014", "E016",
];

#[derive(Debug)]
pub(super) struct Suite {
    pub(super) probe: Probe,
    pub(super) findings: Findings,
    pub(super) wire_state: WireState,
    pub(super) players: Vec<Member>,
    pub(super) referees: Vec<Member>,
    pub(super) league_id: String,
    /// Whether the manager says that it issues notice tokens.
    pub(super) makes_tokens: bool,
    /// Whether the league was started.
    pub(super) has_begun: bool,
    /// Whether it took a report that it should have refused, so that its table cannot be foretold any more.
    pub(super) is_tampered: bool,
    pub(super) operator_token: Option<String>,
    pub(super) reported: Vec<ReportedResult>,
    /// Part of every name, different in each run.
    pub(super) run: String,
    /// How many registrations were sent that must be refused.
    pub(super) probes: usize,
    /// What the check has changed in the league that it should not have been able to.
    pub(super) left_behind: Vec<String>,
    /// Why the rest was not checked.
    pub(super) unreached: Option<String>,
    /// How long a notice is waited for: less once one did not come.
    pub(super) notice_timeout: Duration,
}

impl Suite {
    pub(super) fn wire(&mut self) -> Wire<'_> {
        Wire {
            probe: &self.probe,
            findings: &mut self.findings,
            state: &mut self.wire_state,
        }
    }

    /// A message from a member, with the member's token.
    pub(super) fn signed(
        &self,
        kind: &str,
        from: &Member,
        conversation: &str,
        fields: Value,
    ) -> Value {
        let mut request = self.unsigned(kind, &from.sender(), conversation, fields);
        if from.token.is_some() {
            set_field(&mut request, "auth_token", from.token_json());
        }
        request
    }

    pub(super) fn unsigned(
        &self,
        kind: &str,
        sender: &str,
        conversation: &str,
        fields: Value,
    ) -> Value {
        let mut request = json!({
            "protocol": "league.v2",
            "message_type": kind,
            "sender": sender,
            "timestamp": self.probe.clock.now(),
            "conversation_id": conversation,
        });
        if let (Some(request), Value::Object(fields)) = (request.as_object_mut(), fields) {
            request.extend(fields);
        }
        request
    }

    pub(super) async fn ask(&mut self, request: &Value) -> Option<Reply> {
        self.ask_altered(request, &|_| {}).await
    }

    /// Sends a message after changing its fields. `None` if the unchanged message does not decode, which happens only
    /// with ids that the manager assigned.
    pub(super) async fn ask_altered(
        &mut self,
        request: &Value,
        alter: &Alter<'_>,
    ) -> Option<Reply> {
        let reading = self.reading(Conformance::Lenient);
        let incoming = decode(request, &reading).ok()?;
        let message = Message {
            envelope: incoming.envelope,
            body: incoming.body.ok()?,
        };
        let whole = |fields: &mut serde_json::Map<String, Value>| {
            if let Some(request) = request.as_object() {
                *fields = request.clone();
            }
            alter(fields);
        };
        let reply = self
            .probe
            .send_altered(&message, ANSWER_TIMEOUT, &whole)
            .await;
        self.wire().check_response_format(&reply);
        Some(reply)
    }

    fn reading(&self, conformance: Conformance) -> Reading<'static> {
        Reading {
            conformance,
            now: self.probe.clock.now(),
            limits: Limits::AGENT,
            exchange: None,
            about: None,
        }
    }

    /// Decodes an answer as a league does. Errors in its body violate `rule`.
    pub(super) fn answer(
        &mut self,
        rule: &'static Rule,
        asked: &Value,
        reply: Option<&Reply>,
    ) -> Option<Body> {
        let reply = reply?;
        let exchange = &reply.exchange;
        let message = match ReplyKind::of(reply) {
            ReplyKind::Message(message) => message,
            ReplyKind::Unknown(why) => {
                self.findings.skip(rule, why);
                return None;
            }
            other => {
                self.findings
                    .violated(rule, other.describe(exchange), exchange);
                return None;
            }
        };
        let body = self.read(rule, &message, exchange)?;
        let wanted = asked.get("conversation_id");
        self.findings.check(
            &rules::CONVERSATION,
            message.get("conversation_id") == wanted,
            format!(
                "expected {}, got {}",
                json_text(wanted),
                json_text(message.get("conversation_id"))
            ),
            exchange,
        );
        Some(body)
    }

    /// Decodes a message from the manager, in whichever exchange it came.
    pub(super) fn read(
        &mut self,
        rule: &'static Rule,
        message: &Value,
        exchange: &Exchange,
    ) -> Option<Body> {
        let strict = decode(message, &self.reading(Conformance::Strict));
        let (incoming, fault) = match strict {
            Ok(Incoming { body: Ok(_), .. }) => (strict.ok(), None),
            Ok(Incoming {
                body: Err(fault), ..
            }) => (None, Some((rule, fault))),
            Err(fault) => (None, Some((&rules::ENVELOPE, fault))),
        };
        let incoming =
            incoming.or_else(|| decode(message, &self.reading(Conformance::Lenient)).ok());
        if let Some((rule, fault)) = fault {
            let readable = incoming
                .as_ref()
                .is_some_and(|incoming| incoming.body.is_ok());
            let note = format!("{} ({})", fault.sentence(), fault.code);
            if readable {
                self.findings.deviation(rule, note, exchange);
            } else {
                self.findings.violated(rule, note, exchange);
            }
        }
        let incoming = incoming?;
        self.findings.check(
            &rules::ENVELOPE,
            incoming.envelope.sender == Sender::LeagueManager,
            format!(
                "sender: expected \"league_manager\", got {}",
                json_text(message.get("sender"))
            ),
            exchange,
        );
        incoming.body.ok()
    }

    /// Checks that a request was refused with this code. What counts is the refusal where the code is one of ours. Returns
    /// whether it was taken.
    pub(super) fn refused(
        &mut self,
        rule: &'static Rule,
        what: &str,
        code: &str,
        reply: Option<&Reply>,
    ) -> bool {
        let Some(reply) = reply else { return false };
        let exchange = &reply.exchange;
        let kind = ReplyKind::of(reply);
        if let ReplyKind::Message(message) = &kind {
            self.note_left_behind(what, message);
        }
        let came = match (&kind, &reply.wire) {
            (ReplyKind::Refused { code, .. }, _) => Some(code.clone()),
            (ReplyKind::Message(message), _) => code_in(message),
            (_, Some(WireAnswer::Error { code, .. })) => Some(format!("JSON-RPC error {code}")),
            (_, Some(WireAnswer::Failed(_))) => exchange
                .answered()
                .filter(|answered| (400..500).contains(&answered.status))
                .map(|answered| format!("HTTP {}", answered.status)),
            _ => None,
        };
        let is_taken =
            matches!(kind, ReplyKind::Message(_) | ReplyKind::Received) && came.is_none();
        match (came, kind) {
            (Some(came), _) if came == code => self.findings.pass(rule, ""),
            (Some(came), _) if came == "E019" && self.has_begun => {
                let note = format!("{what} was refused with E019, as everyone is after the start");
                self.findings.pass(rule, note);
            }
            (None, _) if reply.wire == Some(WireAnswer::MethodNotFound) => {
                self.findings
                    .pass(rule, format!("{what}: it does not know the method"));
            }
            (Some(came), _) if OWN_CODES.contains(&code) => {
                self.findings
                    .pass(rule, format!("{what} was refused with {came}"));
            }
            // The sources' own example of a rejection has no code.
            (Some(came), ReplyKind::Message(_)) if came == NO_CODE => {
                self.findings
                    .pass(rule, format!("{what} was rejected, without a code"));
            }
            (Some(came), _) => {
                let note = format!("{what} was refused with {came} in place of {code}");
                self.findings.deviation(rule, note, exchange);
            }
            (None, ReplyKind::Unknown(why)) => self.findings.skip(rule, why),
            (None, kind) => {
                let note = format!(
                    "{what} must be refused with {code}: {}",
                    kind.describe(exchange)
                );
                self.findings.violated(rule, note, exchange);
            }
        }
        is_taken
    }

    /// Remembers an agent that was registered though it should not have been.
    fn note_left_behind(&mut self, what: &str, message: &Value) {
        let accepted = message
            .get("status")
            .is_some_and(|status| status == "ACCEPTED");
        let id = message
            .get("player_id")
            .or_else(|| message.get("referee_id"))
            .and_then(Value::as_str);
        if let Some(id) = id.filter(|_| accepted) {
            self.left_behind.push(format!(
                "left behind in the league: {id}, accepted as {what}"
            ));
        }
    }

    pub(super) fn members(&self) -> impl Iterator<Item = &Member> {
        self.players.iter().chain(&self.referees)
    }

    /// Waits until the messages received by the members satisfy `enough`.
    pub(super) async fn wait_until(
        &mut self,
        within: Duration,
        enough: impl Fn(&Self) -> bool,
    ) -> bool {
        let deadline = Instant::now() + self.probe.timeout(within);
        loop {
            for member in self.players.iter_mut().chain(&mut self.referees) {
                member.drain().await;
            }
            if enough(self) {
                return true;
            }
            if Instant::now() >= deadline {
                return false;
            }
            sleep(POLL_INTERVAL).await;
        }
    }

    pub(super) fn member(&self, role: Role, number: usize) -> Option<&Member> {
        match role {
            Role::Player => self.players.get(number),
            Role::Referee => self.referees.get(number),
        }
    }
}

/// The error code of a rejected registration or a failed query.
fn code_in(message: &Value) -> Option<String> {
    let rejected = message
        .get("status")
        .is_some_and(|status| status == "REJECTED");
    let failed = message
        .get("success")
        .is_some_and(|success| success == false);
    let code = match (rejected, failed) {
        (true, _) => message.get("error_code"),
        (_, true) => message.pointer("/error/error_code"),
        _ => return None,
    };
    Some(code.and_then(Value::as_str).unwrap_or(NO_CODE).to_owned())
}

pub(super) fn set_field(request: &mut Value, key: &str, value: Value) {
    if let Some(request) = request.as_object_mut() {
        request.insert(key.to_owned(), value);
    }
}

pub(super) fn json_text(value: Option<&Value>) -> String {
    value.map_or_else(|| "nothing".to_owned(), ToString::to_string)
}
