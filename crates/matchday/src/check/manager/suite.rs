//! What the parts of the suite share: the manager, the members, and how its answers are read and its refusals judged.

use super::members::{Member, Role};
use super::results::Counts;
use super::rules;
use crate::check::exchange::Exchange;
use crate::check::heard::Heard;
use crate::check::probe::{Alter, Probe, Reply};
use crate::check::report::Sheet;
use crate::check::rule::Rule;
use crate::check::wire::Wire;
use matchday_core::protocol::decode::{Conformance, Incoming, Limits, Reading, decode};
use matchday_core::protocol::{Body, Message, Sender};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long an answer is waited for.
pub(super) const ANSWERS_WITHIN: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(super) struct Suite {
    pub(super) probe: Probe,
    pub(super) sheet: Sheet,
    pub(super) gone: bool,
    pub(super) answers_otherwise: bool,
    pub(super) conformance: Conformance,
    pub(super) players: Vec<Member>,
    pub(super) referees: Vec<Member>,
    pub(super) league_id: String,
    /// Whether the manager says that it makes notice tokens.
    pub(super) makes_tokens: bool,
    pub(super) operator_token: Option<String>,
    /// What was reported and acknowledged.
    pub(super) counts: Vec<Counts>,
}

impl Suite {
    pub(super) fn wire(&mut self) -> Wire<'_> {
        Wire {
            probe: &self.probe,
            sheet: &mut self.sheet,
            gone: &mut self.gone,
            answers_otherwise: &mut self.answers_otherwise,
        }
    }

    /// A message of a member, with the fields that are its own.
    pub(super) fn letter(&self, kind: &str, from: &Member, conversation: &str, fields: Value) -> Value {
        let mut letter = self.unsigned(kind, &from.sender(), conversation, fields);
        if from.token.is_some() {
            put(&mut letter, "auth_token", from.shown_token());
        }
        letter
    }

    pub(super) fn unsigned(&self, kind: &str, sender: &str, conversation: &str, fields: Value) -> Value {
        let mut letter = json!({
            "protocol": "league.v2",
            "message_type": kind,
            "sender": sender,
            "timestamp": self.probe.clock.now(),
            "conversation_id": conversation,
        });
        if let (Some(letter), Value::Object(fields)) = (letter.as_object_mut(), fields) {
            letter.extend(fields);
        }
        letter
    }

    /// Sends a message that is right.
    pub(super) async fn ask(&mut self, letter: &Value) -> Option<Reply> {
        self.ask_altered(letter, &|_| {}).await
    }

    /// Sends a message that was right before it was changed. None if what was to be sent is no message of ours, which can
    /// only be for ids that the manager gave.
    pub(super) async fn ask_altered(&mut self, letter: &Value, alter: &Alter<'_>) -> Option<Reply> {
        let reading = self.reading(Conformance::Lenient);
        let incoming = decode(letter, &reading).ok()?;
        let message = Message { envelope: incoming.envelope, body: incoming.body.ok()? };
        let whole = |fields: &mut serde_json::Map<String, Value>| {
            if let Some(letter) = letter.as_object() {
                *fields = letter.clone();
            }
            alter(fields);
        };
        let reply = self.probe.tell_altered(&message, ANSWERS_WITHIN, &whole).await;
        self.wire().judge_form(&reply);
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

    /// Reads an answer as a league does; what is wrong with its body is held against `rule`.
    pub(super) fn answer(
        &mut self,
        rule: &'static Rule,
        asked: &Value,
        reply: Option<&Reply>,
    ) -> Option<Body> {
        let reply = reply?;
        let exchange = &reply.exchange;
        let message = match Heard::of(reply) {
            Heard::Message(message) => message,
            Heard::Unknown(why) => {
                self.sheet.skip(rule, why);
                return None;
            }
            other => {
                self.sheet.broken(rule, in_words(&other, exchange), exchange);
                return None;
            }
        };
        let body = self.read(rule, &message, exchange)?;
        let wanted = asked.get("conversation_id");
        match message.get("conversation_id") == wanted {
            true => self.sheet.pass(&rules::CONVERSATION, ""),
            false => {
                let note =
                    format!("expected {}, got {}", shown(wanted), shown(message.get("conversation_id")));
                self.sheet.broken(&rules::CONVERSATION, note, exchange);
            }
        }
        Some(body)
    }

    /// Reads a message of the manager's, whoever it was sent to.
    pub(super) fn read(&mut self, rule: &'static Rule, message: &Value, exchange: &Exchange) -> Option<Body> {
        let strict = decode(message, &self.reading(Conformance::Strict));
        let (incoming, fault) = match strict {
            Ok(Incoming { body: Ok(_), .. }) => (strict.ok(), None),
            Ok(Incoming { body: Err(fault), .. }) => (None, Some((rule, fault))),
            Err(fault) => (None, Some((&rules::ENVELOPE, fault))),
        };
        let incoming = incoming.or_else(|| decode(message, &self.reading(Conformance::Lenient)).ok());
        if let Some((rule, fault)) = fault {
            let readable = incoming.as_ref().is_some_and(|incoming| incoming.body.is_ok());
            let note = format!("{} ({})", fault.sentence(), fault.code);
            match self.conformance == Conformance::Lenient && readable {
                true => self.sheet.warn(rule, note, exchange),
                false => self.sheet.broken(rule, note, exchange),
            }
        }
        let incoming = incoming?;
        match incoming.envelope.sender == Sender::LeagueManager {
            true => self.sheet.pass(&rules::ENVELOPE, ""),
            false => {
                let note =
                    format!("sender: expected \"league_manager\", got {}", shown(message.get("sender")));
                self.sheet.broken(&rules::ENVELOPE, note, exchange);
            }
        }
        incoming.body.ok()
    }

    /// A request that must be refused, with this code.
    pub(super) fn refused(&mut self, rule: &'static Rule, what: &str, code: &str, reply: Option<&Reply>) {
        let Some(reply) = reply else { return };
        let exchange = &reply.exchange;
        let heard = Heard::of(reply);
        let came = match &heard {
            Heard::Refused { code, .. } => Some(code.clone()),
            Heard::Message(message) => code_in(message),
            _ => None,
        };
        match (came, heard) {
            (Some(came), _) if came == code => self.sheet.pass(rule, ""),
            (Some(came), _) => {
                let note = format!("{what} was refused with {came} in place of {code}");
                match self.conformance {
                    Conformance::Strict => self.sheet.broken(rule, note, exchange),
                    Conformance::Lenient => self.sheet.warn(rule, note, exchange),
                }
            }
            (None, Heard::Unknown(why)) => self.sheet.skip(rule, why),
            (None, heard) => {
                let note = format!("{what} must be refused with {code}: {}", in_words(&heard, exchange));
                self.sheet.broken(rule, note, exchange);
            }
        }
    }

    pub(super) fn members(&self) -> impl Iterator<Item = &Member> {
        self.players.iter().chain(&self.referees)
    }

    /// Waits until what has come to the members suffices.
    pub(super) async fn until(&mut self, within: Duration, enough: impl Fn(&Self) -> bool) -> bool {
        let deadline = Instant::now() + self.probe.longest(within);
        loop {
            for member in self.players.iter_mut().chain(&mut self.referees) {
                member.listen().await;
            }
            if enough(self) {
                return true;
            }
            if Instant::now() >= deadline {
                return false;
            }
            sleep(LOOK_EVERY).await;
        }
    }

    pub(super) fn member(&self, role: Role, number: usize) -> Option<&Member> {
        match role {
            Role::Player => self.players.get(number),
            Role::Referee => self.referees.get(number),
        }
    }
}

/// The code of a rejected registration or of a query without success.
fn code_in(message: &Value) -> Option<String> {
    let rejected = message.get("status").is_some_and(|status| status == "REJECTED");
    let failed = message.get("success").is_some_and(|success| success == false);
    let code = match (rejected, failed) {
        (true, _) => message.get("error_code"),
        (_, true) => message.pointer("/error/error_code"),
        _ => return None,
    };
    Some(code.and_then(Value::as_str).unwrap_or("no code").to_owned())
}

pub(super) fn in_words(heard: &Heard, exchange: &Exchange) -> String {
    match heard {
        Heard::Message(message) => format!("it answered with {}", shown(message.get("message_type"))),
        Heard::Refused { code, words } => format!("it refused with {code}: {words}"),
        Heard::Received => "it only took note".to_owned(),
        Heard::Garbled(why) | Heard::Unknown(why) => why.clone(),
        Heard::Nothing => exchange.outcome_in_words(),
    }
}

pub(super) fn put(letter: &mut Value, key: &str, value: Value) {
    if let Some(letter) = letter.as_object_mut() {
        letter.insert(key.to_owned(), value);
    }
}

pub(super) fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| "nothing".to_owned(), ToString::to_string)
}
