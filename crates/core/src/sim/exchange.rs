//! Calls between hosts: sent, copied, delivered. The way back is in `response`.

use super::colocated::SentMessage;
use super::event::WorldEvent;
use super::failure::{Checker, Fault};
use super::labels::{AskLabel, Label, Named};
use super::network::Fate;
use super::outsiders::Purpose;
use super::ownership::Route;
use super::takeovers::nothing_lost;
use super::who::Who;
use super::wire::{Payload, Reader, Response, Return, exchange};
use super::world::World;
use crate::agent::{Answer, Ask, CallId, Failure, Input, Parcel, Request, RequestId};
use crate::driver::{self, CallAttempts};
use crate::protocol::decode::{Exchange, Incoming};
use crate::protocol::dialect::Dialect;
use crate::protocol::messages::MatchResult;
use crate::protocol::{Body, Query, Timestamp};
use std::time::Duration;

/// One call, from the first try to send it to its end.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) caller: Caller,
    pub(super) from: Who,
    pub(super) to: Option<Who>,
    /// Which incarnation of it was there when the call was made: a connection does not outlive the process it was
    /// made to, but what was said may reach the next one by other ways.
    pub(super) to_incarnation: u32,
    /// Of this attempt.
    pub(super) dialect: Dialect,
    /// The outcome of an attempt is its dialect and its answer.
    pub(super) attempts: CallAttempts<(Dialect, Answer)>,
    /// What to send if another dialect is to be tried.
    pub(super) payload: Option<Payload>,
    pub(super) deadline: Timestamp,
    /// By what the answer is read.
    pub(super) exchange: Option<Box<Exchange>>,
    pub(super) open: bool,
}

/// Who waits for the answer.
#[derive(Debug, Clone, Copy)]
pub(super) enum Caller {
    Agent { incarnation: u32, call: CallId },
    Outsider(Purpose),
}

/// A request that an agent has not replied to yet.
#[derive(Debug)]
pub(super) struct Pending {
    pub call: usize,
    pub at: Who,
    pub incarnation: u32,
    pub since: Timestamp,
    pub back: Return,
    pub from_colocated: bool,
    /// The result that was reported, if it is a report: a receipt for it is a promise.
    pub reported: Option<MatchResult>,
}

impl World {
    /// An agent's call leaves its host.
    pub(super) fn send(&mut self, from: Who, call: driver::Call) -> Result<(), Fault> {
        let driver::Call { outgoing, try_dialects } = call;
        let incarnation = self.incarnation(from);
        if !self.calls_open.insert((from, incarnation, outgoing.call)) {
            return Err(Fault::new(
                Checker::CallsAreNew,
                format!("{from} calls two open calls {:?}", outgoing.call),
            ));
        }
        let to = Who::at(&outgoing.to);
        let payload = match outgoing.parcel {
            Parcel::Message(message) => {
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
                Payload::Message(message)
            }
            Parcel::Probe => Payload::Ask(Ask::Query(Query::Ping.into())),
        };
        let dialect = self.scenario.dialect_of(from, to).unwrap_or(outgoing.dialect);
        let again = to.and_then(|to| self.scenario.understood_by(to)).map(|_| payload.clone());
        let call = Call {
            caller: Caller::Agent { incarnation, call: outgoing.call },
            from,
            to,
            dialect,
            attempts: CallAttempts::new(dialect, try_dialects && again.is_some()),
            exchange: match &payload {
                Payload::Message(message) => exchange(message).map(Box::new),
                _ => None,
            },
            payload: again,
            deadline: outgoing.deadline.resolve(self.now),
            to_incarnation: 0,
            open: true,
        };
        self.dispatch(call, payload);
        Ok(())
    }

    /// A call of someone who is no agent of the league, or of an agent that goes its own ways.
    pub(super) fn call_from_outside(&mut self, purpose: Purpose, from: Who, to: Who, payload: Payload) {
        let call = Call {
            caller: Caller::Outsider(purpose),
            from,
            to: Some(to),
            dialect: Dialect::Standard,
            attempts: CallAttempts::new(Dialect::Standard, false),
            exchange: None,
            payload: None,
            deadline: self.now + Duration::from_secs(10),
            to_incarnation: 0,
            open: true,
        };
        self.dispatch(call, payload);
    }

    /// One attempt of a call.
    pub(super) fn dispatch(&mut self, mut call: Call, payload: Payload) {
        let (from, to, dialect, number) = (call.from, call.to, call.dialect, self.calls.len());
        let deadline = call.deadline;
        call.to_incarnation = to.map_or(0, |to| self.incarnation(to));
        self.calls.push(call);
        self.stats.messages += 1;
        self.trace.note(self.now, format_args!("{from} calls {} #{number} {}", Named(to), Label(&payload)));
        self.queue.plan(deadline.max(self.now), WorldEvent::GiveUp { call: number });
        let payload = self.scenario.wire.pack(payload, dialect, number);
        if let Some(to) = to.filter(|to| self.scenario.dials_out(*to)) {
            return self.call_mailbox(number, to, payload, deadline);
        }
        let fate = match to {
            Some(to) => self.network.request(self.now, from, to),
            None => Fate::Failed { after: self.network.latency(self.now), how: Failure::NoConnection },
        };
        match fate {
            Fate::Arrives { after, again } => {
                if let Some(again) = again {
                    self.stats.duplicated += 1;
                    let payload = payload.clone();
                    self.queue.plan(
                        self.now + again,
                        WorldEvent::Arrive { call: number, payload: Box::new(payload) },
                    );
                }
                self.queue
                    .plan(self.now + after, WorldEvent::Arrive { call: number, payload: Box::new(payload) });
            }
            Fate::Lost => self.stats.lost += 1,
            Fate::Failed { after, how } => {
                self.stats.refused += 1;
                self.fail(number, after, how);
            }
        }
    }

    /// The caller will learn that nothing came of its call.
    pub(super) fn fail(&mut self, call: usize, after: Duration, how: Failure) {
        let back = Box::new(Response::Answer(Answer::Undelivered(how)));
        self.queue.plan(self.now + after, WorldEvent::Answered { call, back });
    }

    /// A call, or a copy of it, reaches its host.
    pub(super) fn arrive(&mut self, call: usize, payload: Payload) -> Result<(), Fault> {
        let Some(Call { caller, from, to: Some(to), to_incarnation, dialect, .. }) = self.calls.get(call)
        else {
            return Ok(());
        };
        let (from, to, expected, dialect) = (*from, *to, *to_incarnation, *dialect);
        let from_colocated = matches!(caller, Caller::Agent { .. }) && self.are_colocated(from, to);
        let victim = match caller {
            Caller::Outsider(Purpose::Takeover(victim)) => Some(*victim),
            _ => None,
        };
        let local = matches!(caller, Caller::Outsider(Purpose::Launch { .. }));
        let is_up = self.cast.machine(to).is_some_and(|machine| machine.is_up());
        if self.scenario.shares_store(to) && !from_colocated {
            match self.route(call, &payload) {
                Route::Owner => {}
                Route::Fenced(epoch) => return self.request_fenced(epoch, call, to, payload, dialect),
                Route::Nobody => return Ok(()),
            }
        }
        let restarted =
            self.incarnation(to) != expected && (from_colocated || !self.scenario.shares_store(to));
        // What is said within a process dies with it.
        let is_lost = restarted
            && (self.are_colocated(from, to) || !self.chance.chance(self.scenario.faults.stale_percent));
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
        let understood = self.scenario.understood_by(to).is_none_or(|understood| understood == dialect);
        if !understood && !matches!(payload, Payload::Ask(_)) {
            self.answer(call, to, from, Response::MethodNotFound, Duration::ZERO);
            return Ok(());
        }
        let reader = self.reader(to);
        let unpacked = match reader.unpack(payload, dialect) {
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
            Pending {
                call,
                at: to,
                incarnation,
                since: self.now,
                back: unpacked.back,
                from_colocated,
                reported,
            },
        );
        let (ask, dialect) = (unpacked.ask, unpacked.dialect);
        let client = Some(self.scenario.address_of(from, victim));
        let request = Request { id, ask, dialect, local, objection: None, client, join_code: None };
        self.deliver(to, Input::Request(request), from_colocated, &label)?;
        match (victim, held) {
            (Some(victim), Some(held)) => nothing_lost(&held, self.held_by(victim).as_ref()),
            _ => Ok(()),
        }
    }

    pub(super) fn are_colocated(&self, one: Who, other: Who) -> bool {
        self.scenario.is_colocated(one) && self.scenario.is_colocated(other)
    }

    pub(super) fn incarnation(&self, who: Who) -> u32 {
        self.cast.machine(who).map_or(0, |machine| machine.incarnation())
    }

    pub(super) fn reader(&self, who: Who) -> Reader {
        let about = self.cast.machine(who).and_then(|machine| machine.reads_about());
        Reader::of(who, self.scenario.conformance, self.now, about)
    }
}

fn reported(ask: &Ask) -> Option<MatchResult> {
    match ask {
        Ask::Message(Ok(Incoming { body: Ok(Body::MatchResultReport(report)), .. })) => {
            Some(MatchResult::clone(&report.result))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::{CallDeadline, Content, Outgoing, Reply};
    use crate::sim::{Options, START, Scenario};

    fn world() -> World {
        World::new(1, &Options { scenario: Some(Scenario::plain(2, 1)), ..Options::default() })
    }

    fn probe(call: u64) -> driver::Call {
        let outgoing = Outgoing {
            call: CallId(call),
            to: Who::Player(1).endpoint(),
            dialect: Dialect::Standard,
            parcel: Parcel::Probe,
            deadline: CallDeadline::At(START + Duration::from_secs(1)),
        };
        driver::Call { outgoing, try_dialects: false }
    }

    #[test]
    fn two_open_calls_of_one_name_are_noticed() {
        let mut world = world();
        assert_eq!(world.send(Who::Manager, probe(1)), Ok(()));
        assert_eq!(world.send(Who::Manager, probe(2)), Ok(()));
        let fault = world.send(Who::Manager, probe(1)).unwrap_err();
        assert_eq!(fault.checker, Checker::CallsAreNew);
    }

    #[test]
    fn a_second_reply_to_one_request_is_noticed() {
        let mut world = world();
        world.send(Who::Player(1), probe(1)).unwrap();
        let pending = Pending {
            call: 0,
            at: Who::Manager,
            incarnation: 0,
            since: START,
            back: Return::AsIs,
            from_colocated: false,
            reported: None,
        };
        world.requests.insert(RequestId(7), pending);
        let reply = Reply { to: RequestId(7), content: Content::Data(serde_json::json!({})) };
        assert_eq!(world.reply(Who::Manager, reply.clone()), Ok(()));
        let fault = world.reply(Who::Manager, reply).unwrap_err();
        assert_eq!(fault.checker, Checker::EveryRequestReplied);
    }
}
