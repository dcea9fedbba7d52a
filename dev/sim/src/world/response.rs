//! The way back of a call: replies, answers, timeouts, and connections that break.

use super::World;
use crate::agent_id::AgentId;
use crate::behaviour::Corruption;
use crate::call::Purpose;
use crate::call::{Call, Caller};
use crate::event::WorldEvent;
use crate::failure::{Checker, Fault};
use crate::labels::AnswerLabel;
use crate::shared_log::SentMessage;
use crate::wire::{Packet, Response};
use matchday_core::agent::{Answer, Content, Failure, Input, Reply};
use matchday_core::driver::CallAttempts;
use matchday_core::protocol::decode::Exchange;
use matchday_core::protocol::messages::MatchResult;
use matchday_core::protocol::{Body, Message};
use std::time::Duration;

impl World {
    /// An agent's reply leaves its host.
    pub(super) fn reply(&mut self, from: AgentId, reply: Reply) -> Result<(), Fault> {
        let Some(pending) = self.requests.remove(&reply.to) else {
            return Err(Fault::new(
                Checker::EveryRequestReplied,
                format!(
                    "{from} replies to request {}, which is not open: {:?}",
                    reply.to.0, reply.content
                ),
            ));
        };
        let call = pending.call;
        let Some(to) = self.calls.get(call).map(|call| call.from) else {
            return Ok(());
        };
        if self.is_mute(from) {
            return Ok(());
        }
        let Content::Message(message) = reply.content else {
            self.answer(
                call,
                from,
                to,
                pending.back.pack(reply.content),
                Duration::ZERO,
            );
            return Ok(());
        };
        let told = SentMessage {
            from,
            to,
            message,
            reported: pending.reported,
        };
        let message = told.message.clone();
        if pending.from_colocated {
            self.hold_message(told)?
        } else {
            self.observe(&told)?
        }
        let twisted = match from {
            AgentId::Player(number) => {
                let window = self.scenario.timing.choice;
                let reader = self.reader(to);
                let behaviour = self.scenario.behaviour(number);
                behaviour.twist(&mut self.chance, &message, window, &reader)
            }
            _ => Corruption::Plain {
                after: Duration::ZERO,
            },
        };
        let plain = pending.back.pack(Content::Message(message.clone()));
        let (back, after, separate) = match twisted {
            Corruption::Plain { after } => (plain, after, None),
            Corruption::Instead(answer) => (Response::Answer(answer), Duration::ZERO, None),
            Corruption::Separate(answer) => {
                (Response::Answer(answer), Duration::ZERO, Some(message))
            }
            Corruption::Twice(second) => (plain, Duration::ZERO, Some(second)),
            Corruption::Nothing => return Ok(()),
        };
        self.answer(call, from, to, back, after);
        if let Some(message) = separate {
            self.call_from_outside(Purpose::Separate, from, to, Packet::Message(message));
        }
        Ok(())
    }

    pub(super) fn answer(
        &mut self,
        call: usize,
        from: AgentId,
        to: AgentId,
        back: Response,
        delay: Duration,
    ) {
        match self.network.answer(self.now, from, to) {
            Some(after) if self.scenario.dials_out(from) => {
                let back = Box::new(back);
                self.queue.plan(
                    self.now + delay + after,
                    WorldEvent::Relayed {
                        who: from,
                        call,
                        back,
                    },
                );
            }
            Some(after) => self.queue.plan(
                self.now + delay + after,
                WorldEvent::Answered {
                    call,
                    back: Box::new(back),
                },
            ),
            None => self.stats.lost += 1,
        }
    }

    /// The caller has waited long enough.
    pub(super) fn give_up(&mut self, call: usize) -> Result<(), Fault> {
        self.answered(
            call,
            Response::Answer(Answer::Undelivered(Failure::TimedOut)),
        )
    }

    /// A call comes to its end, unless it had one before.
    pub(super) fn answered(&mut self, number: usize, back: Response) -> Result<(), Fault> {
        let Some(call) = self.calls.get_mut(number).filter(|call| call.open) else {
            return Ok(());
        };
        call.open = false;
        let caller = call.caller;
        let who = call.from;
        let to = call.to;
        let dialect = call.dialect;
        let exchange = call.exchange.take();
        self.check_relayed(number, to, &back)?;
        let (answer, understood) = self.reader(who).answer(back, exchange.as_deref());
        let Some(call) = self.calls.get_mut(number) else {
            return Ok(());
        };
        let Some((dialect, answer)) = call.attempts.ended(understood, (dialect, answer)) else {
            self.try_next_dialect(number, exchange);
            return Ok(());
        };
        match caller {
            Caller::Outsider(purpose) => self.outsider_hears(purpose, answer),
            Caller::Agent { incarnation, call } => {
                self.calls_open.remove(&(who, incarnation, call));
                let alive = self
                    .agents
                    .machine(who)
                    .is_some_and(|machine| machine.is_up() && machine.incarnation() == incarnation);
                let label = format!("{who} has its answer #{number} {}", AnswerLabel(&answer));
                let input = Input::Answer {
                    call,
                    dialect,
                    answer,
                };
                if !alive {
                    return self.drive_fenced(who, incarnation, Some(input));
                }
                self.deliver(who, input, false, &label)
            }
        }
    }

    /// Sends a call once more, in the dialect that is to be tried next.
    pub(super) fn try_next_dialect(&mut self, number: usize, exchange: Option<Box<Exchange>>) {
        let Some(call) = self.calls.get_mut(number) else {
            return;
        };
        let Some(packet) = call.packet.take() else {
            return;
        };
        let done = CallAttempts::new(call.dialect, false);
        let attempts = std::mem::replace(&mut call.attempts, done);
        let again = Call {
            caller: call.caller,
            from: call.from,
            to: call.to,
            to_incarnation: 0,
            dialect: attempts.dialect(),
            attempts,
            packet: Some(packet.clone()),
            deadline: call.deadline,
            exchange,
            open: true,
        };
        self.stats.dialects_tried += 1;
        self.dispatch(again, packet);
    }

    /// A host has died: its callers find the connection broken, or time out.
    pub(super) fn drop_requests_at(&mut self, who: AgentId) {
        let incarnation = self.incarnation(who);
        let gone: Vec<_> = (self.requests.iter())
            .filter(|(_, pending)| pending.at == who && pending.incarnation == incarnation)
            .map(|(id, pending)| (*id, pending.call))
            .collect();
        for (id, call) in gone {
            self.requests.remove(&id);
            if self.chance.chance(50) {
                let after = self.network.latency(self.now);
                self.fail(call, after, Failure::Closed);
            }
        }
    }

    /// A receipt for a report is given only for what is on the disk.
    pub(super) fn check_receipt(
        &self,
        message: &Message,
        reported: Option<&MatchResult>,
    ) -> Result<(), Fault> {
        let Body::MatchResultAck(receipt) = &message.body else {
            return Ok(());
        };
        self.ledger.has_recorded(&receipt.match_id, reported)
    }
}
