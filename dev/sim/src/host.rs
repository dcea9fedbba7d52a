//! A simulated computer: runs the [`Driver`] of one agent, stores its batches on a slow disk, crashes, and starts again from
//! that disk.
//!
//! The effects of a batch are handed out only once its events, and those of every batch before it, are on the disk.

use super::check::ownership::time_goes_on;
use super::failure::{Checker, Fault};
use super::machine::{AppendedStep, ConfirmedBatch, Machine};
use matchday_core::agent::{Agent, CallDeadline, DecodeHints, Input};
use matchday_core::driver::{
    Arrival, Batch, Batches, Driver, Effects, EventDurability, IsColocated,
};
use matchday_core::entropy::Entropy;
use matchday_core::protocol::{PlayerId, Timestamp};
use std::collections::VecDeque;
use std::fmt;
use std::rc::Rc;

/// An agent on its computer. It outlives the agent's crashes.
pub struct Host<A: Agent> {
    build: Rc<dyn Fn() -> A>,
    /// Whether the durable state of two agents is the same.
    same: fn(&A, &A) -> bool,
    is_colocated: Option<IsColocated>,
    /// `None` while it is down.
    driver: Option<Driver<A>>,
    /// What the events alone make of a fresh agent. It must never differ from the live one.
    shadow: A,
    /// The events on the disk.
    log: Vec<(Timestamp, A::Event)>,
    /// What came of steps and has not been appended yet, in order.
    fresh: VecDeque<Batch<A::Event>>,
    /// The batches that wait for the disk, in order.
    waiting: VecDeque<WaitingBatch<A::Event>>,
    /// What is on the disk, and has not been confirmed yet.
    stored: VecDeque<ConfirmedBatch>,
    seed: u64,
    /// By how much its clock is wrong, in microseconds.
    clock_error_us: i64,
    /// Its clock stands still from then on, in the world's time.
    still_since: Option<Timestamp>,
    incarnation: u32,
    steps: u64,
    /// How many ticks in a row have left a deadline that is past already.
    overdue_ticks: u32,
    /// How many events have been appended in all, counting only those that were not lost.
    appended: usize,
}

struct WaitingBatch<E> {
    /// Where in the log its last event will stand.
    log_end: usize,
    batch: Batch<E>,
}

/// So many ticks in a row that change nothing are no accident.
const OVERDUE_TICKS_MAX: u32 = 100;

impl<A: Agent> Host<A> {
    /// Down, with an empty disk. `build` makes a fresh agent; `same` compares what two have durably.
    pub fn new(
        seed: u64,
        clock_error_us: i64,
        is_colocated: Option<IsColocated>,
        build: impl Fn() -> A + 'static,
        same: fn(&A, &A) -> bool,
    ) -> Self {
        let shadow = build();
        Self {
            build: Rc::new(build),
            same,
            is_colocated,
            driver: None,
            shadow,
            log: Vec::new(),
            fresh: VecDeque::new(),
            waiting: VecDeque::new(),
            stored: VecDeque::new(),
            seed,
            clock_error_us,
            still_since: None,
            incarnation: 0,
            steps: 0,
            overdue_ticks: 0,
            appended: 0,
        }
    }

    /// What its events make of it, whether it is up or not.
    pub fn shadow(&self) -> &A {
        &self.shadow
    }

    /// What is on the disk: events with their times, by the agent's clock.
    pub fn log(&self) -> &[(Timestamp, A::Event)] {
        &self.log
    }

    /// What its own clock shows.
    fn own_time(&self, now: Timestamp) -> Timestamp {
        let now = self.still_since.map_or(now, |since| now.min(since));
        Timestamp::from_micros(now.as_micros().saturating_add(self.clock_error_us))
    }

    /// When its own clock shows this.
    fn world_time(&self, own: Timestamp) -> Timestamp {
        Timestamp::from_micros(own.as_micros().saturating_sub(self.clock_error_us))
    }

    fn in_world_time(&self, mut effects: Effects) -> Effects {
        for call in &mut effects.calls {
            if let CallDeadline::At(own) = &mut call.outgoing.deadline {
                *own = self.world_time(*own);
            }
        }
        for request in &mut effects.decision_requests {
            request.until = self.world_time(request.until);
        }
        effects
    }

    /// An agent as the disk alone makes it: every event goes through its stored form and back.
    fn replayed(&self) -> Result<A, Fault> {
        let mut agent = (self.build)();
        for (at, event) in &self.log {
            let stored = serde_json::to_string(event).map_err(|e| unreadable(event, &e))?;
            let read: A::Event =
                serde_json::from_str(&stored).map_err(|e| unreadable(event, &e))?;
            if read != *event {
                return Err(Fault::new(
                    Checker::ReplayEqualsLive,
                    format!("an event changed on the disk: {event:?} came back as {read:?}"),
                ));
            }
            agent.apply(*at, &read);
        }
        Ok(agent)
    }

    fn compare(&self, agent: &A, when: &str) -> Result<(), Fault> {
        if (self.same)(agent, &self.shadow) {
            return Ok(());
        }
        Err(Fault::new(
            Checker::ReplayEqualsLive,
            format!("after {when} the live state is not what its events make of a fresh agent"),
        ))
    }
}

impl<A: EventDurability> Host<A> {
    /// `None` while it is down.
    pub fn agent(&self) -> Option<&A> {
        self.driver.as_ref().map(Driver::agent)
    }

    fn drive(&mut self, drive: impl FnOnce(&mut Driver<A>) -> Batches<A>) -> Result<usize, Fault> {
        let Some(driver) = &mut self.driver else {
            return Ok(0);
        };
        let batches = drive(driver)
            .map_err(|error| Fault::new(Checker::ReplayEqualsLive, error.to_string()))?;
        let overdue = |at| {
            driver
                .agent()
                .deadline()
                .is_some_and(|deadline| deadline <= at)
        };
        self.overdue_ticks = match batches.last() {
            Some(last) if overdue(last.at) => self.overdue_ticks + 1,
            Some(_) => 0,
            None => self.overdue_ticks,
        };
        for batch in &batches {
            batch
                .events
                .iter()
                .for_each(|event| self.shadow.apply(batch.at, event));
        }
        let events = batches.iter().map(|batch| batch.events.len()).sum();
        self.fresh.extend(batches);
        if let Some(agent) = self.agent() {
            self.compare(agent, "a step")?;
        }
        if self.overdue_ticks > OVERDUE_TICKS_MAX {
            return Err(Fault::new(
                Checker::NoBusyLoop,
                format!(
                    "{} ticks in a row, and it wants to be ticked again at once",
                    self.overdue_ticks
                ),
            ));
        }
        Ok(events)
    }
}

fn unreadable(event: &impl fmt::Debug, error: &serde_json::Error) -> Fault {
    Fault::new(
        Checker::ReplayEqualsLive,
        format!("an event does not survive the disk: {event:?}: {error}"),
    )
}

impl<A: EventDurability + DecodeHints + 'static> Machine for Host<A> {
    fn is_up(&self) -> bool {
        self.driver.is_some()
    }

    fn incarnation(&self) -> u32 {
        self.incarnation
    }

    fn reads_about(&self) -> Option<PlayerId> {
        self.agent().and_then(A::reads_about).cloned()
    }

    fn steps(&self) -> u64 {
        self.steps
    }

    fn stored(&self) -> usize {
        self.log.len()
    }

    fn start(&mut self, now: Timestamp) -> Result<usize, Fault> {
        self.incarnation += 1;
        let entropy = Entropy::numbered(self.seed ^ (u64::from(self.incarnation) << 48));
        self.appended = self.log.len();
        self.shadow = self.replayed()?;
        let agent = self.replayed()?;
        self.compare(&agent, "the restart")?;
        let now = self.own_time(now);
        self.driver = Some(Driver::new(agent, entropy, now, self.is_colocated.clone()));
        self.drive(|driver| driver.wake(now))
    }

    fn arrive(
        &mut self,
        now: Timestamp,
        at: Timestamp,
        input: Input,
        from_colocated: bool,
    ) -> Result<usize, Fault> {
        let now = self.own_time(now);
        let at = self.own_time(at);
        self.drive(|driver| {
            driver.arrive(
                now,
                Arrival {
                    at,
                    input,
                    from_colocated,
                },
            )
        })
    }

    fn poll(&mut self, now: Timestamp) -> Result<usize, Fault> {
        let now = self.own_time(now);
        self.drive(|driver| driver.poll(now))
    }

    fn append(&mut self) -> Option<AppendedStep> {
        let mut batch = self.fresh.pop_front()?;
        self.steps += 1;
        let effects = self.in_world_time(std::mem::take(&mut batch.when_ordered));
        let to_disk = batch.needs_append();
        if to_disk {
            self.appended += batch.events.len();
            self.waiting.push_back(WaitingBatch {
                log_end: self.appended,
                batch,
            });
        }
        Some(AppendedStep { to_disk, effects })
    }

    fn oldest_has_events(&self) -> bool {
        self.waiting
            .front()
            .is_some_and(|oldest| !oldest.batch.events.is_empty())
    }

    fn store(&mut self) -> Result<(), Fault> {
        let Some(WaitingBatch { log_end, batch }) = self.waiting.pop_front() else {
            return Ok(());
        };
        let Batch {
            at,
            events,
            when_durable,
            ..
        } = batch;
        let count = events.len();
        time_goes_on(self.last_at().filter(|_| count > 0), at)?;
        self.log.extend(events.into_iter().map(|event| (at, event)));
        if self.log.len() != log_end {
            return Err(Fault::new(
                Checker::DurableBeforeVisible,
                format!(
                    "a step was let out with {} events on the disk where {log_end} belong before it",
                    self.log.len()
                ),
            ));
        }
        self.stored.push_back(ConfirmedBatch {
            events: count,
            effects: when_durable,
        });
        Ok(())
    }

    fn confirm(&mut self) -> ConfirmedBatch {
        let ConfirmedBatch { events, effects } = self.stored.pop_front().unwrap_or_default();
        ConfirmedBatch {
            events,
            effects: self.in_world_time(effects),
        }
    }

    fn crash(&mut self, stored: usize) -> usize {
        let stored = stored.min(self.waiting.len());
        for WaitingBatch { batch, .. } in self.waiting.drain(..stored) {
            self.log
                .extend(batch.events.into_iter().map(|event| (batch.at, event)));
        }
        let lost = self.waiting.len() + self.fresh.len();
        self.waiting.clear();
        self.stored.clear();
        self.fresh.clear();
        self.driver = None;
        let mut shadow = (self.build)();
        for (at, event) in &self.log {
            shadow.apply(*at, event);
        }
        self.shadow = shadow;
        lost
    }

    fn lose_last_event(&mut self) {
        self.log.pop();
    }

    fn waiting(&self) -> usize {
        self.waiting.len()
    }

    fn deadline(&self) -> Option<Timestamp> {
        let deadline = self
            .driver
            .as_ref()
            .and_then(Driver::deadline)
            .map(|own| self.world_time(own));
        deadline.filter(|at| self.still_since.is_none_or(|since| *at <= since))
    }

    fn last_at(&self) -> Option<Timestamp> {
        self.log.last().map(|(at, _)| *at)
    }

    fn set_clock(&mut self, error_us: i64) {
        (self.clock_error_us, self.still_since) = (error_us, None);
    }

    fn stand_still(&mut self, from: Timestamp) {
        self.still_since = Some(self.still_since.map_or(from, |known| known.min(from)));
    }

    fn go_on(&mut self, now: Timestamp) {
        if let Some(since) = self.still_since.take() {
            self.clock_error_us -= (now.as_micros() - since.as_micros()).max(0);
        }
    }

    fn split_off(&mut self) -> Box<dyn Machine> {
        let fresh = Self {
            build: Rc::clone(&self.build),
            same: self.same,
            is_colocated: self.is_colocated.clone(),
            driver: None,
            shadow: (self.build)(),
            log: self.log.clone(),
            fresh: VecDeque::new(),
            waiting: VecDeque::new(),
            stored: VecDeque::new(),
            seed: self.seed,
            clock_error_us: 0,
            still_since: None,
            incarnation: self.incarnation,
            steps: self.steps,
            overdue_ticks: 0,
            appended: 0,
        };
        Box::new(std::mem::replace(self, fresh))
    }

    fn disk(&self) -> Vec<String> {
        self.log
            .iter()
            .map(|(at, event)| {
                let event = serde_json::to_string(event).unwrap_or_else(|e| e.to_string());
                format!("{} {event}", at.as_micros())
            })
            .collect()
    }
}

impl<A: Agent + fmt::Debug> fmt::Debug for Host<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host")
            .field("driver", &self.driver)
            .field("incarnation", &self.incarnation)
            .field("stored", &self.log.len())
            .field("waiting", &self.waiting.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::START;
    use matchday_core::agent::Step;
    use matchday_core::protocol::Sender;
    use matchday_core::protocol::decode::{Conformance, Limits};
    use std::time::Duration;

    /// Counts its inputs, and forgets to say so when it is `forgetful`.
    #[derive(Debug, Default)]
    struct Counter {
        count: u64,
        forgetful: bool,
        deadline: Option<Timestamp>,
    }

    impl Agent for Counter {
        type Event = u64;

        fn handle(&mut self, _: Timestamp, _: &mut Entropy, _: Input) -> Step<u64> {
            self.count += 1;
            let events = if self.forgetful {
                Vec::new()
            } else {
                vec![self.count]
            };
            Step {
                events,
                ..Step::default()
            }
        }

        fn apply(&mut self, _: Timestamp, event: &u64) {
            self.count = *event;
        }

        fn deadline(&self) -> Option<Timestamp> {
            self.deadline
        }

        fn sender(&self) -> Sender {
            Sender::Launcher
        }
    }

    impl EventDurability for Counter {}

    impl DecodeHints for Counter {
        fn reading(&self) -> (Conformance, Limits) {
            (Conformance::Strict, Limits::AGENT)
        }
    }

    fn host(forgetful: bool, deadline: Option<Timestamp>) -> Host<Counter> {
        let build = move || Counter {
            count: 0,
            forgetful,
            deadline,
        };
        Host::new(1, 0, None, build, |a, b| a.count == b.count)
    }

    /// A host that has started, and whose agent has had so many inputs since.
    fn started(inputs: usize) -> Host<Counter> {
        let mut host = host(false, None);
        host.start(START).unwrap();
        for _ in 0..inputs {
            host.arrive(START, START, Input::Tick, false).unwrap();
        }
        while host.append().is_some() {}
        host
    }

    #[test]
    fn a_crash_keeps_what_reached_the_disk_and_nothing_else() {
        let mut host = started(2);
        host.commit().unwrap();
        assert_eq!(host.crash(1), 1, "one step was lost");
        assert_eq!(host.shadow().count, 2);
        host.start(START).unwrap();
        assert_eq!(host.agent().unwrap().count, 3, "the start itself counts");
    }

    #[test]
    fn a_change_that_no_event_tells_of_is_noticed() {
        let fault = host(true, None).start(START).unwrap_err();
        assert_eq!(fault.checker, Checker::ReplayEqualsLive);
    }

    #[test]
    fn a_step_that_gets_out_before_the_events_of_earlier_ones_is_noticed() {
        let mut host = started(1);
        host.waiting.pop_front();
        assert_eq!(
            host.commit().unwrap_err().checker,
            Checker::DurableBeforeVisible
        );
    }

    #[test]
    fn an_agent_that_wants_to_be_woken_at_once_for_ever_is_noticed() {
        let mut host = host(false, Some(START));
        host.start(START).unwrap();
        let mut now = START;
        for _ in 1..OVERDUE_TICKS_MAX {
            now = host.deadline().unwrap().max(now);
            assert_eq!(host.poll(now), Ok(1));
        }
        let fault = host.poll(now + Duration::from_secs(1)).unwrap_err();
        assert_eq!(fault.checker, Checker::NoBusyLoop);
    }
}
