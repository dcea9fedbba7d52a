//! The sans-IO driver of an agent: what the program and the simulator do alike, without clock, network or disk.
//!
//! [`Driver`] hands arrivals to the agent in the order of their times, ticks its deadlines one by one behind the
//! `deadline_barrier`, and returns a [`Batch`] for each step: lines to append to the agent's log, and effects to carry out
//! once these are in order, or durable. `CallAttempts` is the same for a call: which dialect to try next.
//!
//! What is left to the caller:
//! 1. apply the stored events to the agent before [`Driver::new`], and begin with [`Driver::wake`];
//! 2. append the batches of every call in order, and release their effects as [`Batch`] says;
//! 3. hand in what arrives with its time of arrival, and [`Driver::poll`] when [`Driver::deadline`] has come;
//! 4. end every call by its deadline and hand in its [`Input::Answer`].

mod batch;
mod call_attempts;
mod deadline_barrier;
mod durability;
mod exchange_outcome;

pub use batch::{Batch, Call, Effects};
pub use call_attempts::{CallAttempts, Understood};
pub use durability::{Durability, EventDurability};
pub use exchange_outcome::ExchangeOutcome;

use crate::agent::{
    Agent, Answer, CallId, Input, Outgoing, Payload, RequestId, Signed, Signing, SigningDue, Step,
};
use crate::entropy::Entropy;
use crate::event_codec::{self, EventCodecError};
use crate::protocol::dialect::Dialect;
use crate::protocol::{Endpoint, Timestamp};
use deadline_barrier::DeadlineBarrier;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// An agent that wants to be ticked again at once gets other inputs in between.
const TICK_PAUSE: Duration = Duration::from_millis(1);
/// How many endpoints we remember to have understood us. An agent has far fewer peers.
const UNDERSTOOD_MAX: usize = 10_000;
/// How long a message that an endpoint understood in no dialect is sent to it in one dialect only. After that the agent there
/// may be another.
const NOT_UNDERSTOOD_FOR: Duration = Duration::from_secs(60);

/// Something for the agent.
#[derive(Debug)]
pub struct Arrival {
    /// When it arrived, which may be some time before it is handed in.
    pub at: Timestamp,
    /// What the agent is to handle.
    pub input: Input,
    /// Whether it is a request of a colocated agent.
    pub from_colocated: bool,
}

impl Arrival {
    /// From a peer that is not colocated, or from the driver itself.
    pub fn new(at: Timestamp, input: Input) -> Self {
        Self {
            at,
            input,
            from_colocated: false,
        }
    }
}

/// Tells the endpoints of colocated agents: those that share the log, and so lose together what a crash takes.
pub type IsColocated = Arc<dyn Fn(&Endpoint) -> bool + Send + Sync>;

/// An event that cannot be encoded ends the agent, as a log that cannot be written does.
pub type Batches<A> = Result<Vec<Batch<<A as Agent>::Event>>, EventCodecError>;

/// Runs one agent: orders its inputs, ticks its deadlines, makes batches of its steps.
pub struct Driver<A: Agent> {
    agent: A,
    entropy: Entropy,
    /// `None`: it shares its log with nobody.
    is_colocated: Option<IsColocated>,
    /// The latest time that the caller and that the agent has been told. Neither runs backwards.
    now: Timestamp,
    agent_time: Timestamp,
    ticked_at: Option<Timestamp>,
    barrier: DeadlineBarrier,
    /// What arrived after a deadline that is behind the barrier, by its time and the order in which it was handed in.
    held: BTreeMap<(Timestamp, u64), Arrival>,
    last_held: u64,
    calls: BTreeMap<CallId, OpenCall>,
    /// The dialect in which an endpoint has understood us.
    understood: BTreeMap<Endpoint, Dialect>,
    /// What an endpoint has understood in no dialect, and until when it is not asked in all of them again.
    not_understood: BTreeMap<(Endpoint, &'static str), Timestamp>,
    /// Requests of colocated agents that wait for their reply.
    colocated_requests: BTreeSet<RequestId>,
}

#[derive(Debug)]
struct OpenCall {
    deadline: Timestamp,
    /// Whom which type of message goes to. An answer to a probe does not show that it was understood.
    addressee: Option<(Endpoint, &'static str)>,
    try_dialects: bool,
}

impl<A: EventDurability> Driver<A> {
    /// `agent` has applied its stored events. `is_colocated`: if it shares its log with other agents.
    pub fn new(
        agent: A,
        entropy: Entropy,
        now: Timestamp,
        is_colocated: Option<IsColocated>,
    ) -> Self {
        Self {
            agent,
            entropy,
            is_colocated,
            now,
            agent_time: now,
            ticked_at: None,
            barrier: DeadlineBarrier::default(),
            held: BTreeMap::new(),
            last_held: 0,
            calls: BTreeMap::new(),
            understood: BTreeMap::new(),
            not_understood: BTreeMap::new(),
            colocated_requests: BTreeSet::new(),
        }
    }

    /// The agent in its present state, to be read.
    pub fn agent(&self) -> &A {
        &self.agent
    }

    /// The first step after a start: the agent takes up what its stored events left open.
    pub fn wake(&mut self, now: Timestamp) -> Batches<A> {
        self.pass(now);
        let mut batches = Vec::new();
        self.step(now, Input::Wake, &mut batches)?;
        Ok(batches)
    }

    /// When to [`poll`](Self::poll), if nothing arrives before.
    pub fn deadline(&self) -> Option<Timestamp> {
        let earliest = self.ticked_at.map(|at| at + TICK_PAUSE);
        self.agent.deadline().map(|deadline| {
            if deadline > self.agent_time {
                self.barrier.check_at(deadline)
            } else {
                earliest.map_or(deadline, |at| deadline.max(at))
            }
        })
    }

    /// Takes in what has arrived, unless it came after a deadline that is still behind the barrier: then it is held.
    pub fn arrive(&mut self, now: Timestamp, arrival: Arrival) -> Batches<A> {
        self.pass(now);
        let mut batches = Vec::new();
        if let Input::Answer { call, .. } = &arrival.input
            && let Some(open) = self.calls.get(call)
        {
            self.barrier.call_ended(*call, open.deadline);
        }
        if self.held.is_empty() && self.advance(arrival.at, &mut batches)? {
            self.take_in(arrival, &mut batches)?;
        } else {
            self.last_held += 1;
            self.held.insert((arrival.at, self.last_held), arrival);
            self.take_in_held(&mut batches)?;
        }
        Ok(batches)
    }

    /// Time has passed. Whatever arrived before `now` and has reached the caller must have been handed in.
    pub fn poll(&mut self, now: Timestamp) -> Batches<A> {
        self.pass(now);
        let mut batches = Vec::new();
        self.take_in_held(&mut batches)?;
        if self.advance(now, &mut batches)? {
            self.tick_if_overdue(&mut batches)?;
        }
        Ok(batches)
    }

    /// Has `sign` sign what is due, and tells the agent. To be called after each batch until nothing comes of it, by a caller
    /// that keeps a key.
    pub fn sign(
        &mut self,
        sign: impl FnOnce(&SigningDue<'_>, &mut Entropy) -> Option<Signed>,
    ) -> Batches<A>
    where
        A: Signing,
    {
        let mut batches = Vec::new();
        let signed = self
            .agent
            .signing()
            .and_then(|due| sign(&due, &mut self.entropy));
        if let Some(signed) = signed {
            self.step(self.agent_time, Input::Signed(signed), &mut batches)?;
        }
        Ok(batches)
    }

    fn pass(&mut self, now: Timestamp) {
        self.now = self.now.max(now);
    }

    /// Takes in what was held and is no longer behind the barrier, in the order of arrival.
    fn take_in_held(&mut self, batches: &mut Vec<Batch<A::Event>>) -> Result<(), EventCodecError> {
        while let Some((&(at, _), _)) = self.held.first_key_value() {
            if !self.advance(at, batches)? {
                break;
            }
            if let Some((_, arrival)) = self.held.pop_first() {
                self.take_in(arrival, batches)?;
            }
        }
        Ok(())
    }

    /// Lets time pass for the agent until `at`, deadline by deadline, as far as these are past the barrier. Whether all are.
    /// One that lies in what is past for the agent already has nothing to wait for.
    fn advance(
        &mut self,
        at: Timestamp,
        batches: &mut Vec<Batch<A::Event>>,
    ) -> Result<bool, EventCodecError> {
        while let Some(deadline) = self
            .agent
            .deadline()
            .filter(|due| *due > self.agent_time && *due <= at)
        {
            match self.barrier.passed(deadline, self.now) {
                Some(until) => self.tick(until.min(at), batches)?,
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Ticks an agent whose deadline lies in what is past for it: it wanted to be ticked at once.
    fn tick_if_overdue(
        &mut self,
        batches: &mut Vec<Batch<A::Event>>,
    ) -> Result<(), EventCodecError> {
        if self
            .agent
            .deadline()
            .is_some_and(|deadline| deadline <= self.agent_time)
        {
            self.tick(self.agent_time, batches)
        } else {
            Ok(())
        }
    }

    fn tick(
        &mut self,
        at: Timestamp,
        batches: &mut Vec<Batch<A::Event>>,
    ) -> Result<(), EventCodecError> {
        self.ticked_at = Some(self.now);
        self.step(at, Input::Tick, batches)
    }

    fn take_in(
        &mut self,
        arrival: Arrival,
        batches: &mut Vec<Batch<A::Event>>,
    ) -> Result<(), EventCodecError> {
        self.tick_if_overdue(batches)?;
        let Arrival {
            at,
            input,
            from_colocated,
        } = arrival;
        match &input {
            Input::Request(request) if from_colocated => {
                self.colocated_requests.insert(request.id);
            }
            Input::Answer {
                call,
                dialect,
                answer,
            } => self.call_ended(*call, *dialect, answer),
            _ => {}
        }
        self.step(at, input, batches)
    }

    fn call_ended(&mut self, call: CallId, dialect: Dialect, answer: &Answer) {
        let Some(OpenCall {
            addressee: Some(addressee),
            try_dialects,
            ..
        }) = self.calls.remove(&call)
        else {
            return;
        };
        if self.understood.len().max(self.not_understood.len()) >= UNDERSTOOD_MAX {
            self.understood.clear();
            self.not_understood.clear();
        }
        match answer {
            Answer::Message(_) | Answer::Received => {
                self.understood.insert(addressee.0, dialect);
            }
            Answer::NotUnderstood(_) if try_dialects => {
                self.not_understood
                    .insert(addressee, self.now + NOT_UNDERSTOOD_FOR);
            }
            _ => {}
        }
    }

    /// Whether other dialects may follow this one: not where the endpoint is known to understand it, nor where all were tried
    /// in vain.
    fn may_try_dialects(&self, addressee: &(Endpoint, &'static str), dialect: Dialect) -> bool {
        self.understood.get(&addressee.0) != Some(&dialect)
            && self
                .not_understood
                .get(addressee)
                .is_none_or(|until| *until <= self.now)
    }

    fn step(
        &mut self,
        at: Timestamp,
        input: Input,
        batches: &mut Vec<Batch<A::Event>>,
    ) -> Result<(), EventCodecError> {
        self.agent_time = self.agent_time.max(at);
        let at = self.agent_time;
        let step = self.agent.handle(at, &mut self.entropy, input);
        let Step {
            events,
            outbox,
            replies,
            decision_requests,
            rules_requests,
        } = step;
        let lines = events
            .iter()
            .map(|event| event_codec::encode(at, event))
            .collect::<Result<_, _>>()?;
        let durability = events
            .iter()
            .map(A::durability)
            .max()
            .unwrap_or(Durability::Written);
        let mut when_ordered = Effects::default();
        let mut when_durable = Effects {
            decision_requests,
            rules_requests,
            ..Effects::default()
        };
        for outgoing in outbox {
            let colocated = self
                .is_colocated
                .as_ref()
                .is_some_and(|is_colocated| is_colocated(&outgoing.to));
            let effects = if colocated {
                &mut when_ordered
            } else {
                &mut when_durable
            };
            effects.calls.push(self.call(outgoing));
        }
        for reply in replies {
            let colocated = self.colocated_requests.remove(&reply.to);
            let effects = if colocated {
                &mut when_ordered
            } else {
                &mut when_durable
            };
            effects.replies.push(reply);
        }
        batches.push(Batch {
            at,
            events,
            lines,
            durability,
            when_ordered,
            when_durable,
        });
        Ok(())
    }

    fn call(&mut self, outgoing: Outgoing) -> Call {
        let Outgoing {
            call,
            to,
            dialect,
            payload,
            deadline,
        } = &outgoing;
        let deadline = deadline.resolve(self.now);
        self.barrier.call_started(*call, deadline);
        let addressee = match payload {
            Payload::Message(message) => Some((to.clone(), message.names().0)),
            Payload::Probe | Payload::Connect => None,
        };
        let try_dialects = addressee
            .as_ref()
            .is_some_and(|to| self.may_try_dialects(to, *dialect));
        self.calls.insert(
            *call,
            OpenCall {
                deadline,
                addressee,
                try_dialects,
            },
        );
        Call {
            outgoing,
            try_dialects,
        }
    }
}

impl<A: Agent + fmt::Debug> fmt::Debug for Driver<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut it = f.debug_struct("Driver");
        it.field("agent", &self.agent)
            .field("held", &self.held.len())
            .field("calls", &self.calls.len());
        it.finish_non_exhaustive()
    }
}
