//! Transactions of a process with a shared store: begun under an epoch, landed or not, heard of or not. The outcome of one whose
//! connection was lost is looked up and never guessed.

use super::World;
use crate::agent_id::AgentId;
use crate::check;
use crate::event::{StoreEvent, WorldEvent};
use crate::failure::Fault;
use crate::planted_fault::PlantedFault;
use crate::shared_store::{Process, Transaction, Verdict};
use std::time::Duration;

const RECONNECT_US_MAX: u64 = 1_000_000;

/// How long a store may take to answer before the time of its leagues stands still.
const SLOW: Duration = Duration::from_secs(1);

impl World {
    /// Lets out what has no events, and begins the next transaction with what has.
    pub(super) fn write_next(&mut self, epoch: u64) -> Result<(), Fault> {
        loop {
            let idle = |it: &&Process| it.transaction.is_none() && !it.away;
            if self.store.process(epoch).filter(idle).is_none() {
                return Ok(());
            }
            let Some(who) = self.log_of(epoch).and_then(|log| log.oldest()) else {
                return Ok(());
            };
            if self
                .agent_of(epoch, who)
                .is_some_and(|agent| agent.oldest_has_events())
            {
                return self.begin(epoch);
            }
            self.store_batches(epoch, 1)?;
            self.confirm_batches(epoch, 1)?;
        }
    }

    fn begin(&mut self, epoch: u64) -> Result<(), Fault> {
        let waiting = self.log_of(epoch).map_or(0, |log| log.len()) as u64;
        let batches = usize::try_from(1 + self.chance.below(waiting)).unwrap_or(1);
        let length = self.some_us(
            self.scenario
                .shared_store
                .as_ref()
                .map_or(0, |store| store.commit_us_max),
        );
        let is_cut = self
            .store
            .machine_of(epoch)
            .is_some_and(|machine| machine.cut_until.is_some());
        if let Some(process) = self.store.process_mut(epoch) {
            process.transaction = Some(Transaction {
                batches,
                landed: false,
                stalled_until: None,
            });
        }
        // While a store does not answer, time stands still: also if the process stops meanwhile.
        let slow_at = self.now + SLOW;
        self.each_agent_of(epoch, |agent| agent.stand_still(slow_at));
        let names_epoch = self.scenario.planted != Some(PlantedFault::NoEpochInAppend);
        if is_cut {
            self.plan_store(
                length,
                StoreEvent::Heard {
                    epoch,
                    verdict: Verdict::Unknown,
                },
            );
        } else if names_epoch && epoch != self.store.epoch {
            self.plan_store(
                length,
                StoreEvent::Heard {
                    epoch,
                    verdict: Verdict::Fenced,
                },
            );
        } else {
            // The row of the league is locked: one that wants to take it waits.
            self.store.locked_until = Some(self.now + length);
            self.plan_store(length, StoreEvent::Land { epoch });
            self.befall_owner(length);
        }
        Ok(())
    }

    /// Any transaction may be the one in which something happens.
    fn befall_owner(&mut self, length: Duration) {
        let Some(store) = self.scenario.shared_store.clone() else {
            return;
        };
        if self.now >= self.heals_at
            || self.chance.below(10_000) >= store.faults_per_10k_transactions
        {
            return;
        }
        let kind = self.chance.below(4);
        let after = self.some_us(2 * u64::try_from(length.as_micros()).unwrap_or(0));
        let event = match kind {
            3 => {
                let down = self
                    .some_us(store.outage_us_max)
                    .min(self.heals_at.since(self.now + after));
                WorldEvent::Crash {
                    who: AgentId::Manager,
                    down: Some(down),
                }
            }
            kind => WorldEvent::Store(self.misfortune(&store, kind, self.now + after)),
        };
        self.queue.plan(self.now + after, event);
    }

    /// The store comes to the end of a transaction: it is committed, unless the connection was lost before.
    pub(super) fn land(&mut self, epoch: u64) -> Result<(), Fault> {
        let machine = self.store.machine_of(epoch);
        let is_cut = machine.is_some_and(|machine| machine.cut_until.is_some());
        let Some(transaction) = self
            .store
            .process(epoch)
            .and_then(|process| process.transaction)
        else {
            return if self.store.left_behind.remove(&epoch) {
                check::ownership::one_writer(epoch, self.store.epoch)
            } else {
                Ok(())
            };
        };
        let percent = self
            .scenario
            .shared_store
            .as_ref()
            .map_or(0, |store| store.unknown_percent);
        let rolled_back = transaction.is_rolled_back(self.now);
        let unknown =
            rolled_back || is_cut || self.now < self.heals_at && self.chance.chance(percent);
        if !rolled_back && (!unknown || self.chance.chance(50)) {
            check::ownership::one_writer(epoch, self.store.epoch)?;
            self.store_batches(epoch, transaction.batches)?;
            if let Some(transaction) = self
                .store
                .process_mut(epoch)
                .and_then(|it| it.transaction.as_mut())
            {
                transaction.landed = true;
            }
        }
        let verdict = if unknown {
            Verdict::Unknown
        } else {
            Verdict::Stored
        };
        let after = self.some_us(1_000);
        self.plan_store(after, StoreEvent::Heard { epoch, verdict });
        Ok(())
    }

    /// A process hears what came of its transaction.
    pub(super) fn heard(&mut self, epoch: u64, verdict: Verdict) -> Result<(), Fault> {
        let now = self.now;
        match verdict {
            Verdict::Stored => {
                self.each_agent_of(epoch, |agent| agent.go_on(now));
                self.end_transaction(epoch)?;
                self.members().into_iter().for_each(|who| self.arm(who));
                Ok(())
            }
            Verdict::Fenced => {
                self.drop_fenced(epoch);
                Ok(())
            }
            Verdict::Unknown => {
                self.stats.unknown_commits += 1;
                self.trace.note(
                    now,
                    format_args!("epoch {epoch} has lost sight of the store"),
                );
                let Some(process) = self.store.process_mut(epoch) else {
                    return Ok(());
                };
                process.away = true;
                self.each_agent_of(epoch, |agent| agent.stand_still(now));
                if epoch == self.store.epoch {
                    let open: Vec<_> = self
                        .requests
                        .values()
                        .filter(|it| !it.from_colocated)
                        .collect();
                    let open = open
                        .into_iter()
                        .filter(|it| self.scenario.shares_store(it.at));
                    let open: Vec<_> = open.map(|pending| pending.call).collect();
                    open.into_iter()
                        .for_each(|call| self.answer_unavailable(call));
                }
                let after = self.some_us(RECONNECT_US_MAX);
                self.plan_store(after, StoreEvent::Reconnect { epoch });
                Ok(())
            }
        }
    }

    /// A process reaches the store again, looks who owns the league and where its log ends, and goes on from there.
    pub(super) fn reconnect(&mut self, epoch: u64) -> Result<(), Fault> {
        let now = self.now;
        let Some(machine) = self.store.machine_of(epoch) else {
            return Ok(());
        };
        if let Some(until) = machine.cut_until {
            let after = until.since(now) + self.some_us(RECONNECT_US_MAX);
            self.plan_store(after, StoreEvent::Reconnect { epoch });
            return Ok(());
        }
        if epoch != self.store.epoch {
            self.drop_fenced(epoch);
            return Ok(());
        }
        self.each_agent_of(epoch, |agent| agent.go_on(now));
        let landed = self.store.process_mut(epoch).and_then(|process| {
            process.away = false;
            process.transaction.map(|transaction| transaction.landed)
        });
        self.trace.note(
            now,
            format_args!("epoch {epoch} has the store again, landed: {landed:?}"),
        );
        if landed == Some(false)
            && let Some(process) = self.store.process_mut(epoch)
        {
            process.transaction = None;
        }
        self.renewed(epoch)?;
        if landed == Some(true) {
            self.end_transaction(epoch)?;
        }
        self.members().into_iter().for_each(|who| self.arm(who));
        Ok(())
    }

    fn end_transaction(&mut self, epoch: u64) -> Result<(), Fault> {
        let transaction = self
            .store
            .process_mut(epoch)
            .and_then(|process| process.transaction.take());
        self.confirm_batches(
            epoch,
            transaction.map_or(0, |transaction| transaction.batches),
        )?;
        self.write_next(epoch)
    }

    /// The oldest batches reach the log.
    fn store_batches(&mut self, epoch: u64, count: usize) -> Result<(), Fault> {
        for _ in 0..count {
            let Some(who) = self.log_of(epoch).and_then(|log| log.oldest()) else {
                return Ok(());
            };
            if let Some(agent) = self.agent_of(epoch, who) {
                agent.store()?;
            }
            if epoch == self.store.epoch {
                self.read_ledger()?;
                self.commit_shared(who)?;
            } else if let Some(log) = self.log_of(epoch) {
                log.skip();
            }
            if let Some(process) = self.store.process_mut(epoch) {
                process.unconfirmed.push_back(who);
            }
        }
        Ok(())
    }

    /// The process hears of them.
    fn confirm_batches(&mut self, epoch: u64, count: usize) -> Result<(), Fault> {
        for _ in 0..count {
            let who = self
                .store
                .process_mut(epoch)
                .and_then(|process| process.unconfirmed.pop_front());
            let Some(who) = who else { return Ok(()) };
            let confirmed = self
                .agent_of(epoch, who)
                .map(|agent| agent.confirm())
                .unwrap_or_default();
            self.let_out(epoch, who, confirmed.effects)?;
            self.crash_after_release(who)?;
        }
        Ok(())
    }
}
