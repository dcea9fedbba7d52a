//! A store that several processes share: the league's log under a lease and an epoch. State and arithmetic; what happens to it is
//! in `ownership`, `transaction` and `fenced`.

use super::agent_id::AgentId;
use super::faults::pick;
use super::machine::Machine;
use super::planted_fault::PlantedFault;
use super::shared_log::SharedLog;
use matchday_core::driver::Effects;
use matchday_core::entropy::Entropy;
use matchday_core::protocol::Timestamp;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::time::Duration;

/// How often an owner renews its lease.
const RENEW_EVERY: Duration = Duration::from_secs(1);
/// How long a lease holds after it was renewed.
const LEASE: Duration = Duration::from_secs(3);
/// How much later than the owner the store counts: the time that a renewal takes to reach it.
const RENEWAL_LATENCY: Duration = Duration::from_millis(10);
/// How long the store keeps a transaction whose process says nothing, before it rolls it back.
pub(super) const IDLE_TRANSACTION: Duration = Duration::from_secs(10);
/// By how much the wall clock of a machine is wrong at most, either way.
const WALL_CLOCK_ERROR_US_MAX: u64 = 10_000_000;

/// How many machines share a store, and what gets in their way. They do so until the other faults of the run end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedStore {
    /// How many machines can run the manager and the agents that are colocated with it.
    pub machines: u8,
    /// How long a transaction takes at most.
    pub commit_us_max: u64,
    /// How many in a hundred transactions lose their connection, so that their outcome is unknown.
    pub unknown_percent: u64,
    /// How often the owner is stopped for a while and goes on, is cut from the store, hands over.
    pub pauses: u64,
    /// How often one machine, or all, cannot reach the store.
    pub cuts: u64,
    /// How often the owner hands the league over to another process.
    pub handovers: u64,
    /// In how many of ten thousand transactions one of these befalls the owner, or it crashes.
    pub faults_per_10k_transactions: u64,
    /// How long a pause or a cut lasts at most.
    pub outage_us_max: u64,
}

impl SharedStore {
    /// A store that is always there, and processes that are never stopped.
    pub const SOUND: Self = Self {
        machines: 2,
        commit_us_max: 5_000,
        unknown_percent: 0,
        pauses: 0,
        cuts: 0,
        handovers: 0,
        faults_per_10k_transactions: 0,
        outage_us_max: 0,
    };

    /// Some of everything, much of it or none.
    pub fn drawn(chance: &mut Entropy) -> Self {
        let mut some = |most: u64| {
            if chance.chance(40) {
                0
            } else {
                1 + chance.below(most)
            }
        };
        let unknown_percent = some(20);
        let pauses = some(6);
        let cuts = some(5);
        let handovers = some(4);
        let faults_per_10k_transactions = some(500);
        Self {
            machines: if chance.chance(50) { 2 } else { 3 },
            commit_us_max: *pick(chance, &[2_000, 20_000, 300_000]).unwrap_or(&2_000),
            unknown_percent,
            pauses,
            cuts,
            handovers,
            faults_per_10k_transactions,
            outage_us_max: *pick(chance, &[4_000_000, 10_000_000, 30_000_000])
                .unwrap_or(&10_000_000),
        }
    }
}

/// A machine on which a process can run the agents of the league.
#[derive(Debug, Default)]
pub(super) struct MachineState {
    pub(super) down_until: Option<Timestamp>,
    pub(super) paused_until: Option<Timestamp>,
    pub(super) cut_until: Option<Timestamp>,
    wall_clock_error_us: i64,
}

impl MachineState {
    /// Whether it can take the league.
    fn is_ready(&self) -> bool {
        self.down_until.is_none() && self.paused_until.is_none() && self.cut_until.is_none()
    }
}

/// A process that owns the league, or believes so.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) machine: usize,
    pub(super) epoch: u64,
    /// Since when it has renewed its lease, and when it was kept from that.
    pub(super) renewing_since: Timestamp,
    pub(super) stopped_at: Option<Timestamp>,
    pub(super) transaction: Option<Transaction>,
    /// It has lost sight of the store, and knows it.
    pub(super) away: bool,
    /// The agents of the batches that the log has and the process has not heard of.
    pub(super) unconfirmed: VecDeque<AgentId>,
    /// What may go out once the lease is known to hold.
    pub(super) held: Vec<(AgentId, Effects)>,
}

/// A transaction under way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Transaction {
    /// How many of the batches that wait it stores.
    pub(super) batches: usize,
    /// Whether the log has it.
    pub(super) landed: bool,
    /// The process was stopped before it sent COMMIT: the store waits for that until then, and holds the row of the league.
    pub(super) stalled_until: Option<Timestamp>,
}

impl Transaction {
    /// Whether the store has ended it, since its process did not go on.
    pub(super) fn is_rolled_back(self, now: Timestamp) -> bool {
        self.stalled_until.is_some_and(|until| until <= now)
    }
}

/// What a process hears of its transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Stored,
    /// Another process owns the league.
    Fenced,
    /// The connection was lost.
    Unknown,
}

impl Process {
    pub(super) fn new(machine: usize, epoch: u64, now: Timestamp) -> Self {
        Self {
            machine,
            epoch,
            renewing_since: now,
            stopped_at: None,
            transaction: None,
            away: false,
            unconfirmed: VecDeque::new(),
            held: Vec::new(),
        }
    }

    /// Until when its lease holds by its own monotonic clock: counted from when it sent the last renewal.
    pub(super) fn lease_until(&self, now: Timestamp) -> Timestamp {
        let renewed = self.stopped_at.unwrap_or(now).since(self.renewing_since);
        let periods = u32::try_from(renewed.as_secs() / RENEW_EVERY.as_secs()).unwrap_or(u32::MAX);
        self.renewing_since + RENEW_EVERY.saturating_mul(periods) + LEASE
    }
}

/// A process that another has taken the league from, and that does not know it yet.
pub(super) struct Fenced {
    pub(super) process: Process,
    pub(super) log: SharedLog,
    pub(super) agents: BTreeMap<AgentId, Box<dyn Machine>>,
}

impl fmt::Debug for Fenced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fenced")
            .field("process", &self.process)
            .finish_non_exhaustive()
    }
}

/// The store, and the machines that share it.
#[derive(Debug, Default)]
pub(super) struct StoreState {
    /// Counts the owners of the league.
    pub(super) epoch: u64,
    /// The process that owns the league, unless it has crashed or released it.
    pub(super) owner: Option<Process>,
    /// Until when nobody else may take the league from an owner that is no more.
    pub(super) lease_until: Option<Timestamp>,
    /// A transaction holds the row of the league until then.
    pub(super) locked_until: Option<Timestamp>,
    pub(super) fenced: Vec<Fenced>,
    /// The epochs of processes that have let go of the league while a transaction of theirs was under way: it outlives them.
    pub(super) left_behind: BTreeSet<u64>,
    pub(super) machines: Vec<MachineState>,
}

impl StoreState {
    pub(super) fn new(store: Option<&SharedStore>, mut chance: Entropy) -> Self {
        let count = store.map_or(0, |store| store.machines);
        let machine = |_| {
            let error = i64::try_from(chance.below(2 * WALL_CLOCK_ERROR_US_MAX + 1)).unwrap_or(0);
            let most = i64::try_from(WALL_CLOCK_ERROR_US_MAX).unwrap_or(0);
            MachineState {
                wall_clock_error_us: error - most,
                ..MachineState::default()
            }
        };
        Self {
            machines: (0..count).map(machine).collect(),
            ..Self::default()
        }
    }

    pub(super) fn process(&self, epoch: u64) -> Option<&Process> {
        let fenced = self.fenced.iter().map(|fenced| &fenced.process);
        self.owner
            .iter()
            .chain(fenced)
            .find(|process| process.epoch == epoch)
    }

    pub(super) fn process_mut(&mut self, epoch: u64) -> Option<&mut Process> {
        let fenced = self.fenced.iter_mut().map(|fenced| &mut fenced.process);
        self.owner
            .iter_mut()
            .chain(fenced)
            .find(|process| process.epoch == epoch)
    }

    /// The epoch under which a process on this machine believes to own the league.
    pub(super) fn epoch_on(&self, machine: usize) -> Option<u64> {
        let fenced = self.fenced.iter().map(|fenced| &fenced.process);
        self.owner
            .iter()
            .chain(fenced)
            .find(|process| process.machine == machine)
            .map(|it| it.epoch)
    }

    pub(super) fn machine_of(&self, epoch: u64) -> Option<&MachineState> {
        self.machines.get(self.process(epoch)?.machine)
    }

    /// Until when, by the store's clock, nobody may take the league.
    pub(super) fn taken_until(&self, now: Timestamp) -> Option<Timestamp> {
        let owner = self
            .owner
            .as_ref()
            .map(|owner| owner.lease_until(now) + RENEWAL_LATENCY);
        owner.or(self.lease_until)
    }

    /// The machines that can take the league now. Of the owner's own it is the owner that goes on.
    pub(super) fn candidates(&self) -> Vec<usize> {
        let owners = self.owner.as_ref().map(|owner| owner.machine);
        let ready = self
            .machines
            .iter()
            .enumerate()
            .filter(|(_, machine)| machine.is_ready());
        ready
            .map(|(number, _)| number)
            .filter(|number| Some(*number) != owners)
            .collect()
    }

    /// By how much the clock of a process that takes the league differs from the world's, which is the store's: no more than it
    /// takes to ask for the time, unless the log is ahead.
    pub(super) fn clock_error_us(
        &self,
        planted: Option<PlantedFault>,
        machine: usize,
        now: Timestamp,
        last_at: Option<Timestamp>,
        asked_us: i64,
    ) -> i64 {
        let wall = self
            .machines
            .get(machine)
            .map_or(0, |machine| machine.wall_clock_error_us);
        if planted == Some(PlantedFault::ClockOfTheMachine) {
            return wall;
        }
        let ahead = last_at.map(|last| last.as_micros() - now.as_micros());
        ahead.map_or(-asked_us, |ahead| ahead.max(-asked_us))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::START;

    fn seconds(tenths: u64) -> Timestamp {
        START + Duration::from_millis(100 * tenths)
    }

    #[test]
    fn a_lease_is_counted_from_the_last_renewal_that_was_sent() {
        let mut process = Process::new(0, 1, START);
        assert_eq!(process.lease_until(seconds(9)), seconds(30));
        assert_eq!(process.lease_until(seconds(25)), seconds(50));
        process.stopped_at = Some(seconds(25));
        assert_eq!(process.lease_until(seconds(99)), seconds(50));
    }

    #[test]
    fn nobody_may_take_a_league_as_long_as_its_owner_may_answer() {
        let owner = Process {
            stopped_at: Some(seconds(17)),
            ..Process::new(0, 1, START)
        };
        let own = owner.lease_until(seconds(90));
        let store = StoreState {
            owner: Some(owner),
            ..StoreState::default()
        };
        assert!(store.taken_until(seconds(90)) > Some(own));
    }
}
