//! Runs an agent of the core over real HTTP with a durable store: the driver that the core's contract asks for.
//!
//! One task owns the agent; nothing else ever sees it, so there is nothing to lock. Around it:
//! - [`clock`], `chance`: time and entropy, which the core does not have
//! - `inbox`: what has arrived, in order and within bounds; `driver`: the task that hands it to the agent; `settling`: when a
//!   deadline is over
//! - `release`: what may be seen outside once a step is durable; [`kin`]: who is not outside
//! - `applicant`: whether the endpoint that a registration names may be called
//! - `door`: requests of peers; `reception`: the one way by which they reach the agent; `call`: calls of our own
//! - `pace`: how much one address may ask; `subject`: what a message is about; `schemas`: what the agent says about the messages it speaks
//! - `notary`: signs the head of the hash chain, where a key is kept for the agent
//! - [`mind`]: who decides for an agent that does not decide for itself
//! - [`journal`]: one line for each thing that happens; `log_writer`: writes them without blocking anyone; `record`, `budget`:
//!   exchanges as they are kept, and how many
//! - `probe`: the agent as it is watched from outside
//! - [`handle`]: what is left in the hands of whoever started the agent

mod applicant;
mod budget;
mod call;
mod chance;
pub mod clock;
mod door;
mod driver;
pub mod handle;
mod inbox;
mod join_code;
pub mod journal;
pub mod kin;
mod log_writer;
pub mod mind;
mod notary;
mod pace;
mod probe;
mod reception;
mod record;
mod release;
pub mod rules;
mod schemas;
mod settling;
mod subject;

pub use chance::{NoEntropy, entropy_from_system, entropy_numbered};
pub use clock::Clock;
use door::Beside;
pub(crate) use door::Door;
pub use handle::{Handle, Stopped};
pub(crate) use join_code::JoinCode;
pub use journal::Journal;
pub use kin::Kin;
pub use mind::Mind;
pub(crate) use reception::{Caller, NoReply, Reception};
pub use record::redacted;
#[cfg(test)]
pub(crate) use record::{MATCH_BYTES_MAX, NOTICE_BYTES_MAX};
pub use rules::Rules;

use crate::dashboard::Dashboard;
use crate::net::client::Client;
use crate::net::guard::{Allowed, Guard};
use crate::net::server::{self, Terms};
use crate::net::wire::Listen;
use crate::observe::{Observed, Probe, Vitals, Watch};
use crate::seat::Seats;
use crate::store::checkpoint_keys::CheckpointKeys;
use crate::store::{Store, StoreError, Stream};
use budget::Budget;
use driver::{Driver, Named, Surroundings};
use inbox::Inbox;
use matchday_core::agent::Agent;
use matchday_core::entropy::Entropy;
use matchday_core::log::{self, LogError};
use notary::Notary;
use pace::Pace;
use probe::AgentProbe;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

/// What whoever runs an agent decides about its surroundings.
#[derive(Debug, Clone)]
pub struct Options {
    /// The agents of one process share it, and so their connections and how many calls they make at once.
    pub client: Client,
    /// The other agents that write to the same store, in the same process. With them it calls with a client of their own.
    pub kin: Option<Kin>,
    /// The agents of one process share it, and so their time.
    pub clock: Clock,
    pub entropy: Entropy,
    /// How many requests may wait for the agent or for their reply.
    pub inbox_len: usize,
    /// How many requests a second one address may make, 0 for any number. `None`: some thousands, and any number from
    /// this machine itself.
    pub requests_per_address: Option<u32>,
    /// On what terms connections are taken, and whether over TLS.
    pub terms: Terms,
    /// How long a peer may take to send the body of a request.
    pub body_timeout: Duration,
    /// Whether requests and answers are kept word for word, without tokens.
    pub record_exchanges: bool,
    /// Up to which size of the store they are.
    pub exchanges_bytes_max: u64,
    /// How long a message may be that is read, if not as the agent says.
    pub message_bytes_max: Option<usize>,
    /// By which names, and from which pages, the agent may be called beyond those of its address.
    pub allowed: Allowed,
    pub journal: Journal,
    /// Who decides for the agent, if it does not decide for itself.
    pub mind: Option<Arc<dyn Mind>>,
    /// Who knows the rules of a game that a referee does not.
    pub rules: Option<Arc<dyn Rules>>,
    /// Seats at the agent's own address, if it is a manager that has some.
    pub seats: Option<Arc<Seats>>,
    /// The agents of one process share it.
    pub observed: Observed,
    /// What people see in a browser at the agent's own address, if it is a manager that shows its league there.
    pub dashboard: Option<Arc<Dashboard>>,
    /// What a manager signs checkpoints with, if it is to.
    pub checkpoint_keys: Option<CheckpointKeys>,
}

impl Options {
    pub fn new(entropy: Entropy) -> Self {
        Self {
            client: Client::new(),
            kin: None,
            clock: Clock::start(),
            entropy,
            inbox_len: 1024,
            requests_per_address: None,
            terms: Terms::default(),
            body_timeout: Duration::from_secs(10),
            record_exchanges: true,
            exchanges_bytes_max: 1 << 30,
            message_bytes_max: None,
            allowed: Allowed::default(),
            journal: Journal::silent(),
            mind: None,
            rules: None,
            seats: None,
            observed: Observed::default(),
            dashboard: None,
            checkpoint_keys: None,
        }
    }
}

/// Why an agent could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("cannot read the events of {stream}: {error}")]
    Unreadable { stream: String, error: StoreError },
    #[error("event {number} of {stream} cannot be understood: {error}")]
    Foreign { stream: String, number: usize, error: LogError },
    #[error("the listening socket has no address: {0}")]
    NoAddress(std::io::Error),
}

/// Brings `agent` to where its stored events left it, wakes it, and runs it until it is shut down or its store fails.
pub fn run<A, L>(
    mut agent: A,
    listener: L,
    store: Store,
    stream: Stream,
    mut options: Options,
) -> Result<Handle<A>, StartError>
where
    A: Agent + Send + 'static,
    A::Event: Send,
    L: Listen,
{
    let watch = watch(&agent, &options);
    replay(&mut agent, &store, &stream, &watch)?;
    let notary = options.checkpoint_keys.take().map(|keys| Notary::new(keys, &store, &stream));
    let notary =
        notary.transpose().map_err(|error| StartError::Unreadable { stream: stream.0.to_string(), error })?;
    let address = listener.local_addr().map_err(StartError::NoAddress)?;
    let mut terms = options.terms.clone();
    terms.open = Arc::clone(&options.observed.metrics.connections);
    let scheme = if terms.tls.is_some() { "https" } else { "http" };
    let start = Start { address, home: format!("{scheme}://{address}/mcp"), wakes: true, watch };
    let serving = |door, closing| tokio::spawn(serve(door, listener, terms, closing));
    Ok(begin(agent, start, store, stream, options, notary, serving).handle)
}

/// An agent without a socket of its own: whoever has one hands its requests to the door.
pub(crate) struct Hosted<A> {
    pub(crate) handle: Handle<A>,
    pub(crate) door: Arc<Door>,
    /// Changes whenever something that the agent must not forget has become durable.
    pub(crate) changes: watch::Receiver<u64>,
}

/// Where an agent is, and how it begins.
pub(crate) struct Start {
    /// Of the socket that its requests come to.
    pub(crate) address: SocketAddr,
    /// Where it is called, for the journal.
    pub(crate) home: String,
    /// Whether it is woken, or only answers.
    pub(crate) wakes: bool,
    /// What has seen its events so far.
    pub(crate) watch: Watch,
}

/// Like [`run`], behind somebody else's socket. `agent` must have been brought to where its events left it.
pub(crate) fn host<A>(agent: A, start: Start, store: Store, stream: Stream, options: Options) -> Hosted<A>
where
    A: Agent + Send + 'static,
    A::Event: Send,
{
    let serving = |door, closing| tokio::spawn(close_with(door, closing));
    begin(agent, start, store, stream, options, None, serving)
}

fn begin<A>(
    agent: A,
    start: Start,
    store: Store,
    stream: Stream,
    options: Options,
    notary: Option<Notary>,
    serving: impl FnOnce(Arc<Door>, watch::Receiver<bool>) -> JoinHandle<()>,
) -> Hosted<A>
where
    A: Agent + Send + 'static,
    A::Event: Send,
{
    let Start { address, home, wakes, watch } = start;
    let runtime = tokio::runtime::Handle::current();
    store.tell_from(&runtime);
    let (inbox, arrivals) = Inbox::new(options.inbox_len);
    let (controls, control) = mpsc::unbounded_channel();
    let (close, closing) = watch::channel(false);
    let close = Arc::new(close);
    let (name, named) = watch::channel(Named::of(&agent));
    let (conformance, mut limits) = agent.reading();
    limits.message_bytes_max = options.message_bytes_max.unwrap_or(limits.message_bytes_max);
    let kin = options.kin.filter(|kin| kin.is_of(&store));
    let at_home = kin.as_ref().map(|kin| kin.settle(&home));
    let around = Arc::new(Surroundings {
        client: kin.as_ref().map_or(options.client, Kin::client),
        kin,
        clock: options.clock,
        inbox,
        runtime,
        conformance,
        limits,
        named,
        journal: options.journal,
        watch,
        budget: Budget::new(&store, options.record_exchanges.then_some(options.exchanges_bytes_max)),
        changes: watch::Sender::new(0),
        mind: options.mind,
        rules: options.rules,
    });
    let reception = Arc::new(Reception::new(Arc::clone(&around), address));
    let guard = Guard::new(address, options.allowed);
    let changes = reception.changes();
    let pace = Pace::new(options.requests_per_address);
    let probe: Arc<dyn Probe> = Arc::new(AgentProbe::new(&around, &controls, &store));
    options.observed.metrics.watch(&probe);
    let vitals = Vitals { observed: options.observed, probe };
    let beside = Beside { seats: options.seats, dashboard: options.dashboard };
    let door = Arc::new(Door::new(reception, guard, pace, options.body_timeout, beside, vitals));
    let serving = serving(Arc::clone(&door), closing);
    let driver = Driver::new(agent, options.entropy, store, stream, around, name, notary);
    let ending = Arc::clone(&close);
    let driving = tokio::spawn(async move {
        let outcome = driver.run(arrivals, control, &home, wakes).await;
        drop(at_home);
        let _ = ending.send(true);
        outcome
    });
    let handle = Handle::new(address, controls, close, serving, driving);
    Hosted { handle, door, changes }
}

async fn serve(door: Arc<Door>, listener: impl Listen, terms: Terms, closing: watch::Receiver<bool>) {
    let visited = Arc::clone(&door);
    let handler = move |request, peer| Arc::clone(&visited).answer(request, peer);
    let serving = server::serve(listener, terms, handler, closing.clone());
    tokio::join!(serving, close_with(door, closing));
}

/// Streams have no end of their own, and would be waited for.
async fn close_with(door: Arc<Door>, mut closing: watch::Receiver<bool>) {
    let _ = closing.wait_for(|&closing| closing).await;
    door.close().await;
}

/// What is to be counted and traced of an agent that is about to be started.
pub(crate) fn watch<A: Agent>(agent: &A, options: &Options) -> Watch {
    Watch::over(&agent.sender(), &options.observed)
}

/// Brings an agent to where its stored events left it.
pub(crate) fn replay<A: Agent>(
    agent: &mut A,
    store: &Store,
    stream: &Stream,
    watch: &Watch,
) -> Result<(), StartError> {
    let name = || stream.0.to_string();
    let events = store.load(stream).map_err(|error| StartError::Unreadable { stream: name(), error })?;
    for (before, stored) in events.iter().enumerate() {
        let (at, event) = log::read(&stored.line).map_err(|error| StartError::Foreign {
            stream: name(),
            number: before + 1,
            error,
        })?;
        agent.apply(at, &event);
        if let Some(milestone) = A::milestone(&event) {
            watch.past(at, &milestone);
        }
    }
    Ok(())
}
