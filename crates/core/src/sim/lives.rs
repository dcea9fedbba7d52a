//! How hosts come, fail and come back: by the seed's plan, by chance at any step, or at the step that a test has chosen.

use super::behaviour::Manner;
use super::failure::Fault;
use super::faults::pick;
use super::happening::Happening;
use super::who::Who;
use super::world::World;
use super::{Moment, START};
use std::time::Duration;

impl World {
    /// When everyone comes, and when and for how long they fail.
    pub(super) fn plan_lives(&mut self) {
        let faults = self.shape.faults.clone();
        let heal_us = u64::try_from(faults.heal_after.as_micros()).unwrap_or(0);
        for who in self.cast.hosts() {
            let delay = Duration::from_micros(self.chance.below(300_000));
            self.queue.plan(START + delay, Happening::Start(who));
        }
        for _ in 0..faults.crashes {
            let who = pick(&mut self.chance, &self.cast.hosts()).copied();
            let at = START + Duration::from_micros(self.chance.below(heal_us));
            let down = Duration::from_micros(self.chance.below(faults.outage_us_max));
            let down = Some(down.min(self.heals_at.since(at)));
            if let Some(who) = who {
                self.queue.plan(at, Happening::Crash { who, down });
            }
        }
        for number in 1..=self.shape.players.len() as u8 {
            let at = START + Duration::from_micros(self.chance.below(heal_us.max(3_000_000) * 2));
            let who = Who::Player(number);
            match self.shape.behaviour(number).manner {
                _ if self.shape.is_kin(who) => {}
                Manner::Dies => self.queue.plan(at, Happening::Crash { who, down: None }),
                Manner::Returns => {
                    let down = Duration::from_micros(self.chance.below(heal_us * 2 + 30_000_000));
                    let down = Some(down);
                    self.queue.plan(at, Happening::Crash { who, down });
                }
                _ => {}
            }
        }
        let dead_referee = self.shape.referees.len() > 1 && faults.crashes > 0 && self.chance.chance(30);
        if dead_referee && self.shape.house.is_none() {
            let at = START + Duration::from_micros(self.chance.below(heal_us));
            let (who, down) = (Who::Referee(1), None);
            self.doomed = Some(who);
            self.queue.plan(at, Happening::Crash { who, down });
        }
        self.queue.plan(START + Duration::from_millis(500), Happening::Launch);
        if faults.meddling_percent > 0 {
            self.queue.plan(START + Duration::from_secs(1), Happening::Meddle);
        }
        self.queue.plan(self.heals_at + self.shape.bound(), Happening::Limit);
    }

    pub(super) fn start(&mut self, who: Who) -> Result<(), Fault> {
        let now = self.now;
        let Some(machine) = self.cast.machine_mut(who).filter(|machine| !machine.is_up()) else {
            return Ok(());
        };
        machine.start(now)?;
        let stored = machine.stored();
        self.trace.note(now, format_args!("{who} starts with {stored} events"));
        self.reset_clock(who);
        if who == Who::Manager {
            self.check_league()?;
        }
        self.after_step(who)
    }

    pub(super) fn crash(&mut self, who: Who, down: Option<Duration>) -> Result<(), Fault> {
        let waiting = self.in_line(who) as u64;
        // Some of what waits for the disk may still reach it, though nobody else will hear of it.
        let stored = usize::try_from(self.chance.below(waiting + 1)).unwrap_or(0);
        self.kill(who, stored, down)
    }

    /// Ends its process after so many of the steps that wait have reached the disk, until it is started again.
    fn kill(&mut self, who: Who, stored: usize, down: Option<Duration>) -> Result<(), Fault> {
        if !self.cast.machine(who).is_some_and(|machine| machine.is_up()) {
            return Ok(());
        }
        self.stats.crashes += 1;
        let gone = if self.shape.is_kin(who) {
            self.fall(stored)?
        } else {
            self.stop(who, stored);
            vec![who]
        };
        if let Some(down) = down {
            gone.into_iter().for_each(|who| self.queue.plan(self.now + down, Happening::Start(who)));
        }
        Ok(())
    }

    /// An agent is no more, and of its steps that wait the first `stored` are on its disk.
    pub(super) fn stop(&mut self, who: Who, stored: usize) {
        let Some(machine) = self.cast.machine_mut(who) else { return };
        let lost = machine.crash(stored);
        self.stats.steps_lost += lost as u64;
        self.trace.note(self.now, format_args!("{who} crashes, losing {lost} steps"));
        self.drop_requests_at(who);
    }

    /// Crashes a host at the step that a test has chosen.
    pub(super) fn crash_if_due(&mut self, who: Who) -> Result<(), Fault> {
        let (Some(point), Some(machine)) = (self.crash, self.cast.machine(who)) else {
            return Ok(());
        };
        if point.who != who || machine.steps() != point.step {
            return Ok(());
        }
        let (own, waiting) = (machine.waiting(), self.in_line(who));
        match point.moment {
            Moment::BeforeStored => self.kill(who, waiting.saturating_sub(1), Some(point.down))?,
            Moment::StoredUnsent => self.kill(who, waiting, Some(point.down))?,
            Moment::Sent | Moment::SentThenLost => {
                self.crash_after_commits = Some(own);
                return Ok(());
            }
        }
        self.read_ledger()
    }

    pub(super) fn crash_after_release(&mut self, who: Who) -> Result<(), Fault> {
        let (Some(point), Some(left)) = (self.crash, self.crash_after_commits) else {
            return Ok(());
        };
        if point.who != who {
            return Ok(());
        }
        self.crash_after_commits = left.checked_sub(1).filter(|left| *left > 0);
        if self.crash_after_commits.is_none() {
            self.kill(who, 0, Some(point.down))?;
            if point.moment == Moment::SentThenLost {
                self.cast.lose_last_event(who);
            }
        }
        Ok(())
    }

    pub(super) fn crash_is_planned(&self) -> bool {
        self.crash.is_some()
    }

    pub(super) fn is_mute(&self, who: Who) -> bool {
        match who {
            Who::Player(number) => self.shape.behaviour(number).manner == Manner::Mute,
            _ => false,
        }
    }
}
