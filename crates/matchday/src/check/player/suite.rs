//! What the parts of the suite share: the agent, the pretended league, the sheet, and how answers of all kinds are
//! judged in form.

use super::{referee, rules};
use crate::check::exchange::{Exchange, Outcome};
use crate::check::form;
use crate::check::probe::{Probe, Reply};
use crate::check::report::Sheet;
use crate::check::rule::Rule;
use crate::check::stage::{Fixture, Stage};
use crate::check::stand_in::Booth;
use matchday_core::protocol::Message;
use matchday_core::protocol::decode::Conformance;
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::dialect::answer::WireAnswer;
use matchday_core::timing::Timing;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

#[derive(Debug)]
pub(super) struct Suite {
    pub(super) probe: Probe,
    pub(super) stage: Stage,
    pub(super) sheet: Sheet,
    /// The referee's own port, for answers that come by themselves.
    pub(super) referee: Booth,
    /// What came there and was not waited for yet.
    pub(super) apart: Vec<Exchange>,
    pub(super) conformance: Conformance,
    pub(super) timing: Timing,
    /// Whether the player came to a plain match, and chose in it: what goes wrong in other matches is their fault then.
    pub(super) joined: bool,
    pub(super) chose: bool,
    /// Whether it has been found dead.
    pub(super) gone: bool,
    /// Whether it answers with something else than JSON-RPC responses.
    pub(super) answers_otherwise: bool,
    /// How long each right answer took.
    pub(super) joins: Vec<Duration>,
    pub(super) choices: Vec<Duration>,
}

/// What came of a question.
#[derive(Debug)]
pub(super) enum Heard {
    /// A league message, or what is meant for one.
    Message(Value),
    /// It refuses to talk to us, in the form in which one refuses: with this code and these words.
    Refused { code: String, words: String },
    /// It took note, and no more.
    Received,
    /// Something that is no answer, in words.
    Garbled(String),
    /// Nothing came.
    Nothing,
    /// It is not known what would have come, and why.
    Unknown(String),
}

impl Suite {
    pub(super) fn is_lenient(&self) -> bool {
        self.conformance == Conformance::Lenient
    }

    /// Judges without writing anything down: what goes wrong under a strain is held against the rule about that strain,
    /// and not against those about plain answers.
    pub(super) fn quietly<R>(&mut self, judge: impl FnOnce(&mut Self) -> R) -> R {
        let kept = std::mem::replace(&mut self.sheet, Sheet::new(Vec::new()));
        let judged = judge(self);
        self.sheet = kept;
        judged
    }

    /// Sends a message, and looks at the form of what comes back.
    pub(super) async fn tell(&mut self, message: &Message, within: Duration) -> Reply {
        let reply = self.probe.tell(message, within).await;
        self.judge_form(&reply);
        reply
    }

    /// Puts a question of a match, and waits for an answer that comes by a message of its own where the exchange brought
    /// none.
    pub(super) async fn put(&mut self, message: &Message, fixture: &Fixture, within: Duration) -> Reply {
        let reply = self.probe.tell(message, within).await;
        self.await_apart(reply, fixture, within).await
    }

    pub(super) async fn await_apart(
        &mut self,
        mut reply: Reply,
        fixture: &Fixture,
        within: Duration,
    ) -> Reply {
        if reply.wire != Some(WireAnswer::Received) {
            return reply;
        }
        let began = Instant::now();
        let window = self.probe.longest(within).saturating_sub(reply.exchange.took);
        let is_about = |came: &Exchange| {
            let message = referee::message_in(&came.request);
            message.is_some_and(|message| {
                message.get("match_id").is_some_and(|id| id == fixture.match_id.as_str())
            })
        };
        loop {
            if let Some(at) = self.apart.iter().position(is_about) {
                let came = self.apart.remove(at);
                reply.exchange.took += began.elapsed();
                reply.exchange.outcome = referee::as_answer(&came);
                reply.wire = referee::message_in(&came.request).map(WireAnswer::Message);
                reply.apart = true;
                return reply;
            }
            match self.referee.next(window.saturating_sub(began.elapsed())).await {
                Some(came) => self.apart.push(came),
                None => return reply,
            }
        }
    }

    /// Tells the player of a match that it will be invited to.
    pub(super) async fn announce(&mut self) -> Fixture {
        let fixture = self.stage.next();
        let message = self.stage.announcement(self.probe.clock.now(), &[&fixture]);
        self.tell(&message, self.timing.other).await;
        fixture
    }

    /// The form of an answer: HTTP, JSON-RPC, dialect.
    pub(super) fn judge_form(&mut self, reply: &Reply) {
        let (exchange, sheet) = (&reply.exchange, &mut self.sheet);
        let Some(answered) = exchange.answered().filter(|_| !reply.apart) else {
            return;
        };
        match answered.status {
            200 => sheet.pass(&rules::STATUS, ""),
            202 | 204 if answered.body.is_empty() => {}
            status => sheet.broken(
                &rules::STATUS,
                format!("{} was answered with HTTP {status}", exchange.subject),
                exchange,
            ),
        }
        match answered.content_type.as_deref() {
            _ if answered.body.is_empty() => {}
            Some(kind) if kind.to_ascii_lowercase().starts_with("application/json") => {
                sheet.pass(&rules::CONTENT_TYPE, "");
            }
            Some(kind) => sheet.broken(&rules::CONTENT_TYPE, format!("Content-Type: {kind}"), exchange),
            None => sheet.broken(&rules::CONTENT_TYPE, "no Content-Type", exchange),
        }
        self.judge_dialect(reply);
        // An HTTP error is one fault, whatever its body looks like.
        if !(200..300).contains(&answered.status) {
            return;
        }
        let sheet = &mut self.sheet;
        let Some(answer) = answered.json() else {
            let what = if answered.body.is_empty() { "an empty body" } else { "something else than JSON" };
            match &reply.wire {
                Some(WireAnswer::Received) => {
                    sheet.warn(
                        &rules::FORM,
                        format!(
                            "{} was answered with {what}, which every league of ours takes for \"received\"",
                            exchange.subject
                        ),
                        exchange,
                    );
                }
                _ => sheet.broken(
                    &rules::FORM,
                    format!("{} was answered with {what}", exchange.subject),
                    exchange,
                ),
            }
            return;
        };
        if reply.dialect == Dialect::Bare {
            self.answers_otherwise = true;
            return;
        }
        match form::of(&answer) {
            form::Form::Response => self.judge_response(&answer, &json!(reply.id), exchange),
            form::Form::Dialect(name) => {
                self.answers_otherwise = true;
                let note = format!(
                    "{} was answered in a dialect: {name}. Every league of ours understands it; others may not",
                    exchange.subject
                );
                sheet.warn(&rules::FORM, note, exchange);
            }
            form::Form::None => sheet.broken(
                &rules::FORM,
                format!("{} was answered with JSON that is no response", exchange.subject),
                exchange,
            ),
        }
    }

    fn judge_dialect(&mut self, reply: &Reply) {
        let understood = matches!(reply.wire, Some(WireAnswer::Message(_) | WireAnswer::Received));
        match reply.dialect {
            _ if !understood => {}
            Dialect::Standard => self.sheet.pass(&rules::DIALECT, ""),
            dialect => {
                let name = json!(dialect);
                let note = format!(
                    "it is spoken to in the dialect {name}: it registered in that one, or did not understand the standard one. Every league of ours does so; others may not"
                );
                self.sheet.warn(&rules::DIALECT, note, &reply.exchange);
            }
        }
    }

    /// A JSON-RPC response must be one in every part.
    pub(super) fn judge_response(&mut self, answer: &Value, id: &Value, exchange: &Exchange) {
        let sheet = &mut self.sheet;
        sheet.pass(&rules::FORM, "");
        match form::version(answer) {
            Ok(()) => sheet.pass(&rules::VERSION, ""),
            Err(why) => sheet.broken(&rules::VERSION, why, exchange),
        }
        match form::id(answer, id) {
            Ok(()) => sheet.pass(&rules::ID, ""),
            Err(why) => sheet.broken(&rules::ID, why, exchange),
        }
        match form::outcome(answer) {
            form::Outcome::One => sheet.pass(&rules::XOR, ""),
            form::Outcome::EmptyError => {
                let note =
                    "\"error\": null beside the result. Every league of ours reads past it; others may not";
                sheet.warn(&rules::XOR, note, exchange);
            }
            form::Outcome::Both => sheet.broken(&rules::XOR, "it has both a result and an error", exchange),
            form::Outcome::Neither => {
                sheet.broken(&rules::XOR, "it has neither a result nor an error", exchange)
            }
        }
    }

    /// An agent that never answers with a JSON-RPC response cannot break the rules about those, nor keep them.
    pub(super) fn settle_form(&mut self) {
        let rules = [&rules::FORM, &rules::VERSION, &rules::ID, &rules::XOR];
        for rule in rules.into_iter().filter(|_| self.answers_otherwise) {
            if self.sheet.is_open(rule) {
                let note = "it answers without JSON-RPC. Every league of ours understands it; others may not";
                self.sheet.caution(rule, note);
            }
        }
    }

    /// What an answer comes to, as a league reads it.
    pub(super) fn heard(&self, reply: &Reply) -> Heard {
        match &reply.wire {
            Some(WireAnswer::Message(message)) => match refusal(message) {
                Some((code, words)) => Heard::Refused { code, words },
                None => Heard::Message(message.clone()),
            },
            Some(WireAnswer::Received) => Heard::Received,
            Some(WireAnswer::MethodNotFound) => Heard::Garbled("it does not know the method".to_owned()),
            Some(WireAnswer::Error { code, message }) => {
                Heard::Garbled(format!("it answered with JSON-RPC error {code}: {message}"))
            }
            Some(WireAnswer::Garbled(why)) => Heard::Garbled(why.clone()),
            None => match &reply.exchange.outcome {
                Outcome::Unknown(why) => Heard::Unknown(why.clone()),
                _ => Heard::Nothing,
            },
        }
    }

    /// Looks whether anyone is still there after something that could have been too much. What comes after the end is not
    /// to blame for it.
    pub(super) async fn lives(&mut self, rule: &'static Rule, after: &str) -> bool {
        if self.gone {
            self.sheet.skip(rule, "the agent was gone by then");
            return false;
        }
        let ping = self.probe.ping().await;
        self.gone = ping.answered().is_none();
        if self.gone {
            let note = format!("it answers nobody any more after {after}: {}", ping.outcome_in_words());
            self.sheet.broken(rule, note, &ping);
        }
        !self.gone
    }
}

/// Code and words of a LEAGUE_ERROR.
fn refusal(message: &Value) -> Option<(String, String)> {
    let text = |key: &str| message.get(key).and_then(Value::as_str);
    (text("message_type") == Some("LEAGUE_ERROR")).then_some(())?;
    let words = text("error_message").or(text("error_description")).unwrap_or_default();
    Some((text("error_code").unwrap_or("no code").to_owned(), words.to_owned()))
}
