//! Messages that nobody knows, connections that trickle or break, and whether anyone is left at the end.

use super::{ANSWERS_WITHIN, Wire};
use crate::check::exchange::{Answered, Exchange, Outcome};
use crate::check::heard::Heard;
use crate::check::player::rules;
use crate::check::raw::Place;
use crate::net::client::CallError;
use bytes::Bytes;
use matchday_core::protocol::Message;
use matchday_core::protocol::dialect::call::write_probe;
use serde_json::json;
use std::time::Duration;
use tokio::time::Instant;

const DRIP_PIECES: usize = 12;
const DRIP_PAUSE: Duration = Duration::from_millis(120);
/// How long the answer to a request in drops is waited for.
const DRIPPED_WITHIN: Duration = Duration::from_secs(5);
const NOT_BY_HAND: &str = "connections are broken off over http only: check the agent there";
/// How long someone else may have to wait while a request drips in.
const MEANWHILE_MAX: Duration = Duration::from_millis(700);

impl Wire<'_> {
    /// A message that is like this one, and of a type that nobody knows.
    pub(crate) async fn unknown_message(&mut self, like: &Message) {
        let rule = &rules::UNKNOWN_MESSAGE;
        let reply = self
            .probe
            .tell_altered(like, ANSWERS_WITHIN, &|message| {
                message.insert("message_type".to_owned(), json!("WEATHER_REPORT"));
                message.insert("sky".to_owned(), json!("blue"));
            })
            .await;
        let heard = Heard::of(&reply);
        if !self.lives(rule, "a message of an unknown type").await {
            return;
        }
        match heard {
            Heard::Unknown(why) => self.sheet.skip(rule, why),
            Heard::Nothing => self.sheet.broken(rule, reply.exchange.outcome_in_words(), &reply.exchange),
            _ if reply.exchange.answered().is_some_and(|came| came.status >= 500) => {
                let note = format!("it failed: {}", reply.exchange.outcome_in_words());
                self.sheet.broken(rule, note, &reply.exchange);
            }
            _ => self.sheet.pass(rule, ""),
        }
    }

    /// A request in drops, and another one while it drips.
    pub(crate) async fn slow_drip(&mut self) {
        let rule = &rules::SLOW_DRIP;
        let Some(place) = Place::of(&self.probe.url).filter(|place| !place.secure) else {
            return self.sheet.skip(rule, NOT_BY_HAND);
        };
        let body = write_probe(self.probe.fresh_id());
        let dripping = async {
            let began = Instant::now();
            let came = place.drip(&body, DRIP_PIECES, DRIP_PAUSE, DRIPPED_WITHIN).await;
            let outcome = match came {
                Ok((status, body)) => {
                    Outcome::Answered(Answered { status, content_type: None, location: None, body })
                }
                Err(error) => Outcome::Failed(CallError::NoConnection(error.to_string())),
            };
            let request = Bytes::from(body.clone());
            Exchange { subject: "a request in drops".to_owned(), request, outcome, took: began.elapsed() }
        };
        let meanwhile = async {
            tokio::time::sleep(DRIP_PAUSE * 2).await;
            self.probe.ping().await
        };
        let (dripped, meanwhile) = tokio::join!(dripping, meanwhile);
        if !self.lives(rule, "a request that came in drops").await {
            return;
        }
        if dripped.answered().is_none() {
            let note = format!("a request that came in drops got no answer: {}", dripped.outcome_in_words());
            self.sheet.broken(rule, note, &dripped);
        } else if meanwhile.answered().is_none() || meanwhile.took > MEANWHILE_MAX {
            let waited = crate::check::exchange::seconds(meanwhile.took);
            let note = format!(
                "another request had to wait {waited} while one came in drops: it serves one connection at a time"
            );
            self.sheet.warn(rule, note, &meanwhile);
        } else {
            self.sheet.pass(rule, "");
        }
    }

    /// Connections that end in the middle of a request, and before its answer.
    pub(crate) async fn closed_connections(&mut self) {
        let rule = &rules::CLOSED_CONNECTION;
        let Some(place) = Place::of(&self.probe.url).filter(|place| !place.secure) else {
            return self.sheet.skip(rule, NOT_BY_HAND);
        };
        let body = write_probe(self.probe.fresh_id());
        for _ in 0..3 {
            // Whether the agent takes these connections is its affair; that it lives on is not.
            let (_, _) = (place.break_off(&body).await, place.run_away(&body).await);
        }
        if self.lives(rule, "connections that broke off").await {
            self.sheet.pass(rule, "");
        }
    }

    pub(crate) async fn at_the_end(&mut self) {
        let ping = self.probe.ping().await;
        match ping.answered() {
            Some(_) => self.sheet.pass(&rules::ALIVE, ""),
            None => self.sheet.broken(&rules::ALIVE, ping.outcome_in_words(), &ping),
        }
    }
}
