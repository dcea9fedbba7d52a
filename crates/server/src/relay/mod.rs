//! The relay: mailboxes for agents that dial out, because nobody can call them where they are. A mailbox is an endpoint like any
//! other, `/relay/MAILBOX/mcp`; the agent fetches its calls and posts its answers. docs/protocol-relay.md describes the wire format.
//!
//! - `connections`: who is connected how; `http`: the routes; `stream`: what the agent reads; `timeout`: how long a call may wait
//! - `open_mailbox`: one mailbox, around the state machine of the core; `log`: which mailboxes there are
//! - `memory`: what strangers may take up of it; `call_line`: a call as it is sent

mod call_line;
mod connections;
mod http;
mod log;
mod memory;
mod open_mailbox;
mod stream;
mod timeout;

pub use connections::{connections, direct_endpoints};
pub use memory::MemoryPool;
pub use memory::{POOL_BYTES, POOL_BYTES_PER_ADDRESS, SHARE_BYTES};

use bytes::Bytes;
use connections::AgentConnection;
use hyper::body::Incoming;
use hyper::{Request, StatusCode};
use log::{MailboxRecord, RelayEvent, RelayLog};
use matchday_core::entropy::Entropy;
use matchday_core::league::Manager;
use matchday_core::protocol::Token;
use matchday_net::address_quota::{AddressQuota, QuotaReached};
use matchday_net::client::{CallError, CallResponse, CallTimings, CompletedCall};
use matchday_net::connection_limit::limit_key;
use matchday_runtime::routes::{Matched, Part};
use matchday_runtime::surface::{Closing, Responding, Surface};
use matchday_runtime::{
    Clock, Inspector, Intake, Mailboxes, NoEntropy, Options, StartError, entropy_from_system,
};
use matchday_store::Store;
use memory::Message;
use open_mailbox::{OpenMailbox, Shared, Undelivered};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{SetOnce, watch};
use tokio::time::{self, Instant};

const MANAGER_STARTS_WITHIN: Duration = Duration::from_secs(5);
/// A mailbox that nobody has read for so long makes room for another.
const ABANDONED_AFTER: Duration = Duration::from_secs(3600);

#[derive(Debug, Clone)]
pub struct RelaySettings {
    /// Where others reach the league: `https://leagues.example/leagues/spring`.
    pub base_url: String,
    pub limits: RelayLimits,
    /// How long a message of the league may be: the call of a stranger, and any answer.
    pub message_bytes_max: usize,
}

/// What the relays of a process have in common.
#[derive(Debug, Clone)]
pub struct RelayLimits {
    /// Of one league.
    pub mailboxes_max: usize,
    /// How many of them may be opened from one address; any number from this machine itself.
    pub per_address_max: usize,
    pub pool: Arc<MemoryPool>,
}

impl RelayLimits {
    /// So many mailboxes in all and from one address, for relays that share their memory with no other.
    pub fn new(mailboxes_max: usize, per_address_max: usize) -> Self {
        Self {
            mailboxes_max,
            per_address_max,
            pool: Arc::default(),
        }
    }
}

/// Who says which agents may dial out.
#[derive(Debug)]
enum LeagueOfRelay {
    Of(Inspector<Manager>),
    None,
}

/// All mailboxes at the address of one manager.
pub struct Relay {
    settings: RelaySettings,
    clock: Clock,
    body_timeout: Duration,
    log: RelayLog,
    mailboxes: Mutex<BTreeMap<String, Arc<OpenMailbox>>>,
    /// The lock makes the check of the limits and the opening one step.
    opening: tokio::sync::Mutex<Entropy>,
    shared: Arc<Shared>,
    /// Whose agents it serves. Set once the manager runs.
    league: SetOnce<LeagueOfRelay>,
    closing: watch::Sender<bool>,
}

impl fmt::Debug for Relay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Relay")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// Mailboxes of the league before in its season: agents that dialled out stay where they are.
#[derive(Debug, Default)]
pub struct Inherited(BTreeMap<String, MailboxRecord>);

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(transparent)]
    Start(#[from] StartError),
    #[error(transparent)]
    Entropy(#[from] NoEntropy),
}

/// Why no mailbox is opened.
#[derive(Debug, thiserror::Error)]
enum NoMailbox {
    #[error(
        "{0} mailboxes were opened from your address, and it may have no more: reconnect to one of those"
    )]
    Address(usize),
    #[error(
        "all {0} mailboxes of this league are taken: try again later, or ask the operator to raise --relay-mailboxes"
    )]
    Full(usize),
    #[error("the mailbox cannot be stored: {0}")]
    Store(String),
}

impl NoMailbox {
    fn status(&self) -> StatusCode {
        match self {
            Self::Address(_) | Self::Full(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Store(_) => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

impl Relay {
    /// The mailboxes of the league in this store, for the next league of its season.
    pub fn mailboxes_of(store: Store, clock: Clock) -> Result<Inherited, StartError> {
        Ok(Inherited(RelayLog::read(store, clock)?.1))
    }

    /// Restores the mailboxes of the store, and takes over those that are `inherited`. `options`: those of the manager, whose clock
    /// and metrics it shares.
    pub fn open(
        settings: RelaySettings,
        store: Store,
        inherited: Inherited,
        options: &Options,
    ) -> Result<Arc<Self>, OpenError> {
        let clock = options.clock;
        let (log, mut records) = RelayLog::read(store, clock)?;
        for (id, record) in inherited.0 {
            if let Entry::Vacant(place) = records.entry(id) {
                log.inherit(place.key(), &record)?;
                place.insert(record);
            }
        }
        let metrics = Arc::clone(&options.telemetry.metrics);
        metrics.relay.mounted.store(true, Ordering::Relaxed);
        let shared = Arc::new(Shared {
            metrics,
            pool: Arc::clone(&settings.limits.pool),
        });
        let open = |record| Arc::new(OpenMailbox::new(record, clock, Arc::clone(&shared)));
        let mailboxes = records
            .into_iter()
            .map(|(id, record)| (id, open(record)))
            .collect();
        Ok(Arc::new(Self {
            settings,
            clock,
            body_timeout: options.body_timeout,
            log,
            mailboxes: Mutex::new(mailboxes),
            opening: tokio::sync::Mutex::new(entropy_from_system()?),
            shared,
            league: SetOnce::new(),
            closing: watch::Sender::new(false),
        }))
    }

    /// Mounts it at the manager's address, and has the manager call mailboxes without a connection.
    pub fn mount(self: &Arc<Self>, options: &mut Options) {
        options.surfaces.push(Arc::clone(self) as Arc<dyn Surface>);
        options
            .routes
            .serve_mailboxes(Arc::clone(self) as Arc<dyn Mailboxes>);
    }

    /// From now on mailboxes are opened for those who may register with this manager.
    pub fn serve_league_of(&self, manager: Inspector<Manager>) {
        let _ = self.league.set(LeagueOfRelay::Of(manager));
    }

    /// From now on mailboxes are opened for anyone: there is no league, only an agent to be checked.
    pub fn serve_anyone(&self) {
        let _ = self.league.set(LeagueOfRelay::None);
    }

    /// Whether an agent is connected.
    pub fn has_streams(&self) -> bool {
        self.mailboxes()
            .values()
            .any(|mailbox| mailbox.absent_since().is_none())
    }

    fn mailboxes(&self) -> MutexGuard<'_, BTreeMap<String, Arc<OpenMailbox>>> {
        self.mailboxes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn mailbox(&self, id: &str) -> Option<Arc<OpenMailbox>> {
        self.mailboxes().get(id).cloned()
    }

    fn contact(&self, mailbox: &str) -> String {
        format!("{}/relay/{mailbox}/mcp", self.settings.base_url)
    }

    /// Whether an agent reads the mailbox that a URL is the endpoint of; `None` if it is that of no mailbox here.
    pub fn has_reader(&self, url: &str) -> Option<bool> {
        let mailbox = self.mailbox_at(url)?;
        Some(mailbox.absent_since().is_none())
    }

    /// The mailbox that a URL is the endpoint of.
    fn mailbox_at(&self, url: &str) -> Option<Arc<OpenMailbox>> {
        let rest = url
            .strip_prefix(&self.settings.base_url)?
            .strip_prefix("/relay/")?;
        self.mailbox(rest.strip_suffix("/mcp")?)
    }

    /// Whether the holder of this code may have a mailbox, and how many may be opened from its address; `None` if the manager does not
    /// run.
    async fn may_open(&self, code: Option<Token>) -> Option<Option<usize>> {
        let most = self.settings.limits.per_address_max;
        let look = move |manager: &Manager| {
            let league = manager.league();
            // All those on a roster may come from one address, each with the mailbox of an earlier start.
            let known = league.places_beside(code.as_ref()).unwrap_or(0);
            let may = league.may_dial_out(code.as_ref());
            may.then(|| most.max(known.saturating_mul(2)))
        };
        // The socket listens a moment before the manager can be asked.
        match time::timeout(MANAGER_STARTS_WITHIN, self.league.wait())
            .await
            .ok()?
        {
            LeagueOfRelay::Of(manager) => manager.inspect(look).await,
            LeagueOfRelay::None => Some(Some(most)),
        }
    }

    /// How each agent of the league is connected; `None` if the league is not open to readers.
    async fn connections(self: &Arc<Self>) -> Option<Vec<AgentConnection>> {
        let relay = Arc::clone(self);
        let look = move |manager: &Manager| {
            let league = manager.league();
            league
                .settings
                .public_reads
                .then(|| connections(league, Some(&relay), &BTreeMap::new()))
        };
        let LeagueOfRelay::Of(manager) = self.league.get()? else {
            return None;
        };
        manager.inspect(look).await?
    }

    async fn open_mailbox(
        &self,
        peer: IpAddr,
        per_address_max: usize,
    ) -> Result<(String, Token), NoMailbox> {
        let from = limit_key(peer);
        let mut entropy = self.opening.lock().await;
        self.make_room(peer, per_address_max).await?;
        let mailbox = hex::encode(entropy.bytes::<16>());
        let token = Token::issue("relay", &mut entropy);
        let event = RelayEvent::MailboxOpened {
            mailbox: mailbox.clone(),
            token: token.hash(),
            from,
        };
        self.log.write(&event).await.map_err(NoMailbox::Store)?;
        let record = MailboxRecord {
            token: token.hash(),
            from,
        };
        let open = OpenMailbox::new(record, self.clock, Arc::clone(&self.shared));
        self.mailboxes().insert(mailbox.clone(), Arc::new(open));
        Ok((mailbox, token))
    }

    /// Checks the limits, and removes the mailbox that has been abandoned longest if one is reached.
    async fn make_room(&self, peer: IpAddr, per_address_max: usize) -> Result<(), NoMailbox> {
        let quota = AddressQuota {
            all_max: self.settings.limits.mailboxes_max,
            per_address_max,
        };
        let open: Vec<_> = self
            .mailboxes()
            .values()
            .map(|mailbox| Some(mailbox.record.from))
            .collect();
        let (full, only_of) = match quota.check(peer, open) {
            Ok(()) => return Ok(()),
            Err(QuotaReached::Address(open)) => (NoMailbox::Address(open), Some(limit_key(peer))),
            Err(QuotaReached::All(open)) => (NoMailbox::Full(open), None),
        };
        let Some(abandoned) = self.abandoned(only_of) else {
            return Err(full);
        };
        let event = RelayEvent::MailboxRemoved {
            mailbox: abandoned.clone(),
        };
        self.log.write(&event).await.map_err(NoMailbox::Store)?;
        self.mailboxes().remove(&abandoned);
        Ok(())
    }

    fn abandoned(&self, only_of: Option<IpAddr>) -> Option<String> {
        let now = self.clock.now();
        let mailboxes = self.mailboxes();
        let of_address = mailboxes
            .iter()
            .filter(|(_, mailbox)| only_of.is_none_or(|from| mailbox.record.from == from));
        let absent = of_address.filter_map(|(id, mailbox)| Some((mailbox.absent_since()?, id)));
        let longest = absent.min_by_key(|(since, _)| *since);
        longest
            .filter(|(since, _)| now.since(*since) >= ABANDONED_AFTER)
            .map(|(_, id)| id.clone())
    }

    /// Ends every stream, and fails every call.
    pub async fn close(&self) {
        self.closing.send_replace(true);
        for mailbox in self.mailboxes().values() {
            mailbox.close();
        }
    }
}

impl Surface for Relay {
    fn part(&self) -> Part {
        Part::Relay
    }

    fn respond<'a>(
        self: Arc<Self>,
        matched: Matched,
        request: Request<Incoming>,
        peer: SocketAddr,
        _: &'a Arc<Intake>,
    ) -> Responding<'a> {
        Box::pin(async move { self.answer(&matched, request, peer).await })
    }

    fn close(&self) -> Closing<'_> {
        Box::pin(self.close())
    }
}

/// Agents of its process call mailboxes here, so that an answer's time is its arrival at the relay.
impl Mailboxes for Relay {
    fn has(&self, url: &str) -> bool {
        self.mailbox_at(url).is_some()
    }

    fn is_connected(&self, url: &str) -> bool {
        self.mailbox_at(url)
            .is_some_and(|mailbox| mailbox.absent_since().is_none())
    }

    fn call<'a>(
        &'a self,
        url: &'a str,
        body: Bytes,
        deadline: Instant,
        bytes_max: usize,
    ) -> Pin<Box<dyn Future<Output = CompletedCall> + Send + 'a>> {
        Box::pin(async move {
            let began = Instant::now();
            let mut timings = CallTimings {
                began,
                connected: Some(began),
                first_byte: None,
                last_byte: None,
            };
            let result = match self.mailbox_at(url) {
                Some(mailbox) => mailbox.call(Message::own(body), deadline).await,
                None => Err(matchday_core::mailbox::Refused::Absent.into()),
            };
            let result = match result {
                Ok(answer) => {
                    (timings.first_byte, timings.last_byte) =
                        (Some(answer.arrived), Some(answer.arrived));
                    match answer.body.bytes.len() {
                        bytes if bytes > bytes_max => Err(CallError::TooLarge(bytes)),
                        _ => Ok(CallResponse {
                            status: answer.status,
                            headers: hyper::HeaderMap::new(),
                            body: answer.body.bytes,
                        }),
                    }
                }
                Err(Undelivered::TooLarge(bytes)) => Err(CallError::TooLarge(bytes)),
                Err(Undelivered::TimedOut) => Err(CallError::TimedOut),
                Err(why) => Err(CallError::NoConnection(why.to_string())),
            };
            CompletedCall { timings, result }
        })
    }
}
