//! Shared by the player's test cases: the probe, the fake league, the findings, and sending with response format
//! checks.

use super::fake_league::{FakeLeague, Fixture};
use crate::check::ack_server;
use crate::check::exchange::Exchange;
use crate::check::fake_agent::FakeServer;
use crate::check::probe::{Probe, Reply};
use crate::check::report::Findings;
use crate::check::wire::{Wire, WireState};
use matchday_core::protocol::dialect::answer::WireAnswer;
use matchday_core::protocol::nonce::Nonce;
use matchday_core::protocol::{Message, Timestamp};
use matchday_core::timing::Timing;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

#[derive(Debug)]
pub(super) struct Suite {
    pub(super) probe: Probe,
    pub(super) league: FakeLeague,
    pub(super) findings: Findings,
    /// The fake referee's server, for answers that come as separate requests.
    pub(super) referee: FakeServer,
    /// The first invitation and its answer, until they are judged.
    pub(super) first: Option<(Fixture, Reply)>,
    /// Received there and not matched to a request yet.
    pub(super) separate: Vec<Exchange>,
    pub(super) timing: Timing,
    /// Whether the player joined and chose in a plain match. If so, failures in other matches are due to what these
    /// change.
    pub(super) joined: bool,
    pub(super) chose: bool,
    /// Whether it took the GAME_OVER of a plain match. If so, one that is not taken fails for what is special about it.
    pub(super) takes_game_over: bool,
    pub(super) wire_state: WireState,
    /// Whether the player's id is not known but from its own answers.
    pub(super) learns_id: bool,
    pub(super) id_learnt: bool,
    /// When an answer came, and the time that it names; of the first answers in a match.
    pub(super) times: Vec<(Timestamp, Timestamp)>,
    /// The nonce of each match.
    pub(super) nonces: BTreeMap<String, Nonce>,
    /// Durations of valid answers.
    pub(super) joins: Vec<Duration>,
    pub(super) choices: Vec<Duration>,
}

impl Suite {
    /// Runs a check and discards its findings: a failure under special conditions violates the rule about these
    /// conditions, not the rules about plain answers.
    pub(super) fn without_recording<R>(&mut self, judge: impl FnOnce(&mut Self) -> R) -> R {
        let saved = std::mem::replace(&mut self.findings, Findings::new(Vec::new()));
        let judged = judge(self);
        self.findings = saved;
        judged
    }

    /// Sends a notice and checks the format of the response. No source wants an answer to a notice, so that one that is not
    /// taken is left to the rule about that notice.
    pub(super) async fn send_notice(&mut self, message: &Message, within: Duration) -> Reply {
        let reply = self.probe.send_message(message, within).await;
        if reply.is_understood() {
            self.check_response_format(&reply);
        }
        reply
    }

    /// Sends a request of a match. If it is only acknowledged, waits for the answer as a separate request.
    pub(super) async fn send_question(
        &mut self,
        message: &Message,
        fixture: &Fixture,
        within: Duration,
    ) -> Reply {
        let reply = self.probe.send_message(message, within).await;
        self.await_separate_answer(reply, fixture, within).await
    }

    pub(super) async fn await_separate_answer(
        &mut self,
        mut reply: Reply,
        fixture: &Fixture,
        within: Duration,
    ) -> Reply {
        if reply.wire != Some(WireAnswer::Received) {
            return reply;
        }
        let began = Instant::now();
        let window = self
            .probe
            .timeout(within)
            .saturating_sub(reply.exchange.took);
        // An invitation may have been sent in several dialects, and accepted as often.
        let is_invited = reply.exchange.subject == "GAME_INVITATION";
        let is_about = |came: &Exchange| {
            let message = ack_server::message_in(&came.request);
            message.is_some_and(|message| {
                let text = |key: &str| message.get(key).and_then(Value::as_str);
                text("match_id") == Some(fixture.match_id.as_str())
                    && (is_invited || text("message_type") != Some("GAME_JOIN_ACK"))
            })
        };
        loop {
            if let Some(at) = self.separate.iter().position(is_about) {
                let came = self.separate.remove(at);
                reply.exchange.took += began.elapsed();
                reply.exchange.outcome = ack_server::as_answer(&came);
                let message = ack_server::message_in(&came.request);
                reply.wire = message.map(|message| WireAnswer::Message(message.into()));
                reply.separate = true;
                return reply;
            }
            match self
                .referee
                .next(window.saturating_sub(began.elapsed()))
                .await
            {
                Some(came) => self.separate.push(came),
                None => return reply,
            }
        }
    }

    pub(super) async fn announce(&mut self) -> Fixture {
        let fixture = self.league.next();
        let message = self
            .league
            .announcement(self.probe.clock.now(), &[&fixture]);
        self.send_notice(&message, self.timing.other).await;
        fixture
    }

    pub(super) fn wire(&mut self) -> Wire<'_> {
        Wire {
            probe: &self.probe,
            findings: &mut self.findings,
            state: &mut self.wire_state,
        }
    }

    pub(super) fn check_response_format(&mut self, reply: &Reply) {
        self.wire().check_response_format(reply);
    }
}
