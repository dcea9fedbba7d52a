//! What the parts of the suite share: the agent, the pretended league, the sheet, and how answers of all kinds are
//! judged in form.

use crate::check::exchange::Exchange;
use crate::check::probe::{Probe, Reply};
use crate::check::receiver;
use crate::check::report::Sheet;
use crate::check::stage::{Fixture, Stage};
use crate::check::stand_in::Booth;
use crate::check::wire::Wire;
use matchday_core::protocol::Message;
use matchday_core::protocol::decode::Conformance;
use matchday_core::protocol::dialect::answer::WireAnswer;
use matchday_core::timing::Timing;
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
            let message = receiver::message_in(&came.request);
            message.is_some_and(|message| {
                message.get("match_id").is_some_and(|id| id == fixture.match_id.as_str())
            })
        };
        loop {
            if let Some(at) = self.apart.iter().position(is_about) {
                let came = self.apart.remove(at);
                reply.exchange.took += began.elapsed();
                reply.exchange.outcome = receiver::as_answer(&came);
                reply.wire =
                    receiver::message_in(&came.request).map(|message| WireAnswer::Message(message.into()));
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

    /// The agent and the sheet, for what is judged of every role alike.
    pub(super) fn wire(&mut self) -> Wire<'_> {
        Wire {
            probe: &self.probe,
            sheet: &mut self.sheet,
            gone: &mut self.gone,
            answers_otherwise: &mut self.answers_otherwise,
        }
    }

    pub(super) fn judge_form(&mut self, reply: &Reply) {
        self.wire().judge_form(reply);
    }
}
