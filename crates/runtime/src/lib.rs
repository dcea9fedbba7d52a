//! Runs an agent of the core over HTTP with a durable store.
//!
//! One task owns the agent; nothing else ever sees it, so there is nothing to lock. In reading order:
//! - [`clock`], `entropy`: time and entropy, which the core does not have
//! - `http`: routes of the agent's address; [`surface`]: what else is mounted there; `intake`: the one way of a request to the
//!   agent; `inbox`: what has arrived, within bounds
//! - `driver`: the task that owns the agent; `outbox`: commit, then send; `local_routes`: the agents of one process
//! - [`deciders`]: programs and language models that decide for a player
//! - `call`: calls of our own; [`decider`], [`rules`]: external deciders and game programs, called by `external_calls`;
//!   `checkpoint_signer`
//! - `context`: what all of these can see; `message_meta`: what a message is about; `schemas`: JSON Schemas and OpenRPC
//! - [`log`]: the structured log; [`line_writer`]: non-blocking output; `quota`: how many exchanges are recorded; `probe`
//! - [`handle`]: what the caller holds of a running agent

mod call;
mod checkpoint_signer;
pub mod clock;
mod context;
pub mod decider;
pub mod deciders;
mod driver;
mod entropy;
mod external_calls;
pub mod handle;
mod http;
mod inbox;
mod intake;
mod join_code;
pub mod line_writer;
mod local_routes;
pub mod log;
mod message_meta;
mod outbox;
mod probe;
mod quota;
pub mod routes;
mod rpc_error;
pub mod rules;
mod schemas;
pub mod surface;
pub mod telemetry;

pub use call::{AGENT_ABSENT, AGENT_SILENT, RELAY_ABSENCE, RELAY_TIMEOUT};
pub use clock::Clock;
pub use decider::Decider;
pub use entropy::{NoEntropy, entropy_from_system, entropy_numbered};
pub use handle::{Handle, Inspector, Stopped};
pub use http::HttpService;
pub use intake::{Caller, Intake, NoReply};
pub use join_code::JoinCode;
pub use local_routes::Mailboxes;
pub use rpc_error::{refuse_origin, rpc_error};
pub use rules::ExternalRules;

use crate::telemetry::{AgentTelemetry, Endpoints, Probe, Telemetry};
use checkpoint_signer::CheckpointSigner;
use context::{AgentInfo, Context, LiteralPeers};
use driver::DriverTask;
use inbox::Inbox;
use matchday_core::agent::{Agent, DecodeHints, Signing};
use matchday_core::driver::{Driver, EventDurability};
use matchday_core::entropy::Entropy;
use matchday_core::event_codec::{self, EventCodecError};
use matchday_core::metrics::Metrics;
use matchday_core::protocol::Timestamp;
use matchday_net::client::Client;
use matchday_net::origin_check::{Allowlist, OriginCheck};
use matchday_net::rate_limit::RateLimiter;
use matchday_net::server::{self, ServerOptions};
use matchday_net::transport::Listener;
use matchday_store::checkpoint_keys::CheckpointKeys;
use matchday_store::{Store, StoreError, Stream};
use outbox::Outbox;
use probe::AgentProbe;
use quota::ExchangeQuota;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use surface::{MountMcp, Surface};
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinHandle;
use tracing::Dispatch;

/// The agents of this process, by the endpoints at which they are called.
pub type LocalRoutes = local_routes::Routes<Intake>;
type LocalRoute = local_routes::Route<Intake>;

/// How many requests a second are taken from one address, if nobody decides otherwise; this machine's are not counted then.
const REQUESTS_PER_ADDRESS: u32 = 5_000;

/// What the caller decides about an agent's environment.
#[derive(Debug, Clone)]
pub struct Options {
    /// The agents of one process share it, and so their connections and how many calls they make at once.
    pub client: Client,
    /// The other agents of its process that it may call, and which may call it, without a connection.
    pub routes: LocalRoutes,
    /// The agents of one process share it, and so their time.
    pub clock: Clock,
    pub entropy: Entropy,
    /// How many requests may wait for the agent or for their reply.
    pub inbox_len: usize,
    /// How many requests a second one address may make, 0 for any number. `None`: some thousands, and any number from
    /// this machine itself.
    pub requests_per_address: Option<u32>,
    /// On what terms connections are taken, and whether over TLS.
    pub server: ServerOptions,
    /// How long a peer may take to send the body of a request.
    pub body_timeout: Duration,
    /// Whether requests and answers are kept word for word, without tokens.
    pub record_exchanges: bool,
    /// Up to how many bytes of them a league keeps.
    pub exchanges_bytes_max: u64,
    /// How long a message may be that is read, if not as the agent says.
    pub message_bytes_max: Option<usize>,
    /// By which names, and from which pages, the agent may be called beyond those of its address.
    pub allowed: Allowlist,
    /// Whether a caller on this machine counts as the operator without a token. Not behind a proxy or a forwarder, which make
    /// everybody a caller on this machine.
    pub trusts_loopback: bool,
    /// How long a request for a move waits before it reaches the agent, so that people can follow a match.
    pub pace: Duration,
    /// The subscriber of the agent's log, such as [`log::dispatch`] makes.
    pub log: Dispatch,
    /// Who decides for the agent, if it does not decide for itself.
    pub decider: Option<Arc<dyn Decider>>,
    /// Who knows the rules of a game that a referee does not.
    pub rules: Option<Arc<dyn ExternalRules>>,
    /// The agents of one process share it.
    pub telemetry: Telemetry,
    /// What else is mounted at the agent's address.
    pub surfaces: Vec<Arc<dyn Surface>>,
    /// Mounts the Model Context Protocol on `/mcp`.
    pub mcp: Option<MountMcp>,
    /// What a manager signs checkpoints with, if it is to.
    pub checkpoint_keys: Option<CheckpointKeys>,
}

impl Options {
    /// The limiter of what one address asks.
    pub fn rate_limiter(&self) -> RateLimiter {
        match self.requests_per_address {
            None => RateLimiter::new(REQUESTS_PER_ADDRESS, REQUESTS_PER_ADDRESS).without_loopback(),
            Some(most) => RateLimiter::new(most, most),
        }
    }

    pub fn new(entropy: Entropy) -> Self {
        Self {
            client: Client::new(),
            routes: LocalRoutes::default(),
            clock: Clock::start(),
            entropy,
            inbox_len: 1024,
            requests_per_address: None,
            server: ServerOptions::default(),
            body_timeout: Duration::from_secs(10),
            record_exchanges: true,
            exchanges_bytes_max: 1 << 30,
            message_bytes_max: None,
            allowed: Allowlist::default(),
            trusts_loopback: true,
            pace: Duration::ZERO,
            log: Dispatch::none(),
            decider: None,
            rules: None,
            telemetry: Telemetry::default(),
            surfaces: Vec::new(),
            mcp: None,
            checkpoint_keys: None,
        }
    }
}

/// An agent of the core with all that the runtime asks of it.
pub trait Runnable: EventDurability + DecodeHints + Signing + Metrics + Send + 'static {}

impl<A: EventDurability + DecodeHints + Signing + Metrics + Send + 'static> Runnable for A {}

/// Why an agent could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("cannot read the events of {stream}: {error}")]
    Unreadable { stream: String, error: StoreError },
    #[error("event {number} of {stream} cannot be understood: {error}")]
    Foreign {
        stream: String,
        number: usize,
        error: EventCodecError,
    },
    #[error("the listening socket has no address: {0}")]
    NoAddress(std::io::Error),
}

/// Brings `agent` to where its stored events left it, wakes it, and runs it until it is shut down or its store fails.
pub fn run<A, L>(
    mut agent: A,
    listener: L,
    store: Store,
    stream: Stream,
    options: Options,
) -> Result<Handle<A>, StartError>
where
    A: Runnable,
    A::Event: Send,
    L: Listener,
{
    let telemetry = agent_telemetry(&agent, &options);
    let last_at = replay(&mut agent, &store, &stream, &telemetry, true)?;
    let address = listener.local_addr().map_err(StartError::NoAddress)?;
    let url = url_of(address, &options.server);
    let start = Start {
        address,
        url,
        wakes: true,
        last_at,
        telemetry,
    };
    Ok(host_at(agent, start, listener, store, stream, options)?.handle)
}

/// The endpoint of a socket, as it is called on this machine.
fn url_of(address: SocketAddr, server: &ServerOptions) -> String {
    let scheme = if server.tls.is_some() {
        "https"
    } else {
        "http"
    };
    format!("{scheme}://{address}/mcp")
}

/// A running agent, and the service that answers its requests.
#[derive(Debug)]
pub struct Hosted<A> {
    pub handle: Handle<A>,
    pub service: Arc<HttpService>,
    /// Changes whenever something that the agent must not forget has become durable.
    pub changes: watch::Receiver<u64>,
}

/// Where an agent is, and how it begins.
#[derive(Debug)]
pub struct Start {
    /// Of the socket that its requests come to.
    pub address: SocketAddr,
    /// Where others call it.
    pub url: String,
    /// Whether it is woken, or only answers.
    pub wakes: bool,
    /// When its last event happened, as [`replay`] says: its time goes on from there, whatever the clock shows.
    pub last_at: Timestamp,
    /// Its metrics and traces, with its stored events.
    pub telemetry: AgentTelemetry,
}

/// Runs an agent behind somebody else's socket: the owner of the socket hands requests to the service. `agent` must have been brought to where its events left it.
pub fn host<A>(
    agent: A,
    start: Start,
    store: Store,
    stream: Stream,
    options: Options,
) -> Result<Hosted<A>, StartError>
where
    A: Runnable,
    A::Event: Send,
{
    let listening = start.url.clone();
    let serving = |service, closing| tokio::spawn(close_with(service, closing));
    begin(agent, start, &listening, store, stream, options, serving)
}

/// The same with a socket of its own.
pub fn host_at<A, L>(
    agent: A,
    start: Start,
    listener: L,
    store: Store,
    stream: Stream,
    options: Options,
) -> Result<Hosted<A>, StartError>
where
    A: Runnable,
    A::Event: Send,
    L: Listener,
{
    let listening = url_of(start.address, &options.server);
    let mut server = options.server.clone();
    server.open = Arc::clone(&options.telemetry.metrics.connections);
    options
        .telemetry
        .metrics
        .show_certificate(server.tls.as_ref());
    let serving = |service, closing| tokio::spawn(serve(service, listener, server, closing));
    begin(agent, start, &listening, store, stream, options, serving)
}

fn begin<A>(
    agent: A,
    start: Start,
    listening: &str,
    store: Store,
    stream: Stream,
    mut options: Options,
    serving: impl FnOnce(Arc<HttpService>, watch::Receiver<bool>) -> JoinHandle<()>,
) -> Result<Hosted<A>, StartError>
where
    A: Runnable,
    A::Event: Send,
{
    let signer = options
        .checkpoint_keys
        .take()
        .map(|keys| CheckpointSigner::new(keys, &store, &stream));
    let signer = signer.transpose().map_err(|error| StartError::Unreadable {
        stream: stream.0.to_string(),
        error,
    })?;
    let rate_limiter = options.rate_limiter();
    let Start {
        address,
        url,
        wakes,
        last_at,
        telemetry,
    } = start;
    let runtime = tokio::runtime::Handle::current();
    let (inbox, arrivals) = Inbox::new(options.inbox_len);
    let (controls, control) = mpsc::unbounded_channel();
    let (close, closing) = watch::channel(false);
    let close = Arc::new(close);
    let (info_sender, info) = watch::channel(AgentInfo::of(&agent));
    let steps = Arc::new(Notify::new());
    let (conformance, mut limits) = agent.reading();
    limits.message_bytes_max = options
        .message_bytes_max
        .unwrap_or(limits.message_bytes_max);
    let context = Arc::new(Context {
        client: options.client,
        routes: options.routes,
        url,
        clock: clock::AgentClock::going_on_from(last_at, options.clock, store.downgrade()),
        inbox,
        runtime,
        conformance,
        limits,
        info,
        log: options.log,
        telemetry,
        literal_peers: LiteralPeers::default(),
        quota: ExchangeQuota::new(
            &store,
            options
                .record_exchanges
                .then_some(options.exchanges_bytes_max),
        ),
        changes: watch::Sender::new(0),
        decider: options.decider,
        rules: options.rules,
    });
    let intake = Arc::new(Intake::new(
        Arc::clone(&context),
        address,
        options.trusts_loopback,
        options.pace,
    ));
    let membership = context.routes.join(&context.url, &intake, &store);
    let origin_check = OriginCheck::new(address, options.allowed);
    let changes = intake.changes();
    let probe: Arc<dyn Probe> = Arc::new(AgentProbe::new(&context, &controls, &store));
    options.telemetry.metrics.add_probe(&probe);
    let telemetry = Endpoints {
        telemetry: options.telemetry,
        probe,
    };
    let mcp = options
        .mcp
        .map(|MountMcp(mount)| mount(Arc::clone(&intake)));
    let service = Arc::new(HttpService::new(
        intake,
        origin_check,
        rate_limiter,
        options.body_timeout,
        mcp,
        options.surfaces,
        telemetry,
    ));
    let serving = serving(Arc::clone(&service), closing);
    let is_colocated = Some(context.routes.is_colocated(&store));
    let task = DriverTask {
        driver: Driver::new(agent, options.entropy, context.clock.now(), is_colocated),
        outbox: Outbox::new(store, stream, Arc::clone(&context)),
        context,
        info: info_sender,
        steps: Arc::clone(&steps),
        reply_slots: HashMap::new(),
        last_request: 0,
        signer,
    };
    let ending = Arc::clone(&close);
    let listening = listening.to_owned();
    let driving = tokio::spawn(async move {
        let outcome = task.run(arrivals, control, &listening, wakes).await;
        drop(membership);
        let _ = ending.send(true);
        outcome
    });
    let handle = Handle::new(address, controls, steps, close, serving, driving);
    Ok(Hosted {
        handle,
        service,
        changes,
    })
}

async fn serve(
    service: Arc<HttpService>,
    listener: impl Listener,
    options: ServerOptions,
    closing: watch::Receiver<bool>,
) {
    let visited = Arc::clone(&service);
    let handler = move |request, peer| Arc::clone(&visited).answer(request, peer);
    let serving = server::serve(listener, options, handler, closing.clone());
    tokio::join!(serving, close_with(service, closing));
}

/// Streams have no end of their own, and would be waited for.
async fn close_with(service: Arc<HttpService>, mut closing: watch::Receiver<bool>) {
    let _ = closing.wait_for(|&closing| closing).await;
    service.close().await;
}

/// The metrics and traces of an agent that is about to be started.
pub fn agent_telemetry<A: Agent>(agent: &A, options: &Options) -> AgentTelemetry {
    AgentTelemetry::new(&agent.sender(), &options.telemetry)
}

/// Brings an agent to where its stored events left it, and says when the last of them happened. Its counters begin with what
/// they tell, if they `are_new`: this process has not counted them before.
pub fn replay<A: Metrics>(
    agent: &mut A,
    store: &Store,
    stream: &Stream,
    telemetry: &AgentTelemetry,
    are_new: bool,
) -> Result<Timestamp, StartError> {
    let name = || stream.0.to_string();
    let events = store.load(stream).map_err(|error| StartError::Unreadable {
        stream: name(),
        error,
    })?;
    for (before, stored) in events.iter().enumerate() {
        let (at, event) =
            event_codec::decode(&stored.line).map_err(|error| StartError::Foreign {
                stream: name(),
                number: before + 1,
                error,
            })?;
        agent.apply(at, &event);
        if let Some(milestone) = A::milestone(&event) {
            telemetry.replayed(at, &milestone, are_new);
        }
    }
    Ok(events.last().map_or(Timestamp::EPOCH, |last| last.at))
}
