//! The checks that all roles share: HTTP, JSON-RPC, and robustness against bad requests and connections. Their rules
//! are declared among the player's.

mod jsonrpc;
mod robustness;

use super::exchange::Exchange;
use super::player::rules;
use super::probe::{Probe, Reply};
use super::report::Findings;
use super::response_format;
use super::rule::Rule;
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::dialect::answer::WireAnswer;
use serde_json::{Value, json};
use std::time::Duration;

/// The shared rules that `--quick` checks too.
pub(crate) static RULES: &[&Rule] = &[
    &rules::REACHABLE,
    &rules::STATUS,
    &rules::LENGTH,
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

const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
const ENCODED_TWICE: &str = "Put the message itself into `result`, and encode the whole response once: in Python do not call json.dumps on the result.";

/// What the checks on the wire have found out about the agent.
#[derive(Debug, Default)]
pub(crate) struct WireState {
    /// What it was sent when it stopped responding.
    dead: Option<String>,
    /// It answers with bodies other than JSON-RPC responses.
    nonstandard: bool,
}

#[derive(Debug)]
pub(crate) struct Wire<'a> {
    pub probe: &'a Probe,
    pub findings: &'a mut Findings,
    pub state: &'a mut WireState,
}

impl Wire<'_> {
    /// Checks HTTP status, content type, JSON-RPC and dialect of a response.
    pub(crate) fn check_response_format(&mut self, reply: &Reply) {
        let exchange = &reply.exchange;
        let findings = &mut *self.findings;
        let Some(answered) = exchange.answered().filter(|_| !reply.separate) else {
            return;
        };
        match answered.status {
            200 => findings.pass(&rules::STATUS, ""),
            202 | 204 if answered.body.is_empty() => {}
            status => findings.violated(
                &rules::STATUS,
                format!("{} was answered with HTTP {status}", exchange.subject),
                exchange,
            ),
        }
        match answered.content_type.as_deref() {
            _ if answered.body.is_empty() => {}
            Some(kind) if kind.to_ascii_lowercase().starts_with("application/json") => {
                findings.pass(&rules::CONTENT_TYPE, "");
            }
            Some(kind) => findings.violated(
                &rules::CONTENT_TYPE,
                format!("Content-Type: {kind}"),
                exchange,
            ),
            None => findings.violated(&rules::CONTENT_TYPE, "no Content-Type", exchange),
        }
        self.check_dialect(reply);
        // An HTTP error is reported once, with any body.
        if !(200..300).contains(&answered.status) {
            return;
        }
        let findings = &mut *self.findings;
        let Some(answer) = answered.json() else {
            let what = if answered.body.is_empty() {
                "an empty body"
            } else {
                "something else than JSON"
            };
            match &reply.wire {
                Some(WireAnswer::Received) => {
                    findings.warn(
                        &rules::FORM,
                        format!(
                            "{} was answered with {what}, which Matchday takes for \"received\"",
                            exchange.subject
                        ),
                        exchange,
                    );
                }
                _ => findings.violated(
                    &rules::FORM,
                    format!("{} was answered with {what}", exchange.subject),
                    exchange,
                ),
            }
            return;
        };
        if reply.encoded_twice {
            let note = format!(
                "{} was answered with JSON inside of a text: it was encoded twice",
                exchange.subject
            );
            return findings.violated_because(&rules::FORM, note, Some(ENCODED_TWICE), exchange);
        }
        if reply.dialect == Dialect::Bare {
            self.state.nonstandard = true;
            return;
        }
        match response_format::of(&answer) {
            response_format::ResponseFormat::Standard => {
                self.check_response(&answer, &json!(reply.id), exchange)
            }
            response_format::ResponseFormat::Dialect(name) => {
                self.state.nonstandard = true;
                let note = format!(
                    "{} was answered in a dialect: {name}. Matchday accepts this; other league managers may not",
                    exchange.subject
                );
                findings.warn(&rules::FORM, note, exchange);
            }
            response_format::ResponseFormat::Unreadable => findings.violated(
                &rules::FORM,
                format!(
                    "{} was answered with JSON that is no response",
                    exchange.subject
                ),
                exchange,
            ),
        }
    }

    /// The standard dialect must be understood; the complaint shows the message that was not.
    fn check_dialect(&mut self, reply: &Reply) {
        match self.probe.standard() {
            Some(Err(refused)) => {
                let note = format!(
                    "the standard dialect was not understood ({}), the dialect {} is. Matchday finds that out; other league managers may not",
                    refused.outcome_text(),
                    json!(reply.dialect)
                );
                self.findings.warn(&rules::DIALECT, note, &refused);
            }
            Some(Ok(())) => self.findings.pass(&rules::DIALECT, ""),
            None if reply.is_understood() && reply.dialect == Dialect::Standard => {
                self.findings.pass(&rules::DIALECT, "");
            }
            None => {}
        }
    }

    /// Checks every part of a JSON-RPC response.
    pub(crate) fn check_response(&mut self, answer: &Value, id: &Value, exchange: &Exchange) {
        let findings = &mut *self.findings;
        findings.pass(&rules::FORM, "");
        findings.result(&rules::VERSION, response_format::version(answer), exchange);
        findings.result(&rules::ID, response_format::id(answer, id), exchange);
        match response_format::result_or_error(answer) {
            response_format::ResultOrError::One => findings.pass(&rules::XOR, ""),
            response_format::ResultOrError::EmptyError => {
                let note = "\"error\": null beside the result. Matchday accepts this; other league managers may not";
                findings.warn(&rules::XOR, note, exchange);
            }
            response_format::ResultOrError::Both => {
                findings.violated(&rules::XOR, "it has both a result and an error", exchange)
            }
            response_format::ResultOrError::Neither => findings.violated(
                &rules::XOR,
                "it has neither a result nor an error",
                exchange,
            ),
        }
    }

    /// Rules about JSON-RPC responses are neither violated nor kept by an agent that never sends one.
    pub(crate) fn finish_format_rules(&mut self) {
        let rules = [&rules::FORM, &rules::VERSION, &rules::ID, &rules::XOR];
        for rule in rules.into_iter().filter(|_| self.state.nonstandard) {
            if self.findings.is_undecided(rule) {
                let note = "it answers without JSON-RPC. Matchday accepts this; other league managers may not";
                self.findings.warn_unseen(rule, note);
            }
        }
    }

    /// Pings the agent after something that may have crashed it. Only the first rule after which it stops responding
    /// is violated.
    pub(crate) async fn still_alive(&mut self, rule: &'static Rule, after: &str) -> bool {
        if self.state.dead.is_some() {
            self.findings.skip(rule, "the agent was gone by then");
            return false;
        }
        // What it was sent last is not what silenced it.
        let was_silent = self.probe.is_silent();
        let ping = self.probe.ping().await;
        if ping.answered().is_some() {
            return true;
        }
        if was_silent {
            self.state.dead = Some("an earlier request".to_owned());
            self.findings
                .skip(rule, "the agent had stopped answering by then");
        } else {
            self.state.dead = Some(after.to_owned());
            let note = format!(
                "it no longer answers after {after}: {}",
                ping.outcome_text()
            );
            self.findings.violated(rule, note, &ping);
        }
        false
    }
}
