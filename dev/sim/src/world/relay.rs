//! Players that dial out: their calls go through the mailboxes of a relay, over streams that are cut, slow, doubled and silent.

use super::World;
use crate::agent_id::AgentId;
use crate::event::WorldEvent;
use crate::failure::{Checker, Fault};
use crate::planted_fault::PlantedFault;
use crate::wire::{Packet, Response};
use matchday_core::agent::{Answer, Failure};
use matchday_core::mailbox::{CallNumber, Caller, Mailbox, Next, StreamNumber, Transport};
use matchday_core::protocol::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

const SLOW_US_MAX: u64 = 5_000_000;
const UP_US_MAX: u64 = 20_000_000;
/// How soon most clients reconnect, and how late the others do.
const RECONNECT_US_MAX: u64 = 1_600_000;
const AWAY_US_MAX: u64 = 25_000_000;

/// The relay of the league.
#[derive(Debug, Default)]
pub(super) struct Relay {
    agents: BTreeMap<AgentId, DialledAgent>,
    /// Calls whose answer the relay has taken.
    answered: BTreeSet<usize>,
}

#[derive(Debug)]
struct DialledAgent {
    mailbox: Mailbox,
    stream: Option<StreamNumber>,
    /// The stream is dead, and the relay does not know it.
    silent: bool,
    calls: BTreeMap<CallNumber, (usize, Packet)>,
}

impl World {
    fn dialled(&mut self, who: AgentId) -> &mut DialledAgent {
        let now = self.now;
        self.relay
            .agents
            .entry(who)
            .or_insert_with(|| DialledAgent {
                mailbox: Mailbox::new(now),
                stream: None,
                silent: false,
                calls: BTreeMap::new(),
            })
    }

    /// Streams are disturbed for as long as the network is.
    fn disturbs_streams(&self) -> bool {
        !self.scenario.faults.is_sound() && self.now < self.heals_at
    }

    /// Every player that dials out connects when the world begins.
    pub(super) fn plan_streams(&mut self) {
        for who in self.agents.hosts() {
            if self.scenario.dials_out(who) {
                self.queue.plan(self.now, WorldEvent::Connect(who));
            }
        }
    }

    /// A client connects, or reconnects.
    pub(super) fn connect_stream(&mut self, who: AgentId) {
        let now = self.now;
        let agent = self.dialled(who);
        agent.stream = agent
            .mailbox
            .connect(now, "client".into(), Transport::Stream, false, None)
            .ok();
        agent.silent = false;
        // Strangers fill it as far as they can, with calls that nobody answers: that takes no place of the league's.
        while agent.mailbox.call(now, now, Caller::Outside).is_ok() {}
        self.trace.note(now, format_args!("{who} dials out"));
        if self.disturbs_streams() {
            let up = Duration::from_micros(self.chance.below(UP_US_MAX));
            self.queue.plan(now + up, WorldEvent::Cut(who));
        }
        self.send_over_stream(who);
    }

    /// A stream is cut; the relay may not hear of it.
    pub(super) fn cut_stream(&mut self, who: AgentId) {
        let now = self.now;
        let heals_at = self.heals_at;
        let silently = self.chance.chance(40);
        let away = if self.chance.chance(80) {
            RECONNECT_US_MAX
        } else {
            AWAY_US_MAX
        };
        let away = Duration::from_micros(self.chance.below(away));
        let agent = self.dialled(who);
        agent.silent = silently;
        if let Some(stream) = agent.stream.filter(|_| !silently) {
            agent.mailbox.disconnect(now, stream);
        }
        self.trace
            .note(now, format_args!("the stream of {who} is cut"));
        self.queue.plan(
            (now + away).min(heals_at.max(now)),
            WorldEvent::Connect(who),
        );
    }

    /// A call reaches the mailbox of a player.
    pub(super) fn call_mailbox(
        &mut self,
        call: usize,
        who: AgentId,
        packet: Packet,
        deadline: Timestamp,
    ) {
        let now = self.now;
        let agent = self.dialled(who);
        match agent.mailbox.call(now, deadline, Caller::Own) {
            Ok(number) => {
                agent.calls.insert(number, (call, packet));
                self.watch_mailbox(who, number);
                self.send_over_stream(who);
            }
            Err(_) => self.fail_absent(call),
        }
    }

    fn fail_absent(&mut self, call: usize) {
        self.stats.refused += 1;
        let after = self.network.latency(self.now);
        if self.scenario.planted == Some(PlantedFault::RelayAnswersForAbsent) {
            let back = Box::new(Response::MethodNotFound);
            return self
                .queue
                .plan(self.now + after, WorldEvent::Answered { call, back });
        }
        self.fail(call, after, Failure::NoConnection);
    }

    fn watch_mailbox(&mut self, who: AgentId, number: CallNumber) {
        if let Some(at) = self.dialled(who).mailbox.fails_at(number) {
            self.queue
                .plan(at.max(self.now), WorldEvent::MailboxDue { who, number });
        }
    }

    /// A call may have waited long enough in its mailbox.
    pub(super) fn mailbox_due(&mut self, who: AgentId, number: CallNumber) {
        let now = self.now;
        let agent = self.dialled(who);
        match agent.mailbox.fails_at(number) {
            None => {}
            Some(at) if at > now => self.watch_mailbox(who, number),
            Some(_) => {
                agent.mailbox.end(number);
                if let Some((call, _)) = agent.calls.remove(&number) {
                    self.fail_absent(call);
                }
            }
        }
    }

    fn send_over_stream(&mut self, who: AgentId) {
        loop {
            let agent = self.dialled(who);
            let Some(stream) = agent.stream else { return };
            let (Next::Call(number, _), silent) = (agent.mailbox.next(stream), agent.silent) else {
                return;
            };
            let Some((call, packet)) = agent.calls.get(&number).cloned() else {
                continue;
            };
            // What is sent over a dead stream is lost, until the client has another.
            if silent {
                self.stats.lost += 1;
                continue;
            }
            let disturbed = self.disturbs_streams();
            let copies = if disturbed && self.chance.chance(20) {
                2
            } else {
                1
            };
            for _ in 0..copies {
                let mut after = self.network.latency(self.now);
                if disturbed && self.chance.chance(10) {
                    after += Duration::from_micros(self.chance.below(SLOW_US_MAX));
                }
                let packet = Box::new(packet.clone());
                self.queue
                    .plan(self.now + after, WorldEvent::Arrive { call, packet });
            }
        }
    }

    /// An answer reaches the relay. The call ends there and then: its caller is beside the relay.
    pub(super) fn answer_mailbox(
        &mut self,
        who: AgentId,
        call: usize,
        back: Response,
    ) -> Result<(), Fault> {
        let now = self.now;
        let twice = self.scenario.planted == Some(PlantedFault::RelayTakesAnswersTwice);
        let agent = self.dialled(who);
        let number = agent
            .calls
            .iter()
            .find(|(_, (waiting, _))| *waiting == call)
            .map(|(number, _)| *number);
        let taken = number.is_some_and(|number| agent.mailbox.answer(now, number).is_ok());
        if let Some(number) = number.filter(|_| taken) {
            agent.calls.remove(&number);
        }
        if !(taken || twice && self.relay.answered.contains(&call)) {
            self.stats.lost += 1;
            return Ok(());
        }
        if !self.relay.answered.insert(call) {
            let what = format!("the relay takes a second answer of {who} to call #{call}");
            return Err(Fault::new(Checker::RelayedOnce, what));
        }
        self.answered(call, back)
    }

    /// A call to a player that dials out ends with an answer only if one came through its mailbox.
    pub(super) fn check_relayed(
        &self,
        call: usize,
        to: Option<AgentId>,
        back: &Response,
    ) -> Result<(), Fault> {
        let is_answer = !matches!(back, Response::Answer(Answer::Undelivered(_)));
        match to {
            Some(to)
                if is_answer
                    && self.scenario.dials_out(to)
                    && !self.relay.answered.contains(&call) =>
            {
                let what = format!(
                    "call #{call} to {to} counts as answered, and {to} has not answered it"
                );
                Err(Fault::new(Checker::AbsentIsNoAnswer, what))
            }
            _ => Ok(()),
        }
    }
}
