//! The task that owns an agent: hands it what arrives, in order and with its time of arrival, and hands on what comes of
//! it. It never waits for the disk or for a peer: what it stores is in the system's hands, which bring it to disk later.

use super::budget::{Budget, Full};
use super::clock::Clock;
use super::inbox::{Arrived, ArrivedRequest, Inbox, ReplySlot};
use super::journal::{Entry, Journal, Level};
use super::kin::Kin;
use super::mind::Mind;
use super::notary::Notary;
use super::release::{Release, WayOut};
use super::rules::Rules;
use super::settling::Settling;
use crate::net::client::Client;
use crate::observe::Watch;
use crate::store::{Exchange, Store, Stream};
use matchday_core::agent::{Agent, Input, Outgoing, Request, RequestId, Signed, Step};
use matchday_core::census::Milestone;
use matchday_core::entropy::Entropy;
use matchday_core::league::Renewal;
use matchday_core::log;
use matchday_core::protocol::decode::{Conformance, Limits};
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::{Endpoint, PlayerId, Sender, Timestamp};
use std::collections::{BTreeMap, HashMap};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::watch;

/// What every part of one running agent can see.
#[derive(Debug)]
pub(super) struct Surroundings {
    pub(super) client: Client,
    pub(super) kin: Option<Kin>,
    pub(super) clock: Clock,
    pub(super) inbox: Inbox,
    pub(super) runtime: tokio::runtime::Handle,
    pub(super) conformance: Conformance,
    pub(super) limits: Limits,
    pub(super) named: watch::Receiver<Named>,
    pub(super) journal: Journal,
    /// What is counted and traced of it.
    pub(super) watch: Watch,
    pub(super) budget: Budget,
    /// Counts the steps that have become durable, for whoever shows what is.
    pub(super) changes: watch::Sender<u64>,
    /// Who decides for the agent, if it does not decide for itself.
    pub(super) mind: Option<Arc<dyn Mind>>,
    /// Who knows the rules of a game that the agent does not.
    pub(super) rules: Option<Arc<dyn Rules>>,
}

impl Surroundings {
    pub(super) fn name(&self) -> Sender {
        self.named.borrow().sender.clone()
    }

    /// Has an exchange stored, for replay.
    pub(super) fn record(&self, exchange: impl FnOnce() -> Exchange) {
        if let Err(Full(bytes)) = self.budget.keep(exchange) {
            let message = format!(
                "the store has {bytes} bytes: messages are no longer kept for replay, events are; for more, start again \
                 with a larger --exchanges-bytes-max"
            );
            self.journal.note(|| {
                Entry::new(self.clock.now(), self.name(), "record_full", message).level(Level::Warning)
            });
        }
    }
}

/// Who the agent is at present.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Named {
    /// How it signs.
    sender: Sender,
    /// Whose part alone it reads of what is told to everyone.
    pub(super) about: Option<PlayerId>,
}

impl Named {
    pub(super) fn of<A: Agent>(agent: &A) -> Self {
        Self { sender: agent.sender(), about: agent.reads_about().cloned() }
    }
}

/// What whoever holds the handle wants.
pub(super) enum Control<A> {
    Inspect(Box<dyn FnOnce(&A) + Send>),
    Stop,
}

/// An agent that wants to be ticked again at once gets other inputs in between.
const TICK_PAUSE: Duration = Duration::from_millis(1);
/// How many endpoints we remember to have understood us. An agent has far fewer peers.
const UNDERSTOOD_MAX: usize = 10_000;

pub(super) struct Driver<A: Agent> {
    agent: A,
    entropy: Entropy,
    way_out: WayOut,
    around: Arc<Surroundings>,
    named: watch::Sender<Named>,
    waiting: HashMap<RequestId, ReplySlot>,
    last_request: u64,
    /// The latest time that the agent has been told.
    latest: Timestamp,
    ticked_at: Option<Timestamp>,
    settling: Settling,
    /// What came after a deadline that is still settling, by the time it came and the order in which it was put in.
    held: BTreeMap<(Timestamp, u64), Arrived>,
    last_held: u64,
    /// In which dialect an endpoint has understood us. If it does not know a message in that, it does not know it.
    understood: HashMap<Endpoint, Dialect>,
    /// Signs for the agent, if a key is kept for it.
    notary: Option<Notary>,
}

impl<A: Agent> Driver<A> {
    pub(super) fn new(
        agent: A,
        entropy: Entropy,
        store: Store,
        stream: Stream,
        around: Arc<Surroundings>,
        named: watch::Sender<Named>,
        notary: Option<Notary>,
    ) -> Self {
        Self {
            agent,
            entropy,
            way_out: WayOut::new(store, stream, Arc::clone(&around)),
            named,
            waiting: HashMap::new(),
            last_request: 0,
            latest: around.clock.now(),
            ticked_at: None,
            settling: Settling::default(),
            held: BTreeMap::new(),
            last_held: 0,
            understood: HashMap::new(),
            notary,
            around,
        }
    }

    /// Until it is told to stop, or can store no more: then with the reason.
    pub(super) async fn run(
        mut self,
        mut arrivals: UnboundedReceiver<Arrived>,
        mut control: UnboundedReceiver<Control<A>>,
        home: &str,
        wakes: bool,
    ) -> Result<(), String> {
        self.note("started", Level::Info, || format!("listening on {home}"));
        if wakes {
            self.hand_in(self.around.clock.now(), Input::Wake);
        }
        let mut outcome = self.work(&mut arrivals, &mut control).await;
        if outcome.is_ok() {
            outcome = self.way_out.drained().await;
        }
        match &outcome {
            Ok(()) => self.note("stopped", Level::Info, || "stopped in good order".to_owned()),
            Err(why) => self.note("store_failed", Level::Error, || format!("stopped: {why}")),
        }
        outcome
    }

    async fn work(
        &mut self,
        arrivals: &mut UnboundedReceiver<Arrived>,
        control: &mut UnboundedReceiver<Control<A>>,
    ) -> Result<(), String> {
        // One for all, and moved only if it would come too late: deadlines move on with every step, and most are never
        // reached. One look too many now and then costs less.
        let mut alarm = pin!(tokio::time::sleep(Duration::ZERO));
        loop {
            tokio::task::coop::consume_budget().await;
            let next = self.next_due().map(|at| self.around.clock.instant(at));
            if let Some(at) = next.filter(|at| *at < alarm.deadline() || alarm.is_elapsed()) {
                alarm.as_mut().reset(at);
            }
            tokio::select! {
                biased;
                command = control.recv() => match command {
                    Some(Control::Inspect(look)) => look(&self.agent),
                    Some(Control::Stop) | None => return Ok(()),
                },
                () = alarm.as_mut(), if next.is_some() => self.pass_time(arrivals)?,
                Some(arrived) = arrivals.recv() => self.admit(arrived)?,
            }
        }
    }

    /// When to look at the clock even if nothing arrives.
    fn next_due(&self) -> Option<Timestamp> {
        let earliest = self.ticked_at.map(|at| at + TICK_PAUSE);
        self.agent.deadline().map(|deadline| match deadline > self.latest {
            true => self.settling.look_at(deadline),
            false => earliest.map_or(deadline, |at| deadline.max(at)),
        })
    }

    /// Takes in what has arrived, unless it came after a deadline that is still settling: then it has to wait.
    fn admit(&mut self, arrived: Arrived) -> Result<(), String> {
        if let Arrived::Answer { call, deadline, .. } = &arrived {
            self.settling.ended(*call, *deadline);
        }
        match arrived.at() {
            None => self.take_in(arrived),
            Some(at) if self.held.is_empty() && self.advance(at) => self.take_in(arrived),
            Some(at) => {
                self.last_held += 1;
                self.held.insert((at, self.last_held), arrived);
                self.hand_on()
            }
        }
    }

    /// Takes in what has waited long enough, in the order in which it came.
    fn hand_on(&mut self) -> Result<(), String> {
        while let Some((&(at, _), _)) = self.held.first_key_value() {
            if !self.advance(at) {
                break;
            }
            if let Some((_, arrived)) = self.held.pop_first() {
                self.take_in(arrived)?;
            }
        }
        Ok(())
    }

    /// Lets time pass for the agent until `at`, deadline by deadline, as far as these are over. Whether all are. One that
    /// lies in what is past for the agent already has nothing to wait for.
    fn advance(&mut self, at: Timestamp) -> bool {
        while let Some(deadline) = self.agent.deadline().filter(|due| *due > self.latest && *due <= at) {
            match self.settling.over(deadline, self.around.clock.now()) {
                Some(until) => self.tick(until.min(at)),
                None => return false,
            }
        }
        true
    }

    /// Time has passed: first what arrived meanwhile, then the tick that is due.
    fn pass_time(&mut self, arrivals: &mut UnboundedReceiver<Arrived>) -> Result<(), String> {
        let now = self.around.clock.now();
        while let Ok(arrived) = arrivals.try_recv() {
            self.admit(arrived)?;
        }
        self.hand_on()?;
        if self.advance(now) {
            self.tick_if_overdue();
        }
        Ok(())
    }

    /// What the agent wanted to be ticked for at once.
    fn tick_if_overdue(&mut self) {
        if self.agent.deadline().is_some_and(|deadline| deadline <= self.latest) {
            self.tick(self.latest);
        }
    }

    fn tick(&mut self, at: Timestamp) {
        self.ticked_at = Some(self.around.clock.now());
        self.hand_in(at, Input::Tick);
    }

    fn take_in(&mut self, arrived: Arrived) -> Result<(), String> {
        match arrived {
            Arrived::Request(request) => self.take_request(request),
            Arrived::Answer { at, call, understood_by, dialect, answer, .. } => {
                self.tick_if_overdue();
                if let Some(endpoint) = understood_by {
                    self.remember(endpoint, dialect);
                }
                self.hand_in(at, Input::Answer { call, dialect, answer });
            }
            Arrived::Decision { at, inquiry, decision } => {
                self.tick_if_overdue();
                self.hand_in(at, Input::Decided { inquiry, decision });
            }
            Arrived::StoreFailed(why) => return Err(why),
        }
        Ok(())
    }

    fn take_request(&mut self, arrived: ArrivedRequest) {
        let ArrivedRequest { at, ask, dialect, local, objection, client, join_code, reply } = arrived;
        self.tick_if_overdue();
        self.last_request += 1;
        let id = RequestId(self.last_request);
        self.waiting.insert(id, reply);
        let client = Some(client);
        self.hand_in(at, Input::Request(Request { id, ask, dialect, local, objection, client, join_code }));
    }

    fn remember(&mut self, endpoint: Endpoint, dialect: Dialect) {
        if self.understood.len() >= UNDERSTOOD_MAX {
            self.understood.clear();
        }
        self.understood.insert(endpoint, dialect);
    }

    /// One step of the agent, and then those in which it hears of what was signed for it.
    fn hand_in(&mut self, at: Timestamp, input: Input) {
        self.step(at, input);
        while let Some(signed) = self.sign() {
            self.step(self.latest, Input::Signed(signed));
        }
    }

    fn sign(&mut self) -> Option<Signed> {
        let notary = self.notary.as_mut()?;
        notary.sign(&self.agent.signing()?, &mut self.entropy)
    }

    /// Times never run backwards for the agent, whatever the order in which threads came to the inbox.
    fn step(&mut self, at: Timestamp, input: Input) {
        self.latest = self.latest.max(at);
        let Step { events, outbox, replies, inquiries, appeals } =
            self.agent.handle(self.latest, &mut self.entropy, input);
        for outgoing in &outbox {
            self.settling.called(outgoing.call, outgoing.deadline);
        }
        for milestone in events.iter().filter_map(A::milestone) {
            self.around.watch.reached(self.latest, &milestone, || self.agent.sender());
            self.around.journal.note_if(|| Entry::of_milestone(self.latest, self.agent.sender(), &milestone));
            if let Milestone::RegistrationRenewed(renewal) = milestone {
                self.note("registration_renewed", Level::Warning, || words(renewal));
            }
        }
        let can_wait = events.iter().all(A::can_wait);
        let lines: Result<Vec<_>, _> = events.iter().map(|event| log::write(self.latest, event)).collect();
        let release = Release {
            calls: outbox.into_iter().map(|outgoing| self.with_licence(outgoing)).collect(),
            replies: replies
                .into_iter()
                .filter_map(|reply| Some((self.waiting.remove(&reply.to)?, reply.content)))
                .collect(),
            inquiries,
            appeals,
        };
        match lines {
            Ok(lines) => {
                if let Some(notary) = &mut self.notary {
                    notary.extend(&lines);
                }
                self.way_out.take(lines, can_wait, release);
            }
            // An event that cannot be written is as good as a disk that cannot.
            Err(error) => self.way_out.close(error.to_string()),
        }
        self.announce_name();
    }

    fn with_licence(&self, outgoing: Outgoing) -> (Outgoing, bool) {
        let understood = self.understood.get(&outgoing.to) == Some(&outgoing.dialect);
        (outgoing, !understood)
    }

    /// An agent signs otherwise once it is registered.
    fn announce_name(&mut self) {
        let named = Named::of(&self.agent);
        if *self.named.borrow() != named {
            self.note("registered", Level::Info, || format!("registered as {}", named.sender));
            self.named.send_replace(named);
        }
    }

    fn note(&self, event_type: &'static str, level: Level, message: impl FnOnce() -> String) {
        let around = &self.around;
        around
            .journal
            .note(|| Entry::new(around.clock.now(), self.agent.sender(), event_type, message()).level(level));
    }
}

/// What whoever runs the league should know: the agent was restarted, or somebody else passes for it.
fn words(renewal: Renewal<'_>) -> String {
    let from = renewal.client.map_or_else(String::new, |client| format!(" from {client}"));
    format!("{} registered again{from}, known by {}", renewal.id, renewal.by.name())
}
