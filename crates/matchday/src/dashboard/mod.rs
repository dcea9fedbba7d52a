//! A league as people see it in a browser: what the page asks for, and the page itself. It reads what the manager has
//! made durable and never disturbs the manager; orders go to the manager as any operator's do.
//!
//! What anyone may see, where the league is open to readers: the table, the schedule, results, and the messages of decided
//! matches and of no match. Agents' addresses, and all of a match that is not decided but its state, are the operator's to
//! see; tokens are nobody's.
//!
//! # Layout
//! - `annals`, `source`: the league as its events tell it; `luck`: what its results mean; `topics`: what can change
//! - `page`: what is shown, as pure functions; `exchanges`, `redact`, `viewer`: what of it to whom
//! - `routes`: which address shows what; `records`, `together`: what is read from stores for it; `kept`: what was made already
//! - `events`: tells of changes; `orders`: what the operator orders; `assets`, `answer`, `query`: the HTTP of it
//! - `serve`: a process that shows a stored league

mod annals;
mod answer;
mod assets;
mod events;
mod exchanges;
mod kept;
mod luck;
mod orders;
mod page;
mod query;
mod records;
mod redact;
mod routes;
mod serve;
mod source;
mod together;
mod topics;
mod viewer;

pub use serve::serve;

use crate::net::server::Answer;
use crate::shell::{Clock, Reception};
use crate::store::{Reader, StoreError};
use annals::Snapshot;
use hyper::StatusCode;
use hyper::header::HeaderMap;
use kept::Kept;
use luck::Luck;
use source::Source;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::{Semaphore, watch};
use viewer::{Sees, Shown, shown};

/// How many pages are made at the same time.
const TURNS: usize = 4;

#[derive(Debug)]
pub struct Dashboard {
    source: Arc<Source>,
    clock: Clock,
    /// Where the manager is called, for the commands that are suggested.
    manager: Option<String>,
    /// What whoever shows no token may see, if the league is open to readers.
    otherwise: Sees,
    luck: Arc<Luck>,
    kept: Kept,
    turns: Arc<Semaphore>,
    listeners: Arc<Semaphore>,
    /// Counts how often those who listen were to show that they are still there.
    roll_calls: watch::Sender<u64>,
    closing: watch::Sender<bool>,
}

impl Dashboard {
    /// Of a league that is being played: its manager keeps it in `store` and is called at `manager`. The stores of other
    /// agents tell more of their matches.
    pub fn live(store: PathBuf, others: Vec<PathBuf>, manager: String, clock: Clock) -> Arc<Self> {
        let source = Source::new(store, others, true, Snapshot::default());
        Self::of(source, Some(manager), Sees::PUBLIC, clock)
    }

    /// Of a league that lies in `store`. For whoever sits at this machine, `local`, no match is still being played.
    pub fn stored(store: &Reader, others: Vec<PathBuf>, local: bool) -> Result<Arc<Self>, StoreError> {
        let first = Snapshot::of(store)?;
        if !first.annals.league.created {
            return Err(StoreError::NoLeague(store.path().to_owned()));
        }
        let source = Source::new(store.path().to_owned(), others, false, first);
        let sees = Sees { undecided: local, ..Sees::PUBLIC };
        Ok(Self::of(source, None, sees, Clock::start()))
    }

    fn of(source: Source, manager: Option<String>, otherwise: Sees, clock: Clock) -> Arc<Self> {
        Arc::new(Self {
            source: Arc::new(source),
            clock,
            manager,
            otherwise,
            luck: Arc::new(Luck::new()),
            kept: Kept::default(),
            turns: Arc::new(Semaphore::new(TURNS)),
            listeners: Arc::new(Semaphore::new(events::LISTENERS_MAX)),
            roll_calls: watch::Sender::new(0),
            closing: watch::Sender::new(false),
        })
    }

    /// Ends what streams to those who listen.
    pub fn close(&self) {
        self.closing.send_replace(true);
    }

    /// How much whoever makes a request may see, or what it is told instead.
    async fn admit(
        &self,
        headers: &HeaderMap,
        peer: SocketAddr,
        reception: Option<&Arc<Reception>>,
    ) -> Result<Sees, Answer> {
        let snapshot = self.source.look().await;
        let snapshot = snapshot.map_err(|error| routes::Trouble::Store(error).answer())?;
        let league = &snapshot.annals.league;
        if !league.created {
            let why = "the manager is only just opening the league: ask again in a moment";
            return Err(answer::error(StatusCode::SERVICE_UNAVAILABLE, why));
        }
        let settings = &league.settings;
        match shown(headers, settings) {
            Shown::Right => Ok(Sees::OPERATOR),
            Shown::Nothing if settings.public_reads || self.otherwise.undecided => Ok(self.otherwise),
            Shown::Nothing => {
                let why = "this league is not open to readers: show the operator token as Authorization: Bearer TOKEN";
                Err(answer::error(StatusCode::UNAUTHORIZED, why))
            }
            Shown::Wrong(token) => {
                let judged = match reception {
                    Some(reception) => orders::judge(reception, &settings.league_id, token, peer).await,
                    None => {
                        return Err(answer::error(StatusCode::FORBIDDEN, "this is not the operator token"));
                    }
                };
                judged.map(|()| Sees::OPERATOR).map_err(|refused| refused.answer())
            }
        }
    }
}
