//! The dashboard: a league in a browser, as static files and a JSON API. Reads what the manager has made durable; orders go to
//! the manager's intake as any operator's do.
//!
//! Public, where the league is open to readers: the table, the schedule, results, and the messages of decided matches and of no
//! match. Only the operator sees agents' addresses, and more than the state of an undecided match. Tokens are never shown.
//!
//! # Layout
//! - `projection`, `source`: the league, projected from its log; `background_statistics`; `topics`: what can change
//! - `page`: the pages, as pure functions; `exchanges`: messages; `access`: what a request may see
//! - `routes`: the API; `report`: the report as one page; `store_queries`, `merge`: reads from the stores
//! - `readers`: what readers of all leagues share; `shared_computation`: what is computed once for all who ask; `cache`: responses
//! - `qr_code`: the address for a wall; `events`: server-sent events; `last_view`: what open pages get before the server stops; `orders`: the operator's orders; `assets`, `response`, `query`: HTTP
//! - `serve`: a process that shows a stored league

mod access;
pub(crate) mod assets;
mod background_statistics;
mod cache;
mod events;
mod exchanges;
mod last_view;
mod merge;
mod orders;
mod page;
mod page_error;
mod projection;
mod qr_code;
mod query;
mod readers;
mod report;
mod response;
mod routes;
mod serve;
mod shared_computation;
mod source;
mod store_queries;
mod topics;

pub use access::Access;
pub use page::league::Joining;
pub(crate) use query::{Query, percent_decode};
pub use readers::Readers;
pub use response::RETRY_SECONDS;
pub(crate) use response::with_security_headers;
pub use serve::serve;
pub use shared_computation::{BEGUN_MAX, QUEUED_MAX};
pub use source::Source;

use crate::reach::Reach;
pub use crate::relay::Relay;
use access::{Credential, credential};
use background_statistics::BackgroundStatistics;
use bytes::Bytes;
use cache::CachedPage;
use hyper::StatusCode;
use hyper::header::HeaderMap;
use matchday_core::league::Registration;
use matchday_net::address_quota::AddressPlaces;
use matchday_net::server::HttpResponse;
use matchday_runtime::{Clock, Intake};
use matchday_store::{Location, StoreError, StoreUrl};
use page_error::PageError;
use projection::Snapshot;
use shared_computation::{Cost, SharedComputation};
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use tokio::sync::watch;

/// How many pages of a league are kept up to date at once, unless a setting says otherwise.
pub const VIEWERS_MAX: usize = 500;

#[derive(Debug)]
pub struct Dashboard {
    source: Arc<Source>,
    clock: Clock,
    /// Where the manager is called, for the commands that are suggested.
    manager: Option<String>,
    /// Whether the operator of the league lets others register.
    registration: Registration,
    /// What a request without a token may see, if the league is open to readers.
    without_token: Access,
    statistics: Arc<BackgroundStatistics>,
    pages: Arc<SharedComputation<CachedPage, Result<Bytes, PageError>>>,
    listeners: AddressPlaces,
    closing: watch::Sender<bool>,
    views: last_view::Views,
    /// Knows which agents dial out.
    relay: OnceLock<Arc<Relay>>,
    /// Looks for agents while more can register; none if nobody runs the league.
    reach: OnceLock<Reach>,
}

impl Dashboard {
    /// The dashboard of a running league, whose manager writes to `store` and is called at `manager`. The stores of other agents
    /// add the messages of their matches.
    pub fn live(
        store: Location,
        others: Vec<StoreUrl>,
        manager: String,
        clock: Clock,
    ) -> Arc<Self> {
        let source = Source::alone(store, others);
        Arc::new(Self::of(source, Some(manager), clock, VIEWERS_MAX))
    }

    /// The same, of a league whose source others read too. So many pages are kept up to date at once; a solver speaks of matches that
    /// are being played only if every player is of this process.
    pub(crate) fn of_league(
        source: Arc<Source>,
        manager: String,
        clock: Clock,
        viewers_max: usize,
        solver: bool,
        registration: Registration,
    ) -> Arc<Self> {
        Arc::new(Self {
            registration,
            without_token: Access {
                solver,
                ..Access::PUBLIC
            },
            ..Self::of(source, Some(manager), clock, viewers_max)
        })
    }

    /// The dashboard of a stored league. `local`: served to this machine only, where undecided matches are shown as well.
    pub fn stored(
        store: Location,
        others: Vec<StoreUrl>,
        local: bool,
    ) -> Result<Arc<Self>, StoreError> {
        let first = Snapshot::of(&store)?;
        if !first.projection.league.created {
            return Err(StoreError::NoLeague(store.store));
        }
        let readers = Readers::of_this_machine(Arc::default()).of_league();
        let source = Source::stored(store, others, first, readers);
        Ok(Arc::new(Self {
            without_token: Access {
                undecided: local,
                ..Access::PUBLIC
            },
            ..Self::of(source, None, Clock::start(), VIEWERS_MAX)
        }))
    }

    fn of(source: Arc<Source>, manager: Option<String>, clock: Clock, viewers_max: usize) -> Self {
        let readers = source.readers();
        Self {
            clock,
            manager,
            registration: Registration::Open,
            without_token: Access::PUBLIC,
            statistics: Arc::new(BackgroundStatistics::new(Arc::clone(readers))),
            pages: SharedComputation::new(Arc::clone(readers)),
            listeners: AddressPlaces::new(events::listeners(viewers_max)),
            closing: watch::Sender::new(false),
            views: last_view::Views::default(),
            relay: OnceLock::new(),
            reach: OnceLock::new(),
            source,
        }
    }

    /// A page, computed once for all who ask for it, and kept until its version changes if `is_kept`. `compute` blocks.
    async fn compute_page(
        self: &Arc<Self>,
        page: CachedPage,
        cost: Cost,
        is_kept: bool,
        compute: impl FnOnce(&Self) -> Result<Bytes, PageError> + Send + 'static,
    ) -> Result<Bytes, PageError> {
        let dashboard = Arc::clone(self);
        let readers = Arc::clone(self.source.readers());
        let wanted = page.clone();
        let compute = move || {
            let made = compute(&dashboard);
            if is_kept && let Ok(body) = &made {
                let readers = dashboard.source.readers();
                readers
                    .process
                    .cache
                    .insert(readers.league, wanted, body.clone());
            }
            made
        };
        let sought = page.clone();
        let kept = || {
            readers
                .process
                .cache
                .get(readers.league, &sought)
                .filter(|_| is_kept)
                .map(Ok)
        };
        self.pages
            .get(page, cost, kept, compute)
            .await
            .map_err(|why| PageError::Read(why.into()))?
    }

    /// Has it show who is connected to this relay.
    pub fn show_relay(&self, relay: Arc<Relay>) {
        let _ = self.relay.set(relay);
    }

    /// Has it show who of those who have registered can be reached.
    pub(crate) fn show_reach(&self, reach: Reach) {
        let _ = self.reach.set(reach);
    }

    /// Whether anyone follows the league.
    pub fn has_listeners(&self) -> bool {
        self.listeners.taken() > 0
    }

    /// Ends the event streams.
    pub fn close(&self) {
        self.closing.send_replace(true);
    }

    /// The access of a request by the settings that were read last: how much it is told of an error.
    fn last_access(&self, headers: &HeaderMap) -> Access {
        match credential(headers, &self.source.latest().projection.league.settings) {
            Credential::Valid => Access::OPERATOR,
            _ => self.without_token,
        }
    }

    /// The access of a request, or the response that refuses it.
    async fn admit(
        &self,
        headers: &HeaderMap,
        peer: SocketAddr,
        intake: Option<&Arc<Intake>>,
    ) -> Result<Access, HttpResponse> {
        let snapshot = self.source.created_snapshot().await;
        let snapshot =
            snapshot.map_err(|error| PageError::Read(error).response(self.last_access(headers)))?;
        let league = &snapshot.projection.league;
        if !league.created {
            let why = "the manager is still opening the league: ask again in a moment";
            return Err(response::error(StatusCode::SERVICE_UNAVAILABLE, why));
        }
        let settings = &league.settings;
        let operator = Access {
            solver: self.without_token.solver,
            ..Access::OPERATOR
        };
        match credential(headers, settings) {
            Credential::Valid => Ok(operator),
            Credential::Missing if settings.public_reads || self.without_token.undecided => {
                Ok(self.without_token)
            }
            Credential::Missing => {
                let why = "this league is not open to readers: show the operator token as Authorization: Bearer TOKEN";
                Err(response::error(StatusCode::UNAUTHORIZED, why))
            }
            Credential::Invalid(token) => {
                let checked = match intake {
                    Some(intake) => {
                        orders::check_token(intake, &settings.league_id, token, peer).await
                    }
                    None => {
                        return Err(response::error(
                            StatusCode::FORBIDDEN,
                            "this is not the operator token",
                        ));
                    }
                };
                checked.map(|()| operator).map_err(|error| error.response())
            }
        }
    }
}
