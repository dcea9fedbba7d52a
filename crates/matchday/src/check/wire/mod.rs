//! What is judged of every role alike: HTTP, JSON-RPC, and whether the agent lives through bad requests and connections.
//! The rules stand among the player's, in whose order people first read them.

mod rpc;
mod strain;

use super::exchange::Exchange;
use super::form;
use super::player::rules;
use super::probe::{Probe, Reply};
use super::report::Sheet;
use super::rule::Rule;
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::dialect::answer::WireAnswer;
use serde_json::{Value, json};
use std::time::Duration;

/// What every role is held against, and `--quick` looks at.
pub(crate) static RULES: &[&Rule] = &[
    &rules::REACHABLE,
    &rules::STATUS,
    &rules::CONTENT_TYPE,
    &rules::FORM,
    &rules::DIALECT,
    &rules::VERSION,
    &rules::ID,
    &rules::XOR,
    &rules::PARSE_ERROR,
    &rules::INVALID_REQUEST,
    &rules::UNKNOWN_METHOD,
    &rules::INVALID_PARAMS,
    &rules::NOTIFICATION,
    &rules::BATCH,
];

/// How long an answer to a bad request is waited for.
const ANSWERS_WITHIN: Duration = Duration::from_secs(10);

/// The agent under check, and where what is found of it is written down.
#[derive(Debug)]
pub(crate) struct Wire<'a> {
    pub(crate) probe: &'a Probe,
    pub(crate) sheet: &'a mut Sheet,
    /// Whether it has been found dead.
    pub(crate) gone: &'a mut bool,
    /// Whether it answers with something else than JSON-RPC responses.
    pub(crate) answers_otherwise: &'a mut bool,
}

impl Wire<'_> {
    /// The form of an answer: HTTP, JSON-RPC, dialect.
    pub(crate) fn judge_form(&mut self, reply: &Reply) {
        let (exchange, sheet) = (&reply.exchange, &mut *self.sheet);
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
        let sheet = &mut *self.sheet;
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
            *self.answers_otherwise = true;
            return;
        }
        match form::of(&answer) {
            form::Form::Response => self.judge_response(&answer, &json!(reply.id), exchange),
            form::Form::Dialect(name) => {
                *self.answers_otherwise = true;
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
        let understood = matches!(
            reply.wire,
            Some(WireAnswer::Message(_) | WireAnswer::Refused(_) | WireAnswer::Received)
        );
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
    pub(crate) fn judge_response(&mut self, answer: &Value, id: &Value, exchange: &Exchange) {
        let sheet = &mut *self.sheet;
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
    pub(crate) fn settle_form(&mut self) {
        let rules = [&rules::FORM, &rules::VERSION, &rules::ID, &rules::XOR];
        for rule in rules.into_iter().filter(|_| *self.answers_otherwise) {
            if self.sheet.is_open(rule) {
                let note = "it answers without JSON-RPC. Every league of ours understands it; others may not";
                self.sheet.caution(rule, note);
            }
        }
    }

    /// Looks whether anyone is still there after something that could have been too much. What comes after the end is not
    /// to blame for it.
    pub(crate) async fn lives(&mut self, rule: &'static Rule, after: &str) -> bool {
        if *self.gone {
            self.sheet.skip(rule, "the agent was gone by then");
            return false;
        }
        let ping = self.probe.ping().await;
        *self.gone = ping.answered().is_none();
        if *self.gone {
            let note = format!("it answers nobody any more after {after}: {}", ping.outcome_in_words());
            self.sheet.broken(rule, note, &ping);
        }
        !*self.gone
    }
}
