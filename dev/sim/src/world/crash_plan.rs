//! Starts, crashes and restarts of hosts: by the seed's plan, by chance at any step, or at the step that a test chooses.

use super::World;
use crate::agent_id::AgentId;
use crate::behaviour::Character;
use crate::event::WorldEvent;
use crate::failure::Fault;
use crate::faults::pick;
use crate::{Moment, START};
use std::time::Duration;

impl World {
    /// When everyone comes, and when and for how long they fail.
    pub(super) fn plan_lives(&mut self) {
        let faults = self.scenario.faults.clone();
        let heal_us = u64::try_from(faults.heal_after.as_micros()).unwrap_or(0);
        for who in self.agents.hosts() {
            let delay = Duration::from_micros(self.chance.below(300_000));
            if !self.scenario.shares_store(who) {
                self.queue.plan(START + delay, WorldEvent::Start(who));
            }
        }
        for _ in 0..faults.crashes {
            let who = pick(&mut self.chance, &self.agents.hosts()).copied();
            let at = START + Duration::from_micros(self.chance.below(heal_us));
            let down = Duration::from_micros(self.chance.below(faults.outage_us_max));
            let down = Some(down.min(self.heals_at.since(at)));
            if let Some(who) = who {
                self.queue.plan(at, WorldEvent::Crash { who, down });
            }
        }
        for number in 1..=self.scenario.players.len() as u8 {
            let at = START + Duration::from_micros(self.chance.below(heal_us.max(3_000_000) * 2));
            let who = AgentId::Player(number);
            match self.scenario.behaviour(number).character {
                _ if self.scenario.is_colocated(who) => {}
                Character::Dies => self.queue.plan(at, WorldEvent::Crash { who, down: None }),
                Character::Returns => {
                    let down = Duration::from_micros(self.chance.below(heal_us * 2 + 30_000_000));
                    let down = Some(down);
                    self.queue.plan(at, WorldEvent::Crash { who, down });
                }
                _ => {}
            }
        }
        let dead_referee =
            self.scenario.referees.len() > 1 && faults.crashes > 0 && self.chance.chance(30);
        if dead_referee && self.scenario.colocated_players.is_none() {
            let at = START + Duration::from_micros(self.chance.below(heal_us));
            let who = AgentId::Referee(1);
            let down = None;
            self.doomed = Some(who);
            self.queue.plan(at, WorldEvent::Crash { who, down });
        }
        self.queue
            .plan(START + Duration::from_millis(500), WorldEvent::Launch);
        if faults.meddling_percent > 0 {
            self.queue
                .plan(START + Duration::from_secs(1), WorldEvent::Meddle);
        }
        self.queue
            .plan(self.heals_at + self.scenario.bound(), WorldEvent::Limit);
    }

    pub(super) fn start(&mut self, who: AgentId) -> Result<(), Fault> {
        self.start_together(&[who])
    }

    /// Starts agents of one process: all of them listen before the first calls another.
    pub(super) fn start_together(&mut self, agents: &[AgentId]) -> Result<(), Fault> {
        let now = self.now;
        let mut started = Vec::new();
        for who in agents {
            let Some(machine) = self
                .agents
                .machine_mut(*who)
                .filter(|machine| !machine.is_up())
            else {
                continue;
            };
            started.push((*who, machine.stored(), machine.start(now)?));
            self.reset_clock(*who);
        }
        started.into_iter().try_for_each(|(who, stored, events)| {
            self.carry_out(who, events, &format!("{who} starts with {stored} events"))
        })
    }

    pub(super) fn crash(&mut self, who: AgentId, down: Option<Duration>) -> Result<(), Fault> {
        let waiting = self.waiting_with(who) as u64;
        // Some of what waits for the disk may still reach it, though nobody else will hear of it.
        let stored = usize::try_from(self.chance.below(waiting + 1)).unwrap_or(0);
        let stored = self.whole_transaction(who, stored);
        self.kill(who, stored, down)
    }

    /// Ends its process after so many of the steps that wait have reached the disk, until it is started again.
    fn kill(&mut self, who: AgentId, stored: usize, down: Option<Duration>) -> Result<(), Fault> {
        if !self
            .agents
            .machine(who)
            .is_some_and(|machine| machine.is_up())
        {
            return Ok(());
        }
        self.stats.crashes += 1;
        if self.scenario.shares_store(who) {
            return self.kill_owner(stored, down.unwrap_or_default());
        }
        let gone = if self.scenario.is_colocated(who) {
            self.crash_process(stored)?
        } else {
            self.stop(who, stored);
            vec![who]
        };
        if let Some(down) = down {
            gone.into_iter()
                .for_each(|who| self.queue.plan(self.now + down, WorldEvent::Start(who)));
        }
        Ok(())
    }

    /// An agent is no more, and of its steps that wait the first `stored` are on its disk.
    pub(super) fn stop(&mut self, who: AgentId, stored: usize) {
        let Some(machine) = self.agents.machine_mut(who) else {
            return;
        };
        let lost = machine.crash(stored);
        self.stats.steps_lost += lost as u64;
        self.trace
            .note(self.now, format_args!("{who} crashes, losing {lost} steps"));
        self.drop_requests_at(who);
    }

    /// Any step may be the last.
    pub(super) fn crash_by_chance(&mut self, who: AgentId) {
        if self.now < self.heals_at
            && self.chance.below(10_000) < self.scenario.faults.crashes_per_10k_steps
        {
            let down = Duration::from_micros(self.chance.below(self.scenario.faults.outage_us_max));
            let down = Some(down.min(self.heals_at.since(self.now)));
            self.queue.plan(self.now, WorldEvent::Crash { who, down });
        }
    }

    /// Crashes a host at the step that a test has chosen. `to_disk`: whether that step has to be stored at all.
    pub(super) fn crash_if_due(&mut self, who: AgentId, to_disk: bool) -> Result<(), Fault> {
        let (Some(point), Some(machine)) = (self.crash, self.agents.machine(who)) else {
            return Ok(());
        };
        if point.who != who || machine.steps() != point.step {
            return Ok(());
        }
        let own = machine.waiting();
        let waiting = self.waiting_with(who);
        match point.moment {
            Moment::BeforeStored => {
                self.kill(who, waiting - usize::from(to_disk), Some(point.down))?
            }
            Moment::StoredUnsent => self.kill(who, waiting, Some(point.down))?,
            Moment::Sent | Moment::SentThenLost => {
                return self.crash_once_released(who, own);
            }
        }
        self.read_ledger()
    }

    /// A batch of this host has been released.
    pub(super) fn crash_after_release(&mut self, who: AgentId) -> Result<(), Fault> {
        match self
            .crash_after_commits
            .filter(|_| self.crash.is_some_and(|point| point.who == who))
        {
            Some(left) => self.crash_once_released(who, left.saturating_sub(1)),
            None => Ok(()),
        }
    }

    /// Crashes a host at the step that a test has chosen, once no more than `left` of its batches have to be released.
    fn crash_once_released(&mut self, who: AgentId, left: usize) -> Result<(), Fault> {
        self.crash_after_commits = Some(left).filter(|left| *left > 0);
        if let (None, Some(point)) = (self.crash_after_commits, self.crash) {
            self.kill(who, 0, Some(point.down))?;
            if point.moment == Moment::SentThenLost {
                self.agents.lose_last_event(who);
            }
        }
        Ok(())
    }

    pub(super) fn crash_is_planned(&self) -> bool {
        self.crash.is_some()
    }

    pub(super) fn is_mute(&self, who: AgentId) -> bool {
        match who {
            AgentId::Player(number) => self.scenario.behaviour(number).character == Character::Mute,
            _ => false,
        }
    }
}
