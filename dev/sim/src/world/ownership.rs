//! Leases and epochs of a shared store: who takes the league, what keeps its owner from renewing the lease, and where a request
//! goes meanwhile.

use super::World;
use crate::agent_id::AgentId;
use crate::call::{Call, Caller};
use crate::event::{StoreEvent, WorldEvent};
use crate::failure::Fault;
use crate::faults::pick;
use crate::planted_fault::PlantedFault;
use crate::shared_store::{Fenced, IDLE_TRANSACTION, Process, SharedStore};
use crate::wire::{Packet, Response};
use crate::{START, check};
use matchday_core::driver::Effects;
use matchday_core::protocol::Timestamp;
use matchday_core::protocol::dialect::reply::HttpReply;
use std::time::Duration;

/// How often a process looks for leagues that nobody owns.
const LOOK_EVERY_US: u64 = 1_000_000;
/// How long a process waits before it renews its lease after a pause, or asks the time, at most.
const ROUND_TRIP_US_MAX: u64 = 50_000;
/// How long a request is held while the league changes hands, and how often its owner is looked up.
const HOLD: Duration = Duration::from_secs(5);
const HOLD_LOOK: Duration = Duration::from_millis(250);
const DRAIN_LOOK: Duration = Duration::from_millis(10);
const DRAIN_MAX: Duration = Duration::from_secs(1);
/// Backpressure: with so many batches before the store the agents of the process wait, and how often they look.
const BACKLOG_MAX: usize = 64;
const BACKLOG_LOOK: Duration = Duration::from_millis(10);

/// Which process a request has reached.
pub(super) enum Route {
    Owner,
    /// One that has lost the league, and does not know it.
    Fenced(u64),
    /// None: it will come again, or its caller will hear that nobody could take it.
    Nobody,
}

impl World {
    /// The agents that move from machine to machine.
    pub(super) fn members(&self) -> Vec<AgentId> {
        self.agents
            .hosts()
            .into_iter()
            .filter(|who| self.scenario.shares_store(*who))
            .collect()
    }

    pub(super) fn plan_store(&mut self, after: Duration, event: StoreEvent) {
        self.queue.plan(self.now + after, WorldEvent::Store(event));
    }

    pub(super) fn some_us(&mut self, most: u64) -> Duration {
        Duration::from_micros(self.chance.below(most + 1))
    }

    /// When the first process takes the league, and what befalls its owners.
    pub(super) fn plan_ownership(&mut self) {
        let Some(store) = self.scenario.shared_store.clone() else {
            return;
        };
        let heal_us = u64::try_from(self.heals_at.since(START).as_micros()).unwrap_or(0);
        let first = self.some_us(300_000);
        self.plan_store(first, StoreEvent::Take);
        for kind in 0..3 {
            let count = [store.pauses, store.cuts, store.handovers]
                .get(kind)
                .copied()
                .unwrap_or(0);
            for _ in 0..count {
                let after = self.some_us(heal_us);
                let event = self.misfortune(&store, kind as u64, START + after);
                self.plan_store(after, event);
            }
        }
    }

    /// Something that befalls the owner at that time: a pause, a cut or a hand-over.
    pub(super) fn misfortune(
        &mut self,
        store: &SharedStore,
        kind: u64,
        at: Timestamp,
    ) -> StoreEvent {
        let length = self
            .some_us(store.outage_us_max)
            .min(self.heals_at.since(at));
        match kind {
            0 => StoreEvent::Pause(length),
            1 => StoreEvent::Cut {
                all: self.chance.chance(50),
                length,
            },
            _ => StoreEvent::HandOver {
                until: at + DRAIN_MAX,
            },
        }
    }

    pub(super) fn store_event(&mut self, event: StoreEvent) -> Result<(), Fault> {
        match event {
            StoreEvent::Take => self.try_take(),
            StoreEvent::Pause(length) => {
                self.pause(length);
                Ok(())
            }
            StoreEvent::Cut { all, length } => {
                self.cut_from_store(all, length);
                Ok(())
            }
            StoreEvent::HandOver { until } => self.hand_over(until),
            StoreEvent::Recover { machine } => {
                self.recover_machine(machine);
                Ok(())
            }
            StoreEvent::Renewed { epoch } => self.renewed(epoch),
            StoreEvent::Land { epoch } => self.land(epoch),
            StoreEvent::Heard { epoch, verdict } => self.heard(epoch, verdict),
            StoreEvent::Reconnect { epoch } => self.reconnect(epoch),
        }
    }

    /// A process takes the league if the lease of its owner has expired by the store's clock.
    fn try_take(&mut self) -> Result<(), Fault> {
        let look = self.some_us(LOOK_EVERY_US);
        if let Some(until) = self
            .store
            .taken_until(self.now)
            .filter(|until| *until > self.now)
        {
            // An owner that is well needs no successor.
            if self
                .store
                .owner
                .as_ref()
                .is_none_or(|owner| owner.stopped_at.is_some())
            {
                self.plan_store(until.since(self.now) + look, StoreEvent::Take);
            }
            return Ok(());
        }
        let excluded = self.scenario.planted != Some(PlantedFault::TakerNotExcluded);
        let locked = self
            .store
            .locked_until
            .filter(|until| excluded && *until > self.now);
        if let Some(until) = locked {
            self.plan_store(
                until.since(self.now) + Duration::from_micros(1),
                StoreEvent::Take,
            );
            return Ok(());
        }
        match pick(&mut self.chance, &self.store.candidates()).copied() {
            Some(machine) => self.take_league(machine),
            None if self
                .store
                .owner
                .as_ref()
                .is_some_and(|owner| owner.stopped_at.is_none()) =>
            {
                Ok(())
            }
            None => {
                self.plan_store(look, StoreEvent::Take);
                Ok(())
            }
        }
    }

    /// The next epoch begins: what the log holds is replayed on this machine, and the owner before knows nothing of it.
    fn take_league(&mut self, machine: usize) -> Result<(), Fault> {
        let members = self.members();
        self.store
            .fenced
            .retain(|fenced| fenced.process.machine != machine);
        if let Some(process) = self.store.owner.take() {
            let log = std::mem::take(&mut self.shared_log);
            let split = |who: &AgentId| Some((*who, self.agents.machine_mut(*who)?.split_off()));
            let agents = members.iter().filter_map(split).collect();
            self.store.fenced.push(Fenced {
                process,
                log,
                agents,
            });
        }
        self.store.epoch += 1;
        let epoch = self.store.epoch;
        self.store.owner = Some(Process::new(machine, epoch, self.now));
        self.stats.tenures += 1;
        self.trace.note(
            self.now,
            format_args!("machine {machine} takes the league in epoch {epoch}"),
        );
        let asked_us = i64::try_from(self.some_us(ROUND_TRIP_US_MAX).as_micros()).unwrap_or(0);
        let last_at = members
            .iter()
            .filter_map(|who| self.agents.machine(*who)?.last_at())
            .max();
        let planted = self.scenario.planted;
        let error_us = self
            .store
            .clock_error_us(planted, machine, self.now, last_at, asked_us);
        for who in &members {
            if let Some(agent) = self.agents.machine_mut(*who) {
                agent.set_clock(error_us);
            }
        }
        self.start_together(&members)
    }

    /// The owner's machine stops, with all that is under way there.
    fn pause(&mut self, length: Duration) {
        let now = self.now;
        let heals_at = self.heals_at;
        let Some(owner) = self.store.owner.as_mut().filter(|_| now < heals_at) else {
            return;
        };
        let number = owner.machine;
        let epoch = owner.epoch;
        let Some(machine) = self
            .store
            .machines
            .get_mut(number)
            .filter(|it| it.paused_until.is_none())
        else {
            return;
        };
        machine.paused_until = Some(now + length);
        owner.stopped_at.get_or_insert(now);
        let before_commit = self.chance.chance(50);
        if let Some(transaction) = owner
            .transaction
            .as_mut()
            .filter(|it| before_commit && !it.landed)
        {
            transaction.stalled_until = Some(now + IDLE_TRANSACTION);
            self.store.locked_until = Some(now + IDLE_TRANSACTION.min(length + DRAIN_LOOK));
        }
        self.stats.pauses += 1;
        self.trace.note(
            now,
            format_args!("the owner of epoch {epoch} stops for {length:?}"),
        );
        self.plan_store(length, StoreEvent::Recover { machine: number });
        self.plan_store(Duration::ZERO, StoreEvent::Take);
    }

    fn cut_from_store(&mut self, all: bool, length: Duration) {
        let now = self.now;
        let heals_at = self.heals_at;
        let Some(owner) = self.store.owner.as_mut().filter(|_| now < heals_at) else {
            return;
        };
        owner.stopped_at.get_or_insert(now);
        let owners = owner.machine;
        self.stats.cuts += 1;
        let which = if all { "every machine" } else { "the owner" };
        self.trace.note(
            now,
            format_args!("{which} is cut from the store for {length:?}"),
        );
        for number in 0..self.store.machines.len() {
            let Some(machine) = self.store.machines.get_mut(number) else {
                continue;
            };
            if (all || number == owners) && machine.cut_until.is_none() {
                machine.cut_until = Some(now + length);
                self.plan_store(length, StoreEvent::Recover { machine: number });
            }
        }
        self.plan_store(Duration::ZERO, StoreEvent::Take);
    }

    /// What was to end by now has ended. A process that could not renew its lease does so.
    fn recover_machine(&mut self, number: usize) {
        let now = self.now;
        let Some(machine) = self.store.machines.get_mut(number) else {
            return;
        };
        for until in [
            &mut machine.down_until,
            &mut machine.paused_until,
            &mut machine.cut_until,
        ] {
            until.take_if(|until| *until <= now);
        }
        if let Some(epoch) = self.store.epoch_on(number) {
            // It may do much before it hears from the store.
            let after = self.some_us(ROUND_TRIP_US_MAX);
            self.plan_store(after, StoreEvent::Renewed { epoch });
        }
    }

    /// A process hears from the store whether it still owns the league.
    pub(super) fn renewed(&mut self, epoch: u64) -> Result<(), Fault> {
        let is_cut = self
            .store
            .machine_of(epoch)
            .is_none_or(|machine| machine.cut_until.is_some());
        if is_cut {
            return Ok(());
        }
        if epoch != self.store.epoch {
            self.drop_fenced(epoch);
            return Ok(());
        }
        let now = self.now;
        let Some(owner) = &mut self.store.owner else {
            return Ok(());
        };
        (owner.renewing_since, owner.stopped_at) = (now, None);
        let held = std::mem::take(&mut owner.held);
        held.into_iter()
            .try_for_each(|(who, effects)| self.let_out(epoch, who, effects))?;
        self.write_next(epoch)
    }

    /// Something leaves a process: not before it knows that its lease holds.
    pub(super) fn let_out(
        &mut self,
        epoch: u64,
        who: AgentId,
        effects: Effects,
    ) -> Result<(), Fault> {
        let now = self.now;
        let anyway = self.scenario.planted == Some(PlantedFault::AnswersWithoutLease);
        let Some(process) = self.store.process_mut(epoch) else {
            return Ok(());
        };
        if now >= process.lease_until(now) && !anyway {
            process.held.push((who, effects));
            return Ok(());
        }
        check::ownership::nothing_from_fenced(epoch, self.store.epoch, &effects)?;
        self.release(who, effects)
    }

    /// The owner stores all that it has done, and gives the lease back.
    fn hand_over(&mut self, until: Timestamp) -> Result<(), Fault> {
        let now = self.now;
        let heals_at = self.heals_at;
        let Some(owner) = self.store.owner.as_ref().filter(|_| now < heals_at) else {
            return Ok(());
        };
        if owner.stopped_at.is_some() || owner.away || now > until {
            return Ok(());
        }
        if owner.transaction.is_some() || self.waiting_with(AgentId::Manager) > 0 {
            self.plan_store(DRAIN_LOOK, StoreEvent::HandOver { until });
            return Ok(());
        }
        self.stats.handovers += 1;
        self.end_process(0, now)
    }

    /// The owner's process is no more. Of its batches that wait the first `stored` have reached the log.
    pub(super) fn end_process(
        &mut self,
        stored: usize,
        lease_until: Timestamp,
    ) -> Result<(), Fault> {
        self.store.owner = None;
        self.store.locked_until = None;
        self.store.lease_until = Some(lease_until);
        self.crash_process(stored)?;
        let look = self.some_us(LOOK_EVERY_US);
        self.plan_store(lease_until.since(self.now) + look, StoreEvent::Take);
        Ok(())
    }

    /// Of a crashed owner's batches a transaction under way brings all or none to the log.
    pub(super) fn whole_transaction(&self, who: AgentId, stored: usize) -> usize {
        let under_way = self
            .store
            .owner
            .as_ref()
            .and_then(|owner| owner.transaction);
        match under_way.filter(|it| stored > 0 && !it.landed) {
            _ if !self.scenario.shares_store(who) => stored,
            Some(transaction) => transaction.batches,
            None => 0,
        }
    }

    /// The owner's process is killed, and its machine is down for a while.
    pub(super) fn kill_owner(&mut self, stored: usize, down: Duration) -> Result<(), Fault> {
        let now = self.now;
        let Some(owner) = &mut self.store.owner else {
            return Ok(());
        };
        owner.stopped_at.get_or_insert(now);
        let number = owner.machine;
        let until = self.store.taken_until(now).unwrap_or(now);
        if let Some(machine) = self.store.machines.get_mut(number) {
            machine.down_until = Some(now + down);
            machine.paused_until = None;
            self.plan_store(down, StoreEvent::Recover { machine: number });
        }
        self.end_process(stored, until)
    }

    /// Where a request goes that has reached one of the machines: to the process there that believes to own the league, or else
    /// to the owner. While there is none it is held, and at last answered 503.
    pub(super) fn route(&mut self, call: usize, packet: &Packet) -> Route {
        let (since, machine) = match self.delayed {
            Some((since, machine)) => (since, machine),
            None => {
                let up = self
                    .store
                    .machines
                    .iter()
                    .enumerate()
                    .filter(|(_, it)| it.down_until.is_none());
                let up: Vec<_> = up.map(|(number, _)| number).collect();
                (self.now, pick(&mut self.chance, &up).copied().unwrap_or(0))
            }
        };
        let epoch = self.store.epoch_on(machine);
        let owners = self.store.owner.as_ref().map(|owner| owner.machine);
        let target = if epoch.is_some() {
            Some(machine)
        } else {
            owners
        };
        let paused = target.and_then(|target| self.store.machines.get(target)?.paused_until);
        let again = match (paused, target) {
            (Some(until), _) => until.max(self.now + Duration::from_micros(1)),
            (None, None) if self.now.since(since) < HOLD => self.now + HOLD_LOOK,
            (None, None) => return self.unavailable(call),
            (None, Some(_)) => {
                return match epoch.filter(|epoch| *epoch != self.store.epoch) {
                    Some(epoch) => Route::Fenced(epoch),
                    None if self.store.owner.as_ref().is_some_and(|owner| owner.away) => {
                        self.unavailable(call)
                    }
                    None => Route::Owner,
                };
            }
        };
        let event = Box::new(WorldEvent::Arrive {
            call,
            packet: Box::new(packet.clone()),
        });
        let machine = target.unwrap_or(machine);
        self.queue.plan(
            again,
            WorldEvent::Delayed {
                since,
                machine,
                event,
            },
        );
        Route::Nobody
    }

    fn unavailable(&mut self, call: usize) -> Route {
        self.answer_unavailable(call);
        Route::Nobody
    }

    /// HTTP 503, which no agent takes as final.
    pub(super) fn answer_unavailable(&mut self, call: usize) {
        let Some(from) = self.calls.get(call).map(|call| call.from) else {
            return;
        };
        let reply = HttpReply {
            status: 503,
            body: Vec::new(),
        };
        self.answer(
            call,
            AgentId::Manager,
            from,
            Response::Http(reply),
            Duration::ZERO,
        );
    }

    /// Until when an event must wait, since the process that it is for stands still or has a backlog, and on which machine.
    pub(super) fn paused_for(&self, event: &WorldEvent) -> Option<(Timestamp, usize)> {
        let epoch = match event {
            WorldEvent::Poll { who, incarnation }
            | WorldEvent::Decided {
                who, incarnation, ..
            } => self.epoch_of(*who, *incarnation)?,
            WorldEvent::Answered { call, .. } | WorldEvent::GiveUp { call } => {
                self.epoch_of_caller(self.calls.get(*call)?)?
            }
            WorldEvent::Arrive { call, .. } => {
                let call = self.calls.get(*call)?;
                let within = call.to.is_some_and(|to| self.are_colocated(call.from, to));
                self.epoch_of_caller(call).filter(|_| within)?
            }
            WorldEvent::Store(
                StoreEvent::Land { epoch }
                | StoreEvent::Renewed { epoch }
                | StoreEvent::Heard { epoch, .. }
                | StoreEvent::Reconnect { epoch },
            ) => *epoch,
            _ => return None,
        };
        let process = self.store.process(epoch)?;
        let is_land = matches!(event, WorldEvent::Store(StoreEvent::Land { .. }));
        if is_land
            && process
                .transaction
                .is_none_or(|transaction| transaction.stalled_until.is_none())
        {
            return None;
        }
        let paused_until = self.store.machines.get(process.machine)?.paused_until;
        let has_backlog = epoch == self.store.epoch && self.shared_log.len() >= BACKLOG_MAX;
        let is_input = !matches!(event, WorldEvent::Store(_));
        let until = paused_until.or((is_input && has_backlog).then(|| self.now + BACKLOG_LOOK))?;
        Some((until, process.machine))
    }

    fn epoch_of_caller(&self, call: &Call) -> Option<u64> {
        match call.caller {
            Caller::Agent { incarnation, .. } => self.epoch_of(call.from, incarnation),
            Caller::Outsider(_) => None,
        }
    }
}
