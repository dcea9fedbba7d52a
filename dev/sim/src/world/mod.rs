//! The world: virtual time, the hosts in it, and what happens next. The driver of the agent contract in simulation.

mod cheat;
mod colocated;
mod crash_plan;
mod decisions;
mod exchange;
mod fenced;
mod inspection;
mod outsiders;
mod ownership;
mod relay;
mod response;
mod takeovers;
mod transaction;

pub use inspection::facts;

use crate::agent_id::AgentId;
use crate::agents::Agents;
use crate::call::{Call, PendingRequest};
use crate::check::conduct::Conduct;
use crate::check::ladder::LadderRules;
use crate::check::ledger::Ledger;
use crate::event::WorldEvent;
use crate::failure::{Failure, Fault};
use crate::network::Network;
use crate::queue::Queue;
use crate::scenario::Scenario;
use crate::shared_log::SharedLog;
use crate::shared_store::StoreState;
use crate::stats::Stats;
use crate::trace::Trace;
use crate::wiretap::Wiretap;
use crate::{CrashPoint, Options, Report, START};
use matchday_core::agent::{CallId, Input, RequestId};
use matchday_core::driver::Effects;
use matchday_core::entropy::Entropy;
use matchday_core::protocol::Timestamp;
use relay::Relay;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

pub(super) struct World {
    now: Timestamp,
    queue: Queue<WorldEvent>,
    chance: Entropy,
    scenario: Scenario,
    agents: Agents,
    /// Of colocated agents.
    shared_log: SharedLog,
    /// Shared by several machines, if the scenario has it so.
    store: StoreState,
    /// When what happens now reached the machine, if that stood still, and which machine.
    delayed: Option<(Timestamp, usize)>,
    network: Network,
    relay: Relay,
    calls: Vec<Call>,
    calls_open: BTreeSet<(AgentId, u32, CallId)>,
    requests: BTreeMap<RequestId, PendingRequest>,
    requests_received: u64,
    wiretap: Wiretap,
    conduct: Conduct,
    ledger: Ledger,
    ladder_rules: Option<LadderRules>,
    /// How much of the manager's log the ledger has taken in.
    ledger_read: usize,
    /// The players without a registration key that did not know of their registration when the league was started: nothing
    /// but its answer tells them who they are.
    unaware_at_start: BTreeSet<u8>,
    /// Whether a referee that proves was in the league when it started.
    has_prover: bool,
    trace: Trace,
    stats: Stats,
    heals_at: Timestamp,
    /// Who will fail at some time and not come back, although the league counts on it.
    doomed: Option<AgentId>,
    /// The launcher knows that the league has started.
    launched: bool,
    /// The league is over, and only its echo is waited for.
    ending: bool,
    completed_at: Option<Timestamp>,
    over: bool,
    events: u64,
    clocks: BTreeMap<AgentId, Clock>,
    crash: Option<CrashPoint>,
    /// How many more of that host's steps are let out before it crashes.
    crash_after_commits: Option<usize>,
}

/// What is planned for a host.
#[derive(Debug, Default)]
struct Clock {
    /// When the disk is done with all that waits.
    disk_until: Option<Timestamp>,
    poll_at: Option<Timestamp>,
    started_at: Option<Timestamp>,
}

impl World {
    pub(super) fn new(seed: u64, options: &Options) -> Self {
        let mut chance = Entropy::numbered(seed);
        let scenario = options
            .scenario
            .clone()
            .unwrap_or_else(|| Scenario::drawn(&mut chance));
        let agents = Agents::new(seed, &scenario, &mut chance);
        let network_chance = Entropy::numbered(chance.next_u64());
        let network = Network::new(&scenario.faults, network_chance, &agents.hosts(), START);
        let mut world = Self {
            now: START,
            queue: Queue::default(),
            heals_at: START + scenario.faults.heal_after,
            ladder_rules: scenario.is_ladder().then(LadderRules::default),
            store: StoreState::new(scenario.shared_store.as_ref(), chance.clone()),
            delayed: None,
            chance,
            scenario,
            agents,
            shared_log: SharedLog::default(),
            network,
            relay: Relay::default(),
            calls: Vec::new(),
            calls_open: BTreeSet::new(),
            requests: BTreeMap::new(),
            requests_received: 0,
            wiretap: Wiretap::new(options.keep_messages),
            conduct: Conduct::default(),
            ledger: Ledger::default(),
            ledger_read: 0,
            unaware_at_start: BTreeSet::new(),
            has_prover: false,
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
        world.plan_streams();
        world.plan_ownership();
        world
    }

    pub(super) fn run(mut self, seed: u64) -> Report {
        let failure = self.live().err().map(|fault| Failure {
            fault,
            at: self.now,
            event: self.events,
        });
        self.stats.virtual_time = self.now.since(START);
        self.stats.steps = (self.agents.hosts().into_iter())
            .map(|who| {
                (
                    who,
                    self.agents
                        .machine(who)
                        .map_or(0, |machine| machine.steps()),
                )
            })
            .collect();
        self.seal();
        Report {
            seed,
            stats: self.stats,
            trace_hash: self.trace.hash(),
            trace: self.trace.into_lines(),
            messages: self.wiretap.into_messages(),
            league: self.agents.manager.log().to_vec(),
            failure,
        }
    }

    fn live(&mut self) -> Result<(), Fault> {
        while let Some((at, _, event)) = self.queue.next() {
            self.now = at;
            self.events += 1;
            match self.paused_for(&event) {
                Some((until, machine)) => self.delay(until, machine, event),
                None => self.happen(event)?,
            }
            if self.over {
                break;
            }
        }
        self.check_the_end()
    }

    /// What the disks hold in the end belongs to the trace.
    fn seal(&mut self) {
        for who in self.agents.hosts() {
            let disk = self
                .agents
                .machine(who)
                .map(|machine| machine.disk())
                .unwrap_or_default();
            for line in disk {
                self.trace
                    .note(self.now, format_args!("{who} keeps {line}"));
            }
        }
    }

    fn happen(&mut self, event: WorldEvent) -> Result<(), Fault> {
        match event {
            WorldEvent::Start(who) => self.start(who),
            WorldEvent::Crash { who, down } => {
                self.crash(who, down)?;
                self.read_ledger()
            }
            WorldEvent::Commit { who, incarnation } => self.commit(who, incarnation),
            WorldEvent::Poll { who, incarnation } => self.poll(who, incarnation),
            WorldEvent::Arrive { call, packet } => self.arrive(call, *packet),
            WorldEvent::Connect(who) => {
                self.connect_stream(who);
                Ok(())
            }
            WorldEvent::Cut(who) => {
                self.cut_stream(who);
                Ok(())
            }
            WorldEvent::MailboxDue { who, number } => {
                self.mailbox_due(who, number);
                Ok(())
            }
            WorldEvent::Relayed { who, call, back } => self.answer_mailbox(who, call, *back),
            WorldEvent::Answered { call, back } => self.answered(call, *back),
            WorldEvent::GiveUp { call } => self.give_up(call),
            WorldEvent::Decided {
                who,
                incarnation,
                inquiry,
                decision,
            } => self.decided(who, incarnation, inquiry, *decision),
            WorldEvent::Store(event) => self.store_event(event),
            WorldEvent::Delayed {
                since,
                machine,
                event,
            } => {
                self.delayed = Some((since, machine));
                let outcome = match self.paused_for(&event) {
                    Some((until, machine)) => {
                        self.delay(until, machine, *event);
                        Ok(())
                    }
                    None => self.happen(*event),
                };
                self.delayed = None;
                outcome
            }
            WorldEvent::Launch => {
                self.launch();
                Ok(())
            }
            WorldEvent::Meddle => {
                self.meddle();
                Ok(())
            }
            WorldEvent::Limit => self.check_in_time(),
            WorldEvent::End => {
                self.over = self.is_completed();
                self.ending = self.over;
                Ok(())
            }
        }
    }

    /// What is for a process that stands still reaches it when it goes on, with the time at which it came.
    fn delay(&mut self, until: Timestamp, machine: usize, event: WorldEvent) {
        let since = self.delayed.map_or(self.now, |(since, _)| since);
        let at = until.max(self.now);
        self.queue.plan(
            at,
            WorldEvent::Delayed {
                since,
                machine,
                event: Box::new(event),
            },
        );
    }

    /// Hands an input to an agent that is up.
    pub(super) fn deliver(
        &mut self,
        who: AgentId,
        input: Input,
        from_colocated: bool,
        label: &str,
    ) -> Result<(), Fault> {
        let now = self.now;
        let at = self.delayed.map_or(self.now, |(since, _)| since);
        let Some(machine) = self.agents.machine_mut(who) else {
            return Ok(());
        };
        let events = machine.arrive(now, at, input, from_colocated)?;
        self.carry_out(who, events, label)
    }

    /// Carries out what has come of some steps of an agent.
    pub(super) fn carry_out(
        &mut self,
        who: AgentId,
        events: usize,
        label: &str,
    ) -> Result<(), Fault> {
        self.trace
            .note(self.now, format_args!("{label}: {events} events"));
        if who == AgentId::Manager && events > 0 {
            self.check_league()?;
        }
        // A crash takes the steps that have not been appended.
        while let Some(step) = self
            .agents
            .machine_mut(who)
            .and_then(|machine| machine.append())
        {
            if step.to_disk && !self.scenario.shares_store(who) {
                self.plan_commit(who);
            }
            if self.scenario.is_colocated(who) {
                self.append_shared(who, step.to_disk, step.effects)?
            } else {
                self.release(who, step.effects)?
            }
            self.crash_by_chance(who);
            self.crash_if_due(who, step.to_disk)?;
        }
        if self.scenario.shares_store(who) {
            self.write_next(self.store.epoch)?;
        }
        self.arm(who);
        Ok(())
    }

    fn plan_commit(&mut self, who: AgentId) {
        let delay = Duration::from_micros(self.chance.below(self.scenario.faults.disk_us_max + 1));
        let incarnation = self
            .agents
            .machine(who)
            .map_or(0, |machine| machine.incarnation());
        let disk_until = if self.scenario.is_colocated(who) {
            &mut self.shared_log.disk_until
        } else {
            &mut self.clocks.entry(who).or_default().disk_until
        };
        let mut at = self.now + delay;
        if let Some(busy) = *disk_until {
            at = at.max(busy);
        }
        *disk_until = Some(at);
        self.queue.plan(at, WorldEvent::Commit { who, incarnation });
    }

    pub(super) fn release(&mut self, who: AgentId, effects: Effects) -> Result<(), Fault> {
        let Effects {
            calls,
            replies,
            decision_requests,
            rules_requests: _,
        } = effects;
        calls
            .into_iter()
            .try_for_each(|call| self.send(who, call))?;
        replies
            .into_iter()
            .try_for_each(|reply| self.reply(who, reply))?;
        decision_requests
            .into_iter()
            .for_each(|request| self.inquire(who, request));
        Ok(())
    }

    /// A host that starts anew has nothing planned.
    pub(super) fn reset_clock(&mut self, who: AgentId) {
        self.clocks.insert(
            who,
            Clock {
                started_at: Some(self.now),
                ..Clock::default()
            },
        );
    }

    /// For how long an agent has been up.
    pub(super) fn up_for(&self, who: AgentId) -> Option<Duration> {
        let started_at = self.clocks.get(&who)?.started_at?;
        let is_up = self
            .agents
            .machine(who)
            .is_some_and(|machine| machine.is_up());
        is_up.then(|| self.now.since(started_at))
    }

    /// Makes sure that the agent is woken when it wants to be.
    pub(super) fn arm(&mut self, who: AgentId) {
        let Some(machine) = self.agents.machine(who) else {
            return;
        };
        let (Some(deadline), incarnation) = (machine.deadline(), machine.incarnation()) else {
            return;
        };
        let at = deadline.max(self.now);
        let clock = self.clocks.entry(who).or_default();
        if clock
            .poll_at
            .is_none_or(|planned| planned > at || planned < self.now)
        {
            clock.poll_at = Some(at);
            self.queue.plan(at, WorldEvent::Poll { who, incarnation });
        }
    }

    fn poll(&mut self, who: AgentId, incarnation: u32) -> Result<(), Fault> {
        let now = self.now;
        let Some(machine) = self.agents.machine_mut(who) else {
            return Ok(());
        };
        if !machine.is_up() || machine.incarnation() != incarnation {
            return self.drive_fenced(who, incarnation, None);
        }
        self.clocks.entry(who).or_default().poll_at = None;
        if machine.deadline().is_none_or(|deadline| deadline > now) {
            self.arm(who);
            return Ok(());
        }
        let events = machine.poll(now)?;
        self.carry_out(who, events, &format!("{who} ticks"))
    }

    /// A host's oldest waiting batch is durable: its effects are released.
    fn commit(&mut self, who: AgentId, incarnation: u32) -> Result<(), Fault> {
        let Some(machine) = self.agents.machine_mut(who) else {
            return Ok(());
        };
        if !machine.is_up() || machine.incarnation() != incarnation {
            return Ok(());
        }
        let confirmed = machine.commit()?;
        if who == AgentId::Manager && confirmed.events > 0 {
            self.read_ledger()?;
        }
        if self.scenario.is_colocated(who) {
            self.commit_shared(who)?;
        }
        self.release(who, confirmed.effects)?;
        self.crash_after_release(who)
    }
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World")
            .field("now", &self.now)
            .field("scenario", &self.scenario)
            .finish_non_exhaustive()
    }
}
