//! A process that another has taken the league from while it was stopped or cut off. Until it hears of that from the store it goes
//! on with what had reached it: it may do what it likes, so long as none of it is stored or seen.

use super::World;
use crate::agent_id::AgentId;
use crate::call::PendingRequest;
use crate::event::WorldEvent;
use crate::failure::Fault;
use crate::machine::Machine;
use crate::shared_log::SharedLog;
use crate::shared_store::{Fenced, Transaction};
use crate::wire::Packet;
use matchday_core::agent::{Failure, Input, Request, RequestId};
use matchday_core::protocol::dialect::Dialect;

impl World {
    fn fenced_mut(&mut self, epoch: u64) -> Option<&mut Fenced> {
        self.store
            .fenced
            .iter_mut()
            .find(|fenced| fenced.process.epoch == epoch)
    }

    /// The batches of a process that wait.
    pub(super) fn log_of(&mut self, epoch: u64) -> Option<&mut SharedLog> {
        if epoch == self.store.epoch {
            Some(&mut self.shared_log)
        } else {
            self.fenced_mut(epoch).map(|fenced| &mut fenced.log)
        }
    }

    /// An agent in a process.
    pub(super) fn agent_of(
        &mut self,
        epoch: u64,
        who: AgentId,
    ) -> Option<&mut (dyn Machine + 'static)> {
        if epoch == self.store.epoch {
            self.agents.machine_mut(who)
        } else {
            self.fenced_mut(epoch)?
                .agents
                .get_mut(&who)
                .map(|agent| &mut **agent)
        }
    }

    pub(super) fn each_agent_of(&mut self, epoch: u64, mut change: impl FnMut(&mut dyn Machine)) {
        for who in self.members() {
            if let Some(agent) = self.agent_of(epoch, who) {
                change(agent);
            }
        }
    }

    /// The epoch of the process in which this incarnation of an agent runs.
    pub(super) fn epoch_of(&self, who: AgentId, incarnation: u32) -> Option<u64> {
        if !self.scenario.shares_store(who) {
            return None;
        }
        let runs = |agent: &dyn Machine| agent.is_up() && agent.incarnation() == incarnation;
        let fenced = self
            .store
            .fenced
            .iter()
            .find(|it| it.agents.get(&who).is_some_and(|it| runs(&**it)));
        if self.agents.machine(who).is_some_and(runs) {
            Some(self.store.epoch)
        } else {
            fenced.map(|fenced| fenced.process.epoch)
        }
    }

    /// Something for an agent of a process that has lost the league: an input, or time that has passed.
    pub(super) fn drive_fenced(
        &mut self,
        who: AgentId,
        incarnation: u32,
        input: Option<Input>,
    ) -> Result<(), Fault> {
        let now = self.now;
        let at = self.delayed.map_or(self.now, |(since, _)| since);
        let Some(epoch) = self
            .epoch_of(who, incarnation)
            .filter(|epoch| *epoch != self.store.epoch)
        else {
            return Ok(());
        };
        let Some(agent) = self.agent_of(epoch, who) else {
            return Ok(());
        };
        let events = match input {
            Some(input) => agent.arrive(now, at, input, false)?,
            None => agent.poll(now)?,
        };
        let mut batches = 0;
        while let Some(step) = agent.append() {
            // What its agents say to each other stays in the process.
            batches += usize::from(step.to_disk);
        }
        let deadline = agent.deadline();
        if let Some(log) = self.log_of(epoch) {
            (0..batches).for_each(|_| log.push(who));
        }
        self.trace.note(
            now,
            format_args!("{who} of epoch {epoch}, which is over: {events} events"),
        );
        if let Some(deadline) = deadline {
            let poll = WorldEvent::Poll { who, incarnation };
            self.queue.plan(deadline.max(now), poll);
        }
        self.write_next(epoch)
    }

    /// A request reaches a process that has lost the league.
    pub(super) fn request_fenced(
        &mut self,
        epoch: u64,
        call: usize,
        to: AgentId,
        packet: Packet,
        dialect: Dialect,
    ) -> Result<(), Fault> {
        let Some(from) = self.calls.get(call).map(|call| call.from) else {
            return Ok(());
        };
        let Some(incarnation) = self.agent_of(epoch, to).map(|agent| agent.incarnation()) else {
            return Ok(());
        };
        let Ok(unpacked) = self.reader(to).unpack(packet, dialect) else {
            return Ok(());
        };
        self.requests_received += 1;
        let id = RequestId(self.requests_received);
        let since = self.now;
        let back = unpacked.back;
        let pending = PendingRequest {
            call,
            at: to,
            incarnation,
            since,
            back,
            from_colocated: false,
            reported: None,
        };
        self.requests.insert(id, pending);
        let ask = unpacked.ask;
        let dialect = unpacked.dialect;
        let client = Some(from.address());
        let request = Request {
            id,
            ask,
            dialect,
            local: false,
            objection: None,
            client,
            join_code: None,
        };
        self.drive_fenced(to, incarnation, Some(Input::Request(request)))
    }

    /// A process hears that it has lost the league, and lets go of it. Its callers find their connections closed.
    pub(super) fn drop_fenced(&mut self, epoch: u64) {
        let Some(place) = self
            .store
            .fenced
            .iter()
            .position(|it| it.process.epoch == epoch)
        else {
            return;
        };
        let Fenced {
            agents, process, ..
        } = self.store.fenced.swap_remove(place);
        let outlives = |it: Transaction| !it.landed && !it.is_rolled_back(self.now);
        if process.transaction.is_some_and(outlives) {
            self.store.left_behind.insert(epoch);
        }
        self.stats.fenced += 1;
        self.trace.note(
            self.now,
            format_args!("the owner of epoch {epoch} hears that it is no more"),
        );
        for (who, agent) in agents {
            let is_its =
                |it: &PendingRequest| it.at == who && it.incarnation == agent.incarnation();
            let open = self.requests.iter().filter(|(_, pending)| is_its(pending));
            let open: Vec<_> = open.map(|(id, pending)| (*id, pending.call)).collect();
            for (id, call) in open {
                self.requests.remove(&id);
                let after = self.network.latency(self.now);
                self.fail(call, after, Failure::Closed);
            }
        }
    }
}
