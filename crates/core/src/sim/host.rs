//! A simulated computer: runs one agent, stores its events on a slow disk, crashes, and starts again from that disk.
//!
//! A step's messages are handed out only once its events, and those of every step before it, are on the disk.

use super::failure::{Checker, Fault};
use crate::agent::{Agent, Input, Inquiry, Outgoing, Reply, Step};
use crate::entropy::Entropy;
use crate::protocol::{PlayerId, Timestamp};
use std::collections::VecDeque;
use std::fmt;

/// An agent on its computer. It outlives the agent's crashes.
pub struct Host<A: Agent> {
    build: Box<dyn Fn() -> A>,
    /// Whether what two agents must not forget is the same.
    same: fn(&A, &A) -> bool,
    /// `None` while it is down.
    agent: Option<A>,
    /// What the events alone make of a fresh agent. It must never differ from the live one.
    shadow: A,
    /// The events on the disk.
    log: Vec<(Timestamp, A::Event)>,
    /// The steps that wait for the disk, in order.
    waiting: VecDeque<Waiting<A::Event>>,
    seed: u64,
    /// By how much its clock is wrong, in microseconds.
    clock_error_us: i64,
    incarnation: u32,
    entropy: Entropy,
    steps: u64,
    /// How many events have been emitted in all, counting only those of steps that were not lost.
    emitted: usize,
}

struct Waiting<E> {
    /// Where in the log its last event will stand.
    log_end: usize,
    at: Timestamp,
    step: Step<E>,
}

/// What may be seen of a step.
#[derive(Debug, Default)]
pub struct Released {
    pub outbox: Vec<Outgoing>,
    pub replies: Vec<Reply>,
    pub inquiries: Vec<Inquiry>,
    pub events: usize,
}

/// Which parts of a step may go at once, because whoever hears of them forgets them together with the host.
pub trait Early {
    fn call(&self, outgoing: &Outgoing) -> bool;
    fn reply(&self, reply: &Reply) -> bool;
}

/// What the world may do with a host, whatever runs on it.
pub trait Machine {
    fn is_up(&self) -> bool;
    /// How often it has been started.
    fn incarnation(&self) -> u32;
    /// How many inputs its agent has handled, over all incarnations.
    fn steps(&self) -> u64;
    /// How many events are on its disk.
    fn stored(&self) -> usize;
    fn start(&mut self, now: Timestamp) -> Result<usize, Fault>;
    /// Hands an input to the agent; says how many events came of it.
    fn handle(&mut self, now: Timestamp, input: Input) -> Result<usize, Fault>;
    /// Takes out of the step made last what may go before the disk has heard of it.
    fn take_early(&mut self, early: &dyn Early) -> Released;
    /// The oldest waiting step reaches the disk.
    fn commit(&mut self) -> Result<Released, Fault>;
    /// The agent dies. Of the waiting steps, the first `stored` still reach the disk, but nothing of them gets out.
    fn crash(&mut self, stored: usize) -> usize;
    /// The disk forgets its last event, to show that the checkers notice.
    fn lose_last_event(&mut self);
    fn waiting(&self) -> usize;
    fn deadline(&self) -> Option<Timestamp>;
    /// Whose part alone of what is told to everyone its agent cares for.
    fn reads_about(&self) -> Option<PlayerId>;
    /// All that the disk holds, as a store would hold it.
    fn disk(&self) -> Vec<String>;
}

impl<A: Agent> Host<A> {
    pub fn new(
        seed: u64,
        clock_error_us: i64,
        build: impl Fn() -> A + 'static,
        same: fn(&A, &A) -> bool,
    ) -> Self {
        let shadow = build();
        Self {
            build: Box::new(build),
            same,
            agent: None,
            shadow,
            log: Vec::new(),
            waiting: VecDeque::new(),
            seed,
            clock_error_us,
            incarnation: 0,
            entropy: Entropy::numbered(seed),
            steps: 0,
            emitted: 0,
        }
    }

    pub fn agent(&self) -> Option<&A> {
        self.agent.as_ref()
    }

    /// What its events make of it, whether it is up or not.
    pub fn shadow(&self) -> &A {
        &self.shadow
    }

    pub fn log(&self) -> &[(Timestamp, A::Event)] {
        &self.log
    }

    /// What its own clock shows.
    fn own_time(&self, now: Timestamp) -> Timestamp {
        Timestamp::from_micros(now.as_micros().saturating_add(self.clock_error_us))
    }

    /// When its own clock shows this.
    fn world_time(&self, own: Timestamp) -> Timestamp {
        Timestamp::from_micros(own.as_micros().saturating_sub(self.clock_error_us))
    }

    fn in_world_time(&self, mut outbox: Vec<Outgoing>) -> Vec<Outgoing> {
        for outgoing in &mut outbox {
            outgoing.deadline = self.world_time(outgoing.deadline);
        }
        outbox
    }

    /// An agent as the disk alone makes it: every event goes through its stored form and back.
    fn replayed(&self) -> Result<A, Fault> {
        let mut agent = (self.build)();
        for (at, event) in &self.log {
            let stored = serde_json::to_string(event).map_err(|e| unreadable(event, &e))?;
            let read: A::Event = serde_json::from_str(&stored).map_err(|e| unreadable(event, &e))?;
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

    fn compare(&self, when: &str) -> Result<(), Fault> {
        match &self.agent {
            Some(agent) if !(self.same)(agent, &self.shadow) => Err(Fault::new(
                Checker::ReplayEqualsLive,
                format!("after {when} the live state is not what its events make of a fresh agent"),
            )),
            _ => Ok(()),
        }
    }
}

fn unreadable(event: &impl fmt::Debug, error: &serde_json::Error) -> Fault {
    Fault::new(Checker::ReplayEqualsLive, format!("an event does not survive the disk: {event:?}: {error}"))
}

impl<A: Agent> Machine for Host<A> {
    fn is_up(&self) -> bool {
        self.agent.is_some()
    }

    fn incarnation(&self) -> u32 {
        self.incarnation
    }

    fn reads_about(&self) -> Option<PlayerId> {
        self.agent.as_ref().and_then(A::reads_about).cloned()
    }

    fn steps(&self) -> u64 {
        self.steps
    }

    fn stored(&self) -> usize {
        self.log.len()
    }

    fn start(&mut self, now: Timestamp) -> Result<usize, Fault> {
        self.incarnation += 1;
        self.entropy = Entropy::numbered(self.seed ^ (u64::from(self.incarnation) << 48));
        self.emitted = self.log.len();
        self.shadow = self.replayed()?;
        self.agent = Some(self.replayed()?);
        self.compare("the restart")?;
        self.handle(now, Input::Wake)
    }

    fn handle(&mut self, now: Timestamp, input: Input) -> Result<usize, Fault> {
        let now = self.own_time(now);
        let Some(agent) = &mut self.agent else {
            return Ok(0);
        };
        self.steps += 1;
        let step = agent.handle(now, &mut self.entropy, input);
        for event in &step.events {
            self.shadow.apply(now, event);
        }
        let events = step.events.len();
        self.emitted += events;
        self.waiting.push_back(Waiting { log_end: self.emitted, at: now, step });
        self.compare("a step")?;
        Ok(events)
    }

    fn take_early(&mut self, early: &dyn Early) -> Released {
        let Some(Waiting { step, .. }) = self.waiting.back_mut() else {
            return Released::default();
        };
        let outbox = step.outbox.extract_if(.., |outgoing| early.call(outgoing)).collect();
        let replies = step.replies.extract_if(.., |reply| early.reply(reply)).collect();
        Released { outbox: self.in_world_time(outbox), replies, ..Released::default() }
    }

    fn commit(&mut self) -> Result<Released, Fault> {
        let Some(Waiting { log_end, at, step }) = self.waiting.pop_front() else {
            return Ok(Released::default());
        };
        let Step { events, outbox, replies, mut inquiries, .. } = step;
        let outbox = self.in_world_time(outbox);
        for inquiry in &mut inquiries {
            inquiry.until = self.world_time(inquiry.until);
        }
        let count = events.len();
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
        Ok(Released { outbox, replies, inquiries, events: count })
    }

    fn crash(&mut self, stored: usize) -> usize {
        for _ in 0..stored {
            if let Some(Waiting { at, step, .. }) = self.waiting.pop_front() {
                self.log.extend(step.events.into_iter().map(|event| (at, event)));
            }
        }
        let lost = self.waiting.len();
        self.waiting.clear();
        self.agent = None;
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
        self.agent.as_ref().and_then(Agent::deadline).map(|own| self.world_time(own))
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
            .field("agent", &self.agent)
            .field("incarnation", &self.incarnation)
            .field("stored", &self.log.len())
            .field("waiting", &self.waiting.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Sender;
    use crate::protocol::decode::{Conformance, Limits};
    use crate::sim::START;

    /// Counts its inputs, and forgets to say so when it is `forgetful`.
    #[derive(Debug, Default)]
    struct Counter {
        count: u64,
        forgetful: bool,
    }

    impl Agent for Counter {
        type Event = u64;

        fn handle(&mut self, _: Timestamp, _: &mut Entropy, _: Input) -> Step<u64> {
            self.count += 1;
            let events = if self.forgetful { Vec::new() } else { vec![self.count] };
            Step { events, ..Step::default() }
        }

        fn apply(&mut self, _: Timestamp, event: &u64) {
            self.count = *event;
        }

        fn deadline(&self) -> Option<Timestamp> {
            None
        }

        fn reading(&self) -> (Conformance, Limits) {
            (Conformance::Strict, Limits::AGENT)
        }

        fn sender(&self) -> Sender {
            Sender::Launcher
        }
    }

    fn host(forgetful: bool) -> Host<Counter> {
        Host::new(1, 0, move || Counter { count: 0, forgetful }, |a, b| a.count == b.count)
    }

    #[test]
    fn a_crash_keeps_what_reached_the_disk_and_nothing_else() {
        let mut host = host(false);
        host.start(START).unwrap();
        host.commit().unwrap();
        host.handle(START, Input::Tick).unwrap();
        host.handle(START, Input::Tick).unwrap();
        assert_eq!(host.crash(1), 1, "one step was lost");
        assert_eq!(host.shadow().count, 2);
        host.start(START).unwrap();
        assert_eq!(host.agent().unwrap().count, 3, "the start itself counts");
    }

    #[test]
    fn a_change_that_no_event_tells_of_is_noticed() {
        let fault = host(true).start(START).unwrap_err();
        assert_eq!(fault.checker, Checker::ReplayEqualsLive);
    }

    #[test]
    fn a_step_that_gets_out_before_the_events_of_earlier_ones_is_noticed() {
        let mut host = host(false);
        host.start(START).unwrap();
        host.handle(START, Input::Tick).unwrap();
        host.waiting.pop_front();
        assert_eq!(host.commit().unwrap_err().checker, Checker::DurableBeforeVisible);
    }
}
