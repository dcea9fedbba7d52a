//! The world: virtual time, the hosts in it, and what happens next. The driver of the agent contract in simulation.

use super::cast::Cast;
use super::check::conduct::Conduct;
use super::check::ledger::Ledger;
use super::exchange::{Call, Pending};
use super::failure::{Checker, Failure, Fault};
use super::happening::Happening;
use super::house::House;
use super::network::Network;
use super::queue::Queue;
use super::shape::Shape;
use super::stats::Stats;
use super::trace::Trace;
use super::who::Who;
use super::wiretap::Wiretap;
use super::{CrashPoint, Options, Report, START};
use crate::agent::{CallId, Input, RequestId};
use crate::entropy::Entropy;
use crate::protocol::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

pub(super) struct World {
    pub(super) now: Timestamp,
    pub(super) queue: Queue<Happening>,
    pub(super) chance: Entropy,
    pub(super) shape: Shape,
    pub(super) cast: Cast,
    /// Of those who share a process.
    pub(super) house: House,
    pub(super) network: Network,
    pub(super) calls: Vec<Call>,
    pub(super) calls_open: BTreeSet<(Who, u32, CallId)>,
    pub(super) requests: BTreeMap<RequestId, Pending>,
    pub(super) requests_received: u64,
    pub(super) wiretap: Wiretap,
    pub(super) conduct: Conduct,
    pub(super) ledger: Ledger,
    /// How much of the manager's log the ledger has taken in.
    pub(super) ledger_read: usize,
    pub(super) trace: Trace,
    pub(super) stats: Stats,
    pub(super) heals_at: Timestamp,
    /// Who will fail at some time and not come back, although the league counts on it.
    pub(super) doomed: Option<Who>,
    /// The launcher knows that the league has started.
    pub(super) launched: bool,
    /// The league is over, and only its echo is waited for.
    pub(super) ending: bool,
    pub(super) completed_at: Option<Timestamp>,
    over: bool,
    events: u64,
    clocks: BTreeMap<Who, Clock>,
    pub(super) crash: Option<CrashPoint>,
    /// How many more of that host's steps are let out before it crashes.
    pub(super) crash_after_commits: Option<usize>,
}

/// What is planned for a host.
#[derive(Debug, Default)]
struct Clock {
    /// When the disk is done with all that waits.
    disk_until: Option<Timestamp>,
    tick_at: Option<Timestamp>,
    /// When it was woken last, and how often at that very time.
    woken: Option<(Timestamp, u32)>,
    started_at: Option<Timestamp>,
}

/// So many wakes at the same time are no accident.
const WAKES_MAX: u32 = 100;

impl Clock {
    fn count_wake(&mut self, who: Who, now: Timestamp) -> Result<(), Fault> {
        let times = match self.woken {
            Some((at, times)) if at == now => times + 1,
            _ => 1,
        };
        self.woken = Some((now, times));
        if times > WAKES_MAX {
            return Err(Fault::new(
                Checker::NoBusyLoop,
                format!("{who} has been woken {times} times, and wants to be woken again at once"),
            ));
        }
        Ok(())
    }
}

impl World {
    pub(super) fn new(seed: u64, options: &Options) -> Self {
        let mut chance = Entropy::numbered(seed);
        let shape = options.shape.clone().unwrap_or_else(|| Shape::drawn(&mut chance));
        let cast = Cast::new(seed, &shape, &mut chance);
        let network_chance = Entropy::numbered(chance.next_u64());
        let network = Network::new(&shape.faults, network_chance, &cast.hosts(), START);
        let mut world = Self {
            now: START,
            queue: Queue::default(),
            heals_at: START + shape.faults.heal_after,
            chance,
            shape,
            cast,
            house: House::default(),
            network,
            calls: Vec::new(),
            calls_open: BTreeSet::new(),
            requests: BTreeMap::new(),
            requests_received: 0,
            wiretap: Wiretap::new(options.keep_messages),
            conduct: Conduct::default(),
            ledger: Ledger::default(),
            ledger_read: 0,
            trace: Trace::new(options.keep_trace),
            stats: Stats::default(),
            doomed: None,
            launched: false,
            ending: false,
            completed_at: None,
            over: false,
            events: 0,
            clocks: BTreeMap::new(),
            crash: options.crash,
            crash_after_commits: None,
        };
        world.plan_lives();
        world
    }

    pub(super) fn run(mut self, seed: u64) -> Report {
        let failure = self.live().err().map(|fault| Failure { fault, at: self.now, event: self.events });
        self.stats.virtual_time = self.now.since(START);
        self.stats.steps = (self.cast.hosts().into_iter())
            .map(|who| (who, self.cast.machine(who).map_or(0, |machine| machine.steps())))
            .collect();
        self.seal();
        Report {
            seed,
            stats: self.stats,
            trace_hash: self.trace.hash(),
            trace: self.trace.into_lines(),
            messages: self.wiretap.into_messages(),
            league: self.cast.manager.log().to_vec(),
            failure,
        }
    }

    fn live(&mut self) -> Result<(), Fault> {
        while let Some((at, _, happening)) = self.queue.next() {
            self.now = at;
            self.events += 1;
            self.happen(happening)?;
            if self.over {
                break;
            }
        }
        self.check_the_end()
    }

    /// What the disks hold in the end belongs to the trace.
    fn seal(&mut self) {
        for who in self.cast.hosts() {
            let disk = self.cast.machine(who).map(|machine| machine.disk()).unwrap_or_default();
            for line in disk {
                self.trace.note(self.now, format_args!("{who} keeps {line}"));
            }
        }
    }

    fn happen(&mut self, happening: Happening) -> Result<(), Fault> {
        match happening {
            Happening::Start(who) => self.start(who),
            Happening::Crash { who, down } => {
                self.crash(who, down)?;
                self.read_ledger()
            }
            Happening::Commit { who, incarnation } => self.commit(who, incarnation),
            Happening::Tick { who, incarnation } => self.tick(who, incarnation),
            Happening::Arrive { call, freight } => self.arrive(call, *freight),
            Happening::Answered { call, back } => self.answered(call, *back),
            Happening::GiveUp { call } => self.give_up(call),
            Happening::Decided { who, incarnation, inquiry, decision } => {
                self.decided(who, incarnation, inquiry, *decision)
            }
            Happening::Launch => {
                self.launch();
                Ok(())
            }
            Happening::Meddle => {
                self.meddle();
                Ok(())
            }
            Happening::Limit => self.check_in_time(),
            Happening::End => {
                self.over = self.is_completed();
                self.ending = self.over;
                Ok(())
            }
        }
    }

    /// Hands an input to an agent that is up.
    pub(super) fn deliver(&mut self, who: Who, input: Input, label: &str) -> Result<(), Fault> {
        let now = self.now;
        let Some(machine) = self.cast.machine_mut(who) else {
            return Ok(());
        };
        let events = machine.handle(now, input)?;
        self.trace.note(now, format_args!("{label}: {events} events"));
        if who == Who::Manager && events > 0 {
            self.check_league()?;
        }
        self.after_step(who)
    }

    /// Plans what a step calls for: its way to the disk, and the agent's next wake.
    pub(super) fn after_step(&mut self, who: Who) -> Result<(), Fault> {
        let delay = Duration::from_micros(self.chance.below(self.shape.faults.disk_us_max + 1));
        let incarnation = self.cast.machine(who).map_or(0, |machine| machine.incarnation());
        let is_kin = self.shape.is_kin(who);
        let disk_until = match is_kin {
            true => &mut self.house.disk_until,
            false => &mut self.clocks.entry(who).or_default().disk_until,
        };
        let mut at = self.now + delay;
        if let Some(busy) = *disk_until {
            at = at.max(busy);
        }
        *disk_until = Some(at);
        self.queue.plan(at, Happening::Commit { who, incarnation });
        if is_kin {
            self.tell_kin(who)?;
        }
        self.arm(who);
        if self.now < self.heals_at && self.chance.below(10_000) < self.shape.faults.crashes_per_10k_steps {
            let down = Duration::from_micros(self.chance.below(self.shape.faults.outage_us_max));
            let down = Some(down.min(self.heals_at.since(self.now)));
            self.queue.plan(self.now, Happening::Crash { who, down });
        }
        self.crash_if_due(who)
    }

    /// A host that starts anew has nothing planned.
    pub(super) fn reset_clock(&mut self, who: Who) {
        self.clocks.insert(who, Clock { started_at: Some(self.now), ..Clock::default() });
    }

    /// For how long an agent has been up.
    pub(super) fn up_for(&self, who: Who) -> Option<Duration> {
        let started_at = self.clocks.get(&who)?.started_at?;
        let is_up = self.cast.machine(who).is_some_and(|machine| machine.is_up());
        is_up.then(|| self.now.since(started_at))
    }

    /// Makes sure that the agent is woken when it wants to be.
    fn arm(&mut self, who: Who) {
        let Some(machine) = self.cast.machine(who) else {
            return;
        };
        let (Some(deadline), incarnation) = (machine.deadline(), machine.incarnation()) else {
            return;
        };
        let at = deadline.max(self.now);
        let clock = self.clocks.entry(who).or_default();
        if clock.tick_at.is_none_or(|planned| planned > at || planned < self.now) {
            clock.tick_at = Some(at);
            self.queue.plan(at, Happening::Tick { who, incarnation });
        }
    }

    fn tick(&mut self, who: Who, incarnation: u32) -> Result<(), Fault> {
        let Some(machine) = self.cast.machine(who) else {
            return Ok(());
        };
        if !machine.is_up() || machine.incarnation() != incarnation {
            return Ok(());
        }
        let due = machine.deadline().is_some_and(|deadline| deadline <= self.now);
        let clock = self.clocks.entry(who).or_default();
        clock.tick_at = None;
        if !due {
            self.arm(who);
            return Ok(());
        }
        clock.count_wake(who, self.now)?;
        self.deliver(who, Input::Tick, &format!("{who} ticks"))
    }

    /// A host's oldest waiting step is durable: now its messages may go.
    fn commit(&mut self, who: Who, incarnation: u32) -> Result<(), Fault> {
        let Some(machine) = self.cast.machine_mut(who) else {
            return Ok(());
        };
        if !machine.is_up() || machine.incarnation() != incarnation {
            return Ok(());
        }
        let released = machine.commit()?;
        if who == Who::Manager && released.events > 0 {
            self.read_ledger()?;
        }
        if self.shape.is_kin(who) {
            self.leave_line(who)?;
        }
        for outgoing in released.outbox {
            self.send(who, outgoing)?;
        }
        for reply in released.replies {
            self.reply(who, reply)?;
        }
        for inquiry in released.inquiries {
            self.inquire(who, inquiry);
        }
        self.crash_after_release(who)
    }
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World").field("now", &self.now).field("shape", &self.shape).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_that_wants_to_be_woken_at_once_for_ever_is_noticed() {
        let (mut clock, mut now) = (Clock::default(), START);
        for _ in 0..WAKES_MAX {
            assert_eq!(clock.count_wake(Who::Manager, now), Ok(()));
        }
        let fault = clock.count_wake(Who::Manager, now).unwrap_err();
        assert_eq!(fault.checker, Checker::NoBusyLoop);
        now = now + Duration::from_micros(1);
        assert_eq!(clock.count_wake(Who::Manager, now), Ok(()), "time has passed");
    }
}
