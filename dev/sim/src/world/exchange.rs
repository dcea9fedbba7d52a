//! Calls between hosts: sent, copied, delivered. The way back is in `response`.

use super::World;
use super::ownership::Route;
use super::takeovers::nothing_lost;
use crate::agent_id::AgentId;
use crate::call::Purpose;
use crate::call::{Call, Caller, PendingRequest};
use crate::event::WorldEvent;
use crate::failure::{Checker, Fault};
use crate::labels::{AgentLabel, AskLabel, Label};
use crate::network::Transmission;
use crate::shared_log::SentMessage;
use crate::wire::{Packet, Reader, Response, exchange};
use matchday_core::agent::{Answer, Ask, Failure, Input, Payload, Request, RequestId};
use matchday_core::driver::{self, CallAttempts};
use matchday_core::protocol::decode::Incoming;
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::messages::MatchResult;
use matchday_core::protocol::{Body, Query};
use std::time::Duration;

impl World {
    /// An agent's call leaves its host.
    pub(super) fn send(&mut self, from: AgentId, call: driver::Call) -> Result<(), Fault> {
        let driver::Call {
            outgoing,
            try_dialects,
        } = call;
        let incarnation = self.incarnation(from);
        if !self.calls_open.insert((from, incarnation, outgoing.call)) {
            return Err(Fault::new(
                Checker::CallsAreNew,
                format!("{from} calls two open calls {:?}", outgoing.call),
            ));
        }
        let to = AgentId::at(&outgoing.to);
        let packet = match outgoing.payload {
            Payload::Message(message) => {
                let mut message = self.spoilt(from, message);
                self.scenario.withhold_key(from, &mut message);
                self.scenario.withhold_proof(from, &mut message);
                self.scenario.lose_timeouts(&mut message);
                match to {
                    Some(to) if self.are_colocated(from, to) => {
                        self.hold_message(SentMessage {
                            from,
                            to,
                            message: message.clone(),
                            reported: None,
                        })?;
                    }
                    Some(to) => self.overhear(from, to, &message)?,
                    None => {}
                }
                Packet::Message(message)
            }
            Payload::Probe | Payload::Connect => Packet::Ask(Ask::Query(Query::Ping.into())),
        };
        let dialect = self
            .scenario
            .dialect_of(from, to)
            .unwrap_or(outgoing.dialect);
        let again = to
            .and_then(|to| self.scenario.understood_by(to))
            .map(|_| packet.clone());
        let call = Call {
            caller: Caller::Agent {
                incarnation,
                call: outgoing.call,
            },
            from,
            to,
            dialect,
            attempts: CallAttempts::new(dialect, try_dialects && again.is_some()),
            exchange: match &packet {
                Packet::Message(message) => exchange(message).map(Box::new),
                _ => None,
            },
            packet: again,
            deadline: outgoing.deadline.resolve(self.now),
            to_incarnation: 0,
            open: true,
        };
        self.dispatch(call, packet);
        Ok(())
    }

    /// A call of someone who is no agent of the league, or of an agent that goes its own ways.
    pub(super) fn call_from_outside(
        &mut self,
        purpose: Purpose,
        from: AgentId,
        to: AgentId,
        packet: Packet,
    ) {
        let call = Call {
            caller: Caller::Outsider(purpose),
            from,
            to: Some(to),
            dialect: Dialect::Standard,
            attempts: CallAttempts::new(Dialect::Standard, false),
            exchange: None,
            packet: None,
            deadline: self.now + Duration::from_secs(10),
            to_incarnation: 0,
            open: true,
        };
        self.dispatch(call, packet);
    }

    /// One attempt of a call.
    pub(super) fn dispatch(&mut self, mut call: Call, packet: Packet) {
        let from = call.from;
        let to = call.to;
        let dialect = call.dialect;
        let number = self.calls.len();
        let deadline = call.deadline;
        call.to_incarnation = to.map_or(0, |to| self.incarnation(to));
        self.calls.push(call);
        self.stats.messages += 1;
        self.trace.note(
            self.now,
            format_args!(
                "{from} calls {} #{number} {}",
                AgentLabel(to),
                Label(&packet)
            ),
        );
        self.queue
            .plan(deadline.max(self.now), WorldEvent::GiveUp { call: number });
        let packet = self.scenario.wire.pack(packet, dialect, number);
        if let Some(to) = to.filter(|to| self.scenario.dials_out(*to)) {
            return self.call_mailbox(number, to, packet, deadline);
        }
        let fate = match to {
            Some(to) => self.network.request(self.now, from, to),
            None => Transmission::Failed {
                after: self.network.latency(self.now),
                how: Failure::NoConnection,
            },
        };
        match fate {
            Transmission::Arrives { after, again } => {
                if let Some(again) = again {
                    self.stats.duplicated += 1;
                    let packet = packet.clone();
                    self.queue.plan(
                        self.now + again,
                        WorldEvent::Arrive {
                            call: number,
                            packet: Box::new(packet),
                        },
                    );
                }
                self.queue.plan(
                    self.now + after,
                    WorldEvent::Arrive {
                        call: number,
                        packet: Box::new(packet),
                    },
                );
            }
            Transmission::Lost => self.stats.lost += 1,
            Transmission::Failed { after, how } => {
                self.stats.refused += 1;
                self.fail(number, after, how);
            }
        }
    }

    /// The caller will learn that nothing came of its call.
    pub(super) fn fail(&mut self, call: usize, after: Duration, how: Failure) {
        let back = Box::new(Response::Answer(Answer::Undelivered(how)));
        self.queue
            .plan(self.now + after, WorldEvent::Answered { call, back });
    }

    /// A call, or a copy of it, reaches its host.
    pub(super) fn arrive(&mut self, call: usize, packet: Packet) -> Result<(), Fault> {
        let Some(Call {
            caller,
            from,
            to: Some(to),
            to_incarnation,
            dialect,
            ..
        }) = self.calls.get(call)
        else {
            return Ok(());
        };
        let from = *from;
        let to = *to;
        let expected = *to_incarnation;
        let dialect = *dialect;
        let from_colocated = matches!(caller, Caller::Agent { .. }) && self.are_colocated(from, to);
        let victim = match caller {
            Caller::Outsider(Purpose::Takeover(victim)) => Some(*victim),
            _ => None,
        };
        let local = matches!(caller, Caller::Outsider(Purpose::Launch { .. }));
        let is_up = self
            .agents
            .machine(to)
            .is_some_and(|machine| machine.is_up());
        if self.scenario.shares_store(to) && !from_colocated {
            match self.route(call, &packet) {
                Route::Owner => {}
                Route::Fenced(epoch) => {
                    return self.request_fenced(epoch, call, to, packet, dialect);
                }
                Route::Nobody => return Ok(()),
            }
        }
        let restarted =
            self.incarnation(to) != expected && (from_colocated || !self.scenario.shares_store(to));
        // What is said within a process dies with it.
        let is_lost = restarted
            && (self.are_colocated(from, to)
                || !self.chance.chance(self.scenario.faults.stale_percent));
        if !is_up || is_lost {
            let after = self.network.latency(self.now);
            self.fail(call, after, Failure::NoConnection);
            return Ok(());
        }
        let held = victim.and_then(|victim| self.held_by(victim));
        if victim.is_some() && held.is_none() {
            // The manager has lost the registration in a crash: there is nothing to be taken over yet.
            self.fail(call, Duration::ZERO, Failure::NoConnection);
            return Ok(());
        }
        let understood = self
            .scenario
            .understood_by(to)
            .is_none_or(|understood| understood == dialect);
        if !understood && !matches!(packet, Packet::Ask(_)) {
            self.answer(call, to, from, Response::MethodNotFound, Duration::ZERO);
            return Ok(());
        }
        let reader = self.reader(to);
        let unpacked = match reader.unpack(packet, dialect) {
            Ok(unpacked) => unpacked,
            Err(refusal) => {
                self.answer(call, to, from, Response::Http(refusal), Duration::ZERO);
                return Ok(());
            }
        };
        self.requests_received += 1;
        let id = RequestId(self.requests_received);
        let label = format!("{to} hears {from} #{call} {}", AskLabel(&unpacked.ask));
        let reported = reported(&unpacked.ask);
        let incarnation = self.incarnation(to);
        self.requests.insert(
            id,
            PendingRequest {
                call,
                at: to,
                incarnation,
                since: self.now,
                back: unpacked.back,
                from_colocated,
                reported,
            },
        );
        let ask = unpacked.ask;
        let dialect = unpacked.dialect;
        let client = Some(self.scenario.address_of(from, victim));
        let request = Request {
            id,
            ask,
            dialect,
            local,
            objection: None,
            client,
            join_code: None,
        };
        self.deliver(to, Input::Request(request), from_colocated, &label)?;
        match (victim, held) {
            (Some(victim), Some(held)) => nothing_lost(&held, self.held_by(victim).as_ref()),
            _ => Ok(()),
        }
    }

    pub(super) fn are_colocated(&self, one: AgentId, other: AgentId) -> bool {
        self.scenario.is_colocated(one) && self.scenario.is_colocated(other)
    }

    pub(super) fn incarnation(&self, who: AgentId) -> u32 {
        self.agents
            .machine(who)
            .map_or(0, |machine| machine.incarnation())
    }

    pub(super) fn reader(&self, who: AgentId) -> Reader {
        let about = self
            .agents
            .machine(who)
            .and_then(|machine| machine.reads_about());
        Reader::of(who, self.scenario.conformance, self.now, about)
    }
}

fn reported(ask: &Ask) -> Option<MatchResult> {
    match ask {
        Ask::Message(Ok(Incoming {
            body: Ok(Body::MatchResultReport(report)),
            ..
        })) => Some(MatchResult::clone(&report.result)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::ReplyForm;
    use crate::{Options, START, Scenario};
    use matchday_core::agent::{CallDeadline, CallId, Content, Outgoing, Reply};

    fn world() -> World {
        World::new(
            1,
            &Options {
                scenario: Some(Scenario::plain(2, 1)),
                ..Options::default()
            },
        )
    }

    fn probe(call: u64) -> driver::Call {
        let outgoing = Outgoing {
            call: CallId(call),
            to: AgentId::Player(1).endpoint(),
            dialect: Dialect::Standard,
            payload: Payload::Probe,
            deadline: CallDeadline::At(START + Duration::from_secs(1)),
        };
        driver::Call {
            outgoing,
            try_dialects: false,
        }
    }

    #[test]
    fn two_open_calls_of_one_name_are_noticed() {
        let mut world = world();
        assert_eq!(world.send(AgentId::Manager, probe(1)), Ok(()));
        assert_eq!(world.send(AgentId::Manager, probe(2)), Ok(()));
        let fault = world.send(AgentId::Manager, probe(1)).unwrap_err();
        assert_eq!(fault.checker, Checker::CallsAreNew);
    }

    #[test]
    fn a_second_reply_to_one_request_is_noticed() {
        let mut world = world();
        world.send(AgentId::Player(1), probe(1)).unwrap();
        let pending = PendingRequest {
            call: 0,
            at: AgentId::Manager,
            incarnation: 0,
            since: START,
            back: ReplyForm::AsIs,
            from_colocated: false,
            reported: None,
        };
        world.requests.insert(RequestId(7), pending);
        let reply = Reply {
            to: RequestId(7),
            content: Content::Data(serde_json::json!({})),
        };
        assert_eq!(world.reply(AgentId::Manager, reply.clone()), Ok(()));
        let fault = world.reply(AgentId::Manager, reply).unwrap_err();
        assert_eq!(fault.checker, Checker::EveryRequestReplied);
    }
}
