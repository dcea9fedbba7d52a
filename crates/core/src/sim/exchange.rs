//! Calls on their way: who called whom, which copies arrived, what came back, and when the caller gave up.

use super::behaviour::Twisted;
use super::failure::{Checker, Fault};
use super::happening::Happening;
use super::house::Told;
use super::labels::{Asked, Ended, Label, Named};
use super::network::Fate;
use super::outsiders::Errand;
use super::shape::Shape;
use super::takeovers::nothing_lost;
use super::who::Who;
use super::wire::{Back, Freight, Reader, Return, exchange};
use super::world::World;
use crate::agent::{
    Answer, Ask, CallId, Content, Failure, Input, Outgoing, Parcel, Reply, Request, RequestId,
};
use crate::protocol::decode::{Exchange, Incoming};
use crate::protocol::dialect::Dialect;
use crate::protocol::messages::MatchResult;
use crate::protocol::{Body, Message, Timestamp};
use std::time::Duration;

/// One call, from the first try to send it to its end.
#[derive(Debug)]
pub(super) struct Call {
    caller: Caller,
    from: Who,
    to: Option<Who>,
    /// Which incarnation of it was there when the call was made: a connection does not outlive the process it was
    /// made to, but what was said may reach the next one by other ways.
    to_incarnation: u32,
    dialect: Dialect,
    /// By what the answer is read.
    exchange: Option<Box<Exchange>>,
    open: bool,
}

impl Call {
    /// Whether an agent waits for the answer that lives in one process with the manager.
    pub(super) fn is_from_kin(&self, shape: &Shape) -> bool {
        matches!(self.caller, Caller::Agent { .. }) && shape.is_kin(self.from)
    }
}

/// Who waits for the answer.
#[derive(Debug, Clone, Copy)]
pub(super) enum Caller {
    Agent { incarnation: u32, call: CallId },
    Outsider(Errand),
}

/// A request that an agent has not replied to yet.
#[derive(Debug)]
pub(super) struct Pending {
    pub call: usize,
    pub at: Who,
    pub since: Timestamp,
    pub back: Return,
    /// The result that was reported, if it is a report: a receipt for it is a promise.
    pub reported: Option<MatchResult>,
}

impl World {
    /// An agent's call leaves its host.
    pub(super) fn send(&mut self, from: Who, outgoing: Outgoing) -> Result<(), Fault> {
        let incarnation = self.incarnation(from);
        if !self.calls_open.insert((from, incarnation, outgoing.call)) {
            return Err(Fault::new(
                Checker::CallsAreNew,
                format!("{from} calls two open calls {:?}", outgoing.call),
            ));
        }
        let to = Who::at(&outgoing.to);
        let freight = match outgoing.parcel {
            Parcel::Message(message) => {
                let mut message = self.spoilt(from, message);
                self.shape.withhold_key(from, &mut message);
                match to {
                    Some(to) if self.are_kin(from, to) => {
                        self.remember_told(Told { to, message: message.clone(), reported: None });
                    }
                    Some(to) => self.overhear(from, to, &message)?,
                    None => {}
                }
                Freight::Message(message)
            }
            Parcel::Probe => Freight::Ask(Ask::Ping),
        };
        let call = Call {
            caller: Caller::Agent { incarnation, call: outgoing.call },
            from,
            to,
            dialect: self.shape.dialect_of(from, to).unwrap_or(outgoing.dialect),
            exchange: match &freight {
                Freight::Message(message) => exchange(message).map(Box::new),
                _ => None,
            },
            to_incarnation: 0,
            open: true,
        };
        self.dispatch(call, freight, outgoing.deadline);
        Ok(())
    }

    /// A call of someone who is no agent of the league, or of an agent that goes its own ways.
    pub(super) fn call_from_outside(&mut self, errand: Errand, from: Who, to: Who, freight: Freight) {
        let call = Call {
            caller: Caller::Outsider(errand),
            from,
            to: Some(to),
            dialect: Dialect::Standard,
            exchange: None,
            to_incarnation: 0,
            open: true,
        };
        self.dispatch(call, freight, self.now + Duration::from_secs(10));
    }

    fn dispatch(&mut self, mut call: Call, freight: Freight, deadline: Timestamp) {
        let (from, to, dialect, number) = (call.from, call.to, call.dialect, self.calls.len());
        call.to_incarnation = to.map_or(0, |to| self.incarnation(to));
        self.calls.push(call);
        self.stats.messages += 1;
        self.trace.note(self.now, format_args!("{from} calls {} #{number} {}", Named(to), Label(&freight)));
        self.queue.plan(deadline.max(self.now), Happening::GiveUp { call: number });
        let freight = self.shape.wire.pack(freight, dialect, number);
        let fate = match to {
            Some(to) => self.network.request(self.now, from, to),
            None => Fate::Failed { after: self.network.latency(self.now), how: Failure::NoConnection },
        };
        match fate {
            Fate::Arrives { after, again } => {
                if let Some(again) = again {
                    self.stats.duplicated += 1;
                    let freight = freight.clone();
                    self.queue.plan(
                        self.now + again,
                        Happening::Arrive { call: number, freight: Box::new(freight) },
                    );
                }
                self.queue
                    .plan(self.now + after, Happening::Arrive { call: number, freight: Box::new(freight) });
            }
            Fate::Lost => self.stats.lost += 1,
            Fate::Failed { after, how } => {
                self.stats.refused += 1;
                self.fail(number, after, how);
            }
        }
    }

    /// The caller will learn that nothing came of its call.
    fn fail(&mut self, call: usize, after: Duration, how: Failure) {
        let back = Box::new(Back::Answer(Answer::Undelivered(how)));
        self.queue.plan(self.now + after, Happening::Answered { call, back });
    }

    /// A call, or a copy of it, reaches its host.
    pub(super) fn arrive(&mut self, call: usize, freight: Freight) -> Result<(), Fault> {
        let Some(Call { caller, from, to: Some(to), to_incarnation, dialect, .. }) = self.calls.get(call)
        else {
            return Ok(());
        };
        let (from, to, expected, dialect) = (*from, *to, *to_incarnation, *dialect);
        let victim = match caller {
            Caller::Outsider(Errand::Takeover(victim)) => Some(*victim),
            _ => None,
        };
        let local = matches!(caller, Caller::Outsider(Errand::Launch));
        let is_up = self.cast.machine(to).is_some_and(|machine| machine.is_up());
        let restarted = self.incarnation(to) != expected;
        // What is said within a process dies with it.
        let is_lost =
            restarted && (self.are_kin(from, to) || !self.chance.chance(self.shape.faults.stale_percent));
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
        let reader = self.reader(to);
        let unpacked = match reader.unpack(freight, dialect) {
            Ok(unpacked) => unpacked,
            Err(refusal) => {
                self.answer(call, to, from, Back::Http(refusal), Duration::ZERO);
                return Ok(());
            }
        };
        self.requests_received += 1;
        let id = RequestId(self.requests_received);
        let label = format!("{to} hears {from} #{call} {}", Asked(&unpacked.ask));
        let reported = reported(&unpacked.ask);
        self.requests.insert(id, Pending { call, at: to, since: self.now, back: unpacked.back, reported });
        let (ask, dialect) = (unpacked.ask, unpacked.dialect);
        let client = Some(from.address());
        let request = Request { id, ask, dialect, local, objection: None, client, join_code: None };
        self.deliver(to, Input::Request(request), &label)?;
        match (victim, held) {
            (Some(victim), Some(held)) => nothing_lost(&held, self.held_by(victim).as_ref()),
            _ => Ok(()),
        }
    }

    /// Whether both live in the same process.
    fn are_kin(&self, one: Who, other: Who) -> bool {
        self.shape.is_kin(one) && self.shape.is_kin(other)
    }

    fn incarnation(&self, who: Who) -> u32 {
        self.cast.machine(who).map_or(0, |machine| machine.incarnation())
    }

    fn reader(&self, who: Who) -> Reader {
        let about = self.cast.machine(who).and_then(|machine| machine.reads_about());
        Reader::of(who, self.shape.conformance, self.now, about)
    }

    /// An agent's reply leaves its host.
    pub(super) fn reply(&mut self, from: Who, reply: Reply) -> Result<(), Fault> {
        let Some(pending) = self.requests.remove(&reply.to) else {
            return Err(Fault::new(
                Checker::EveryRequestReplied,
                format!("{from} replies to request {}, which is not open: {:?}", reply.to.0, reply.content),
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
            self.answer(call, from, to, pending.back.pack(reply.content), Duration::ZERO);
            return Ok(());
        };
        let within_family =
            self.shape.is_kin(from) && self.calls.get(call).is_some_and(|call| call.is_from_kin(&self.shape));
        let told = Told { to, message, reported: pending.reported };
        let message = told.message.clone();
        match within_family {
            true => self.remember_told(told),
            false => self.hear(from, &told)?,
        }
        let twisted = match from {
            Who::Player(number) => {
                let (window, reader) = (self.shape.timing.choice, self.reader(to));
                let behaviour = self.shape.behaviour(number);
                behaviour.twist(&mut self.chance, &message, window, &reader)
            }
            _ => Twisted::Plain { after: Duration::ZERO },
        };
        let plain = pending.back.pack(Content::Message(message.clone()));
        let (back, after, separate) = match twisted {
            Twisted::Plain { after } => (plain, after, None),
            Twisted::Instead(answer) => (Back::Answer(answer), Duration::ZERO, None),
            Twisted::Separate(answer) => (Back::Answer(answer), Duration::ZERO, Some(message)),
            Twisted::Twice(second) => (plain, Duration::ZERO, Some(second)),
            Twisted::Nothing => return Ok(()),
        };
        self.answer(call, from, to, back, after);
        if let Some(message) = separate {
            self.call_from_outside(Errand::Separate, from, to, Freight::Message(message));
        }
        Ok(())
    }

    fn answer(&mut self, call: usize, from: Who, to: Who, back: Back, delay: Duration) {
        match self.network.answer(self.now, from, to) {
            Some(after) => {
                self.queue.plan(self.now + delay + after, Happening::Answered { call, back: Box::new(back) })
            }
            None => self.stats.lost += 1,
        }
    }

    /// The caller has waited long enough.
    pub(super) fn give_up(&mut self, call: usize) -> Result<(), Fault> {
        self.answered(call, Back::Answer(Answer::Undelivered(Failure::TimedOut)))
    }

    /// A call comes to its end, unless it had one before.
    pub(super) fn answered(&mut self, number: usize, back: Back) -> Result<(), Fault> {
        let Some(call) = self.calls.get_mut(number).filter(|call| call.open) else {
            return Ok(());
        };
        call.open = false;
        let (caller, who, dialect) = (call.caller, call.from, call.dialect);
        let exchange = call.exchange.take();
        let answer = self.reader(who).answer(back, exchange.as_deref());
        match caller {
            Caller::Outsider(errand) => self.outsider_hears(errand, answer),
            Caller::Agent { incarnation, call } => {
                self.calls_open.remove(&(who, incarnation, call));
                let alive = self
                    .cast
                    .machine(who)
                    .is_some_and(|machine| machine.is_up() && machine.incarnation() == incarnation);
                if !alive {
                    return Ok(());
                }
                let label = format!("{who} has its answer #{number} {}", Ended(&answer));
                let input = Input::Answer { call, dialect, answer };
                self.deliver(who, input, &label)
            }
        }
    }

    /// A host has died: whoever waits for it finds the connection broken, or nothing at all.
    pub(super) fn drop_requests_at(&mut self, who: Who) {
        let gone: Vec<_> = (self.requests.iter())
            .filter(|(_, pending)| pending.at == who)
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
    use crate::sim::{Options, START};

    fn world() -> World {
        World::new(1, &Options { shape: Some(Shape::plain(2, 1)), ..Options::default() })
    }

    fn probe(call: u64) -> Outgoing {
        Outgoing {
            call: CallId(call),
            to: Who::Player(1).endpoint(),
            dialect: Dialect::Standard,
            parcel: Parcel::Probe,
            deadline: START + Duration::from_secs(1),
        }
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
        let pending = Pending { call: 0, at: Who::Manager, since: START, back: Return::AsIs, reported: None };
        world.requests.insert(RequestId(7), pending);
        let reply = Reply { to: RequestId(7), content: Content::Data(serde_json::json!({})) };
        assert_eq!(world.reply(Who::Manager, reply.clone()), Ok(()));
        let fault = world.reply(Who::Manager, reply).unwrap_err();
        assert_eq!(fault.checker, Checker::EveryRequestReplied);
    }
}
