//! Seats in a league for clients that cannot be called: clients of the Model Context Protocol (MCP), and so language models.
//! A seat is a player that accepts invitations by itself and asks the client of the seat for every choice.
//!
//! All seats share one socket and are called under `/seats/NUMBER/mcp`. A client authenticates by the key of its seat, which is
//! shown once and stored as a hash.
//!
//! - `tools`, `arguments`, `types`, `tool_error`: the tools, what they take and reply; `session`: one MCP session and the seats it holds
//! - `one_seat`: a seat and its player; `open_turns`: its open choices; `wait_for_turn`: that tool; `transcript`: what was said
//! - `manager_query`: asks the manager; `brief`: what clients are told of the league; `prompt`
//! - `dial`: seats without a socket; `path`: the paths of seats; `log`: the event log of the seats; `server`, `http`, `stdio`: a process that has only seats

mod arguments;
mod authorization;
mod brief;
mod dial;
#[cfg(test)]
mod host_rules;
mod http;
mod log;
mod manager_query;
mod one_seat;
mod open_turns;
mod path;
mod prompt;
mod server;
mod session;
mod stdio;
mod tool_error;
mod tools;
mod transcript;
mod types;
mod wait_for_turn;

pub use authorization::Authorization;
pub use dial::SeatDial;
pub use http::serve;
pub use stdio::serve_stdio;

use crate::mcp;
use brief::Brief;
use dial::DialledMailbox;
use hyper::body::Incoming;
use hyper::http::Extensions;
use hyper::{HeaderMap, Request, StatusCode, Uri};
use log::{SeatEvent, SeatLog, SeatRecord};
use matchday_core::entropy::Entropy;
use matchday_core::game::observation::ObservationForm;
use matchday_core::game::strategy::StrategyEntry;
use matchday_core::protocol::{DisplayName, Endpoint, ErrorCode, Token};
use matchday_net::address_quota::{AddressQuota, QuotaReached};
use matchday_net::connection_limit::limit_key;
use matchday_net::response::empty;
use matchday_net::server::HttpResponse;
use matchday_runtime::routes::{Matched, Part};
use matchday_runtime::surface::{Closing, Responding, Surface};
use matchday_runtime::{Intake, NoEntropy, Options, StartError, entropy_from_system};
use matchday_store::Store;
use one_seat::{NewSeat, Seat};
use path::contact;
use session::SeatSession;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;
use tool_error::ToolError;

#[derive(Debug, Clone)]
pub struct SeatSettings {
    pub manager: Endpoint,
    /// Where the address that the seats share is reached: `http://localhost:8201/mcp`.
    pub home: Endpoint,
    /// How many seats there may be.
    pub seats_max: usize,
    /// How many of them may be opened from one address, this machine itself not counted. `None`: a quarter of them.
    pub seats_per_address: Option<usize>,
    /// Chooses when the client of a seat does not choose in time. Without it the match is forfeited.
    pub fallback: Option<&'static StrategyEntry>,
    /// How a turn is shown.
    pub observation: ObservationForm,
    /// What a client must show.
    pub authorization: Authorization,
    /// What seats register with if their client names no join code.
    pub join_code: Option<Token>,
}

impl SeatSettings {
    fn quota(&self) -> AddressQuota {
        AddressQuota {
            all_max: self.seats_max,
            per_address_max: self.seats_per_address.unwrap_or(self.seats_max / 4).max(1),
        }
    }
}

/// Why no seat is opened, and what to do.
fn refused(reached: QuotaReached, quota: &AddressQuota) -> ToolError {
    let why = match reached {
        QuotaReached::Address(open) => format!(
            "{open} seats were opened from your address, and one address may have {}: go on in one of those, by its \
             \"seat\", or ask the operator to raise --agents-per-address",
            quota.per_address_max
        ),
        QuotaReached::All(_) => format!(
            "all {} seats are taken: try again when a league is over, or ask the operator to raise --max-seats",
            quota.all_max
        ),
    };
    ToolError::new(ErrorCode::RateLimited, why)
}

/// All seats at one address.
#[derive(Debug)]
pub struct Seats {
    settings: SeatSettings,
    address: SocketAddr,
    options: Options,
    /// How they are called if they have no socket.
    dial: Option<SeatDial>,
    log: SeatLog,
    open: Mutex<BTreeMap<u32, Arc<Seat>>>,
    /// The number of the next seat. The lock makes the check of the limits and the opening one step.
    next: tokio::sync::Mutex<u32>,
    entropy: Mutex<Entropy>,
    brief: Mutex<Brief>,
    closing: watch::Sender<bool>,
}

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(transparent)]
    Start(#[from] StartError),
    #[error(transparent)]
    Entropy(#[from] NoEntropy),
    #[error("{0:?} is not what a seat can go by: check --advertise")]
    Unfit(String),
    #[error("{0:#}")]
    Relay(anyhow::Error),
}

impl Seats {
    /// Restores the open seats from the store. `address` is that of the socket whose requests go to [`Seats::answer`].
    pub fn open(
        settings: SeatSettings,
        address: SocketAddr,
        store: Store,
        options: Options,
    ) -> Result<Arc<Self>, OpenError> {
        let (seats, records) = Self::new(settings, address, store, options, None)?;
        for record in records {
            seats.restore(record, None, None)?;
        }
        Ok(Arc::new(seats))
    }

    /// The same for seats that are called through the relay of the league. `address` is that of their clients' socket.
    pub async fn open_dialled(
        settings: SeatSettings,
        address: SocketAddr,
        store: Store,
        options: Options,
        dial: SeatDial,
    ) -> Result<Arc<Self>, OpenError> {
        let (seats, records) = Self::new(settings, address, store, options, Some(dial))?;
        for record in records {
            let code = seats.settings.join_code.clone();
            let mailbox = seats
                .mailbox(record.number, code.as_ref())
                .await
                .map_err(OpenError::Relay)?;
            seats.restore(record, None, mailbox)?;
        }
        Ok(Arc::new(seats))
    }

    /// Without the open seats, which are given back as the store has them.
    fn new(
        settings: SeatSettings,
        address: SocketAddr,
        store: Store,
        options: Options,
        dial: Option<SeatDial>,
    ) -> Result<(Self, Vec<SeatRecord>), OpenError> {
        let (log, records, next) = SeatLog::read(store, options.clock)?;
        let seats = Self {
            settings,
            address,
            options,
            dial,
            log,
            open: Mutex::default(),
            next: tokio::sync::Mutex::new(next),
            entropy: Mutex::new(entropy_from_system()?),
            brief: Mutex::default(),
            closing: watch::Sender::new(false),
        };
        Ok((seats, records))
    }

    /// The mailbox of a seat, if they dial out.
    async fn mailbox(
        &self,
        number: u32,
        code: Option<&Token>,
    ) -> anyhow::Result<Option<DialledMailbox>> {
        match &self.dial {
            Some(dial) => dial.mailbox(number, code).await.map(Some),
            None => Ok(None),
        }
    }

    fn restore(
        &self,
        record: SeatRecord,
        join_code: Option<Token>,
        mailbox: Option<DialledMailbox>,
    ) -> Result<Arc<Seat>, OpenError> {
        let name =
            DisplayName::parse(&record.name).map_err(|_| OpenError::Unfit(record.name.clone()))?;
        let options = Options {
            entropy: entropy_from_system()?,
            ..self.options.clone()
        };
        let seat = NewSeat {
            name,
            record,
            join_code,
            mailbox,
        };
        let seat = Arc::new(Seat::restore(
            &self.settings,
            self.address,
            seat,
            self.log.store(),
            options,
        )?);
        self.all().insert(seat.number, Arc::clone(&seat));
        Ok(seat)
    }

    fn all(&self) -> std::sync::MutexGuard<'_, BTreeMap<u32, Arc<Seat>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, number: u32) -> Option<Arc<Seat>> {
        self.all().get(&number).cloned()
    }

    fn by_key(&self, key: &str) -> Option<Arc<Seat>> {
        let hash = hash(key);
        self.all().values().find(|seat| seat.hash == hash).cloned()
    }

    fn named(&self, name: &DisplayName) -> Option<Arc<Seat>> {
        let same = |seat: &&Arc<Seat>| seat.name.raw().eq_ignore_ascii_case(name.raw());
        self.all().values().find(same).cloned()
    }

    /// Opens a seat, and gives back its key with it.
    async fn new_seat(
        &self,
        name: DisplayName,
        peer: IpAddr,
        join_code: Option<Token>,
    ) -> Result<(Arc<Seat>, String), ToolError> {
        let from = limit_key(peer);
        let mut next = self.next.lock().await;
        if *self.closing.borrow() {
            return Err(ToolError::stopping());
        }
        // Open seats have distinct names; one whose league is over gives its name free.
        if let Some(other) = self.named(&name) {
            if !other.is_over().await {
                let why = format!(
                    "a seat of the name {:?} is taken here: if it is yours, call join_league with its \"seat\"; \
                     if not, choose another name",
                    name.escaped()
                );
                return Err(ToolError::new(ErrorCode::InvalidState, why));
            }
            self.remove(&other).await?;
        }
        self.make_room(peer).await?;
        let mailbox = self.mailbox(*next, join_code.as_ref()).await;
        let mailbox =
            mailbox.map_err(|why| ToolError::new(ErrorCode::Connection, format!("{why:#}")))?;
        let bits = self
            .entropy
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .bytes::<16>();
        let key = format!("seat_{}", hex::encode(bits));
        let record = SeatRecord {
            number: *next,
            name: name.raw().to_owned(),
            key: hash(&key),
            games_delivered: 0,
            games_confirmed: 0,
            from: Some(from),
        };
        let name = record.name.clone();
        let key_hash = record.key.clone();
        let opened = SeatEvent::Opened {
            number: *next,
            name,
            key: key_hash,
            from: record.from,
        };
        self.log.write(&opened).await.map_err(ToolError::internal)?;
        *next += 1;
        let seat = self.restore(record, join_code, mailbox);
        Ok((
            seat.map_err(|error| ToolError::internal(error.to_string()))?,
            key,
        ))
    }

    /// Checks the limits. Seats whose league is over do not count, and make room for others.
    async fn make_room(&self, peer: IpAddr) -> Result<(), ToolError> {
        let quota = self.settings.quota();
        let all: Vec<_> = self.all().values().cloned().collect();
        if quota.check(peer, all.iter().map(|seat| seat.from)).is_ok() {
            return Ok(());
        }
        let is_full = all.len() >= quota.all_max;
        let mut counted = Vec::new();
        let mut over = None;
        for seat in all {
            if seat.is_over().await {
                over = over.or(Some(seat))
            } else {
                counted.push(seat.from)
            }
        }
        quota
            .check(peer, counted)
            .map_err(|reached| refused(reached, &quota))?;
        match over {
            Some(seat) if is_full => self.remove(&seat).await,
            _ => Ok(()),
        }
    }

    /// Closes a seat for good.
    async fn remove(&self, seat: &Seat) -> Result<(), ToolError> {
        self.log
            .write(&SeatEvent::Closed {
                number: seat.number,
            })
            .await
            .map_err(ToolError::internal)?;
        self.all().remove(&seat.number);
        seat.close().await;
        if let Some(dial) = &self.dial {
            dial.forget(seat.number);
        }
        Ok(())
    }

    /// Why no seat can be opened, for people; `None` if one can.
    fn not_ready(&self) -> Option<String> {
        let stopping = self
            .closing
            .borrow()
            .then(|| "the seats are being closed".to_owned());
        self.log.store().failure_for_anyone().or(stopping)
    }

    /// The refusal of a client that may not use the seats.
    fn refusal(&self, headers: &HeaderMap, extensions: &Extensions) -> Option<HttpResponse> {
        self.settings.authorization.refusal(headers, extensions)
    }

    /// Routes a request of a referee or the manager to the player of a seat.
    pub async fn answer(
        &self,
        matched: &Matched,
        mut request: Request<Incoming>,
        peer: SocketAddr,
    ) -> HttpResponse {
        let Some(seat) = matched
            .value(0)
            .parse()
            .ok()
            .and_then(|number| self.get(number))
        else {
            return empty(StatusCode::NOT_FOUND);
        };
        *request.uri_mut() = Uri::from_static("/mcp");
        Arc::clone(&seat.service).answer(request, peer).await
    }

    /// Ends every wait, and shuts every player down.
    pub async fn close(&self) {
        self.closing.send_replace(true);
        let _no_more_opened = self.next.lock().await;
        let all: Vec<_> = self.all().values().cloned().collect();
        for seat in all {
            seat.close().await;
        }
    }
}

impl Surface for Seats {
    fn part(&self) -> Part {
        Part::Seats
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

/// Mounts seats at an agent's address, and their tools on its MCP.
pub fn mount(options: &mut Options, seats: &Arc<Seats>) {
    // The manager does not run yet.
    tokio::spawn(Arc::clone(seats).keep_asking());
    let own = Arc::clone(seats);
    options.mcp = Some(mcp::mount(move || {
        Some(Box::new(SeatSession::new(Arc::clone(&own))))
    }));
    options.surfaces.push(Arc::clone(seats) as Arc<dyn Surface>);
}

/// The hash under which a key is stored.
fn hash(key: &str) -> String {
    hex::encode(Sha256::digest(key))
}
