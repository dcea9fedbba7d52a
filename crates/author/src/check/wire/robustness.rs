//! Robustness: unknown message types, slow and aborted connections, and whether the agent is alive at the end.

use super::{ANSWER_TIMEOUT, Wire};
use crate::check::exchange::{CallOutcome, Exchange, HttpAnswer};
use crate::check::player::rules;
use crate::check::raw_http::RawTarget;
use crate::check::reply::{ReplyKind, is_failure};
use bytes::Bytes;
use matchday_core::protocol::Message;
use matchday_core::protocol::dialect::call::write_probe;
use matchday_net::client::CallError;
use serde_json::json;
use std::time::Duration;
use tokio::time::Instant;

const SLOW_PIECES: usize = 12;
const SLOW_PAUSE: Duration = Duration::from_millis(120);
const SLOW_ANSWER_WITHIN: Duration = Duration::from_secs(5);
const NO_TIME: &str = "the time limit of the check was reached";
const NO_RAW_TLS: &str = "broken connections are checked over http only";
/// How long another request may wait while a slow one is read.
const MEANWHILE_MAX: Duration = Duration::from_millis(700);

impl Wire<'_> {
    /// Sends a message of an unknown type, otherwise like this one.
    pub(crate) async fn unknown_message(&mut self, like: &Message) {
        let rule = &rules::UNKNOWN_MESSAGE;
        let reply = self
            .probe
            .send_altered(like, ANSWER_TIMEOUT, &|message| {
                message.insert("message_type".to_owned(), json!("WEATHER_REPORT"));
                message.insert("sky".to_owned(), json!("blue"));
            })
            .await;
        let kind = ReplyKind::of(&reply);
        if !self.still_alive(rule, "a message of an unknown type").await {
            return;
        }
        match kind {
            ReplyKind::Unknown(why) => self.findings.skip(rule, why),
            ReplyKind::NoAnswer => {
                self.findings
                    .violated(rule, reply.exchange.outcome_text(), &reply.exchange)
            }
            other if is_failure(&reply) => {
                self.findings
                    .violated(rule, other.describe(&reply.exchange), &reply.exchange);
            }
            _ => self.findings.pass(rule, ""),
        }
    }

    /// Sends a request in slow pieces, and another one meanwhile.
    pub(crate) async fn slow_drip(&mut self) {
        let rule = &rules::SLOW_DRIP;
        let Some(target) = RawTarget::of(&self.probe.url).filter(|target| !target.secure) else {
            return self.findings.skip(rule, NO_RAW_TLS);
        };
        if self.probe.is_over() {
            return self.findings.skip(rule, NO_TIME);
        }
        let body = write_probe(self.probe.fresh_id());
        let slow_request = async {
            let began = Instant::now();
            let came = target
                .send_slowly(&body, SLOW_PIECES, SLOW_PAUSE, SLOW_ANSWER_WITHIN)
                .await;
            let outcome = match came {
                Ok((status, body)) => CallOutcome::Answered(HttpAnswer {
                    status,
                    content_type: None,
                    location: None,
                    body,
                }),
                Err(error) => CallOutcome::Failed(CallError::NoConnection(error.to_string())),
            };
            let request = Bytes::from(body.clone());
            Exchange {
                subject: "a request in small pieces".to_owned(),
                request,
                outcome,
                took: began.elapsed(),
            }
        };
        let meanwhile = async {
            tokio::time::sleep(SLOW_PAUSE * 2).await;
            self.probe.ping().await
        };
        let (slow, meanwhile) = tokio::join!(slow_request, meanwhile);
        if !self
            .still_alive(rule, "a request that arrived in small pieces")
            .await
        {
            return;
        }
        if slow.answered().is_none() {
            let note = format!(
                "a request that arrived in small pieces got no answer: {}",
                slow.outcome_text()
            );
            self.findings.violated(rule, note, &slow);
        } else if meanwhile.answered().is_none() || meanwhile.took > MEANWHILE_MAX {
            let waited = crate::check::exchange::format_duration(meanwhile.took);
            let note = format!(
                "another request had to wait {waited} while one arrived in small pieces: it serves one connection at a time"
            );
            self.findings.warn(rule, note, &meanwhile);
        } else {
            self.findings.pass(rule, "");
        }
    }

    /// Closes connections in the middle of a request, and before the response.
    pub(crate) async fn closed_connections(&mut self) {
        let rule = &rules::CLOSED_CONNECTION;
        let Some(target) = RawTarget::of(&self.probe.url).filter(|target| !target.secure) else {
            return self.findings.skip(rule, NO_RAW_TLS);
        };
        if self.probe.is_over() {
            return self.findings.skip(rule, NO_TIME);
        }
        let body = write_probe(self.probe.fresh_id());
        for _ in 0..3 {
            // The agent may refuse these connections, but must survive them.
            let _ = target.send_half(&body).await;
            let _ = target.close_before_answer(&body).await;
        }
        if self.still_alive(rule, "connections that broke off").await {
            self.findings.pass(rule, "");
        }
    }

    pub(crate) async fn alive_at_end(&mut self) {
        let ping = self.probe.ping().await;
        match ping.answered() {
            Some(_) => self.findings.pass(&rules::ALIVE, ""),
            None => {
                let note = match &self.state.dead {
                    Some(after) => {
                        format!("it does not answer after {after}: {}", ping.outcome_text())
                    }
                    None => ping.outcome_text(),
                };
                self.findings.violated(&rules::ALIVE, note, &ping);
            }
        }
    }
}
