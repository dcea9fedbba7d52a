//! Which address shows what.

use super::Dashboard;
use super::annals::Snapshot;
use super::page::{cross, league, one_match, player, referees, rounds, standings};
use super::query::{Query, plain};
use super::records::{self, Filter};
use super::viewer::Sees;
use super::{answer, assets, orders};
use crate::net::server::Answer;
use crate::shell::Reception;
use crate::store::StoreError;
use bytes::Bytes;
use hyper::body::Incoming;
use hyper::{Method, Request, StatusCode, Uri};
use matchday_core::protocol::{LeagueId, MatchId, PlayerId};
use serde::Serialize;
use std::net::SocketAddr;
use std::sync::Arc;

/// How many matches of a round are shown at once.
const MATCHES_MAX: u64 = 500;
const MATCHES_USUAL: u64 = 100;

/// What somebody wants to see.
#[derive(Debug)]
enum Wanted {
    League,
    Standings,
    Rounds,
    Round(u32, usize, usize),
    Cross,
    Player(PlayerId),
    Match(MatchId),
    Messages(Filter),
    Referees,
}

/// Why there is nothing to show.
#[derive(Debug)]
pub(super) enum Trouble {
    Unknown(String),
    Store(StoreError),
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Trouble {
    pub(super) fn answer(&self) -> Answer {
        match self {
            Self::Unknown(why) => answer::error(StatusCode::NOT_FOUND, why),
            Self::Store(error) => {
                let why = format!("the league cannot be read: {error}");
                answer::error(StatusCode::INTERNAL_SERVER_ERROR, &why)
            }
        }
    }
}

impl Dashboard {
    /// Whether this is for the dashboard.
    pub(crate) fn is_its(uri: &Uri) -> bool {
        let path = uri.path();
        path == "/" || path.starts_with("/assets/") || path.starts_with("/api/")
    }

    /// `reception` is that of the manager whose league this is, if it is running.
    pub(crate) async fn answer(
        self: &Arc<Self>,
        request: Request<Incoming>,
        peer: SocketAddr,
        reception: Option<&Arc<Reception>>,
    ) -> Answer {
        let path = request.uri().path();
        let reads = matches!(*request.method(), Method::GET | Method::HEAD);
        match path.strip_prefix("/api/") {
            Some("orders") if *request.method() == Method::POST => self.order(request, peer, reception).await,
            Some("orders") => answer::not_allowed("POST"),
            _ if !reads => answer::not_allowed("GET"),
            None => {
                let name = path.strip_prefix("/assets/").unwrap_or("index.html");
                assets::answer(name, request.headers())
            }
            Some(api) => match self.admit(request.headers(), peer, reception).await {
                Err(answer) => answer,
                Ok(_) if api == "events" => self.listen(reception.map(|reception| reception.changes())),
                Ok(sees) => self.show(api, request.uri(), sees).await,
            },
        }
    }

    async fn order(
        self: &Arc<Self>,
        request: Request<Incoming>,
        peer: SocketAddr,
        reception: Option<&Arc<Reception>>,
    ) -> Answer {
        let Some(reception) = reception else {
            let why = "this is a stored league, and nobody runs it: start its manager to give it orders";
            return answer::error(StatusCode::CONFLICT, why);
        };
        if let Err(refused) = orders::own_page(request.headers()) {
            return refused;
        }
        // On this machine a manager takes some orders without a token: from a page it must be the operator's.
        match self.admit(request.headers(), peer, Some(reception)).await {
            Err(refused) => refused,
            Ok(sees) if !sees.operator => answer::error(StatusCode::UNAUTHORIZED, orders::NO_TOKEN),
            Ok(_) => orders::take(request, peer, reception, &self.league_id().await).await,
        }
    }

    async fn league_id(&self) -> LeagueId {
        let snapshot = self.source.look().await.unwrap_or_default();
        snapshot.annals.league.settings.league_id.clone()
    }

    async fn show(self: &Arc<Self>, api: &str, uri: &Uri, sees: Sees) -> Answer {
        let wanted = match wanted(api, &Query::of(uri)) {
            Ok(Some(wanted)) => wanted,
            Ok(None) => return answer::error(StatusCode::NOT_FOUND, "the dashboard has no such page"),
            Err(why) => return answer::error(StatusCode::BAD_REQUEST, &why),
        };
        // The league's own page tells the time, so that no other moment's will do.
        let key = (!matches!(wanted, Wanted::League)).then(|| format!("{wanted:?}"));
        match self.body(wanted, key, sees).await {
            Ok(body) => answer::data(StatusCode::OK, body),
            Err(trouble) => trouble.answer(),
        }
    }

    async fn body(
        self: &Arc<Self>,
        wanted: Wanted,
        key: Option<String>,
        sees: Sees,
    ) -> Result<Bytes, Trouble> {
        let snapshot = self.source.look().await?;
        let stamp = (snapshot.version(), self.luck.generation());
        if let Some(kept) = key.as_ref().and_then(|key| self.kept.get(key, sees, stamp)) {
            return Ok(kept);
        }
        // Never many at once, also if whoever asked has gone: they read files.
        let turn = Arc::clone(&self.turns).acquire_owned().await;
        let dashboard = Arc::clone(self);
        let statistics = self.luck.look(&snapshot.annals);
        let made = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            dashboard.made(&wanted, &snapshot, statistics.as_deref(), sees)
        });
        let body =
            made.await.unwrap_or_else(|_| Err(Trouble::Unknown("this page cannot be made".to_owned())))?;
        if let Some(key) = key {
            self.kept.keep(key, sees, stamp, body.clone());
        }
        Ok(body)
    }

    /// Blocks.
    fn made(
        &self,
        wanted: &Wanted,
        snapshot: &Snapshot,
        statistics: Option<&matchday_stats::LeagueStatistics>,
        sees: Sees,
    ) -> Result<Bytes, Trouble> {
        let stores = self.source.stores();
        match wanted {
            Wanted::League => {
                let now = self.clock.now();
                written(&league::page(snapshot, statistics, &self.place(), now, sees))
            }
            Wanted::Standings => written(&standings::page(snapshot, statistics)),
            Wanted::Rounds => written(&rounds::all(snapshot)),
            Wanted::Round(number, offset, limit) => {
                let page = rounds::one(snapshot, *number, (*offset, *limit), sees);
                found(page, || format!("there is no round {number}"))
            }
            Wanted::Cross => written(&cross::page(snapshot)),
            Wanted::Player(id) => {
                let calls = records::calls_to(stores, snapshot, id)?;
                let page = player::page(snapshot, id, &calls, statistics, sees);
                found(page, || format!("there is no player {id}"))
            }
            Wanted::Match(id) => {
                let game = snapshot.annals.league.matches.get(id);
                let open = game.filter(|game| one_match::is_open(game, sees));
                let told = open.map(|_| records::of_match(stores, snapshot, id)).transpose()?;
                let page = one_match::page(snapshot, id, told.as_ref(), sees, &self.source.name());
                found(page, || format!("there is no match {id}"))
            }
            Wanted::Messages(filter) => written(&records::messages(stores, snapshot, filter, sees)?),
            Wanted::Referees => written(&referees::page(snapshot)),
        }
    }

    fn place(&self) -> league::Place {
        league::Place { live: self.source.live, manager: self.manager.clone(), file: self.source.name() }
    }
}

fn written(page: &impl Serialize) -> Result<Bytes, Trouble> {
    let text = serde_json::to_vec(page);
    text.map(Bytes::from).map_err(|error| Trouble::Unknown(format!("this page cannot be written: {error}")))
}

fn found(page: Option<impl Serialize>, otherwise: impl FnOnce() -> String) -> Result<Bytes, Trouble> {
    page.map_or_else(|| Err(Trouble::Unknown(otherwise())), |page| written(&page))
}

fn wanted(api: &str, query: &Query) -> Result<Option<Wanted>, String> {
    let id = |rest: &str| plain(rest).to_ascii_uppercase();
    Ok(Some(match api.split_once('/') {
        None => match api {
            "league" => Wanted::League,
            "standings" => Wanted::Standings,
            "rounds" => Wanted::Rounds,
            "cross" => Wanted::Cross,
            "referees" => Wanted::Referees,
            "messages" => Wanted::Messages(Filter::read(query)?),
            _ => return Ok(None),
        },
        Some(("rounds", number)) => {
            let number =
                number.parse().map_err(|_| format!("a round has a number, and {number:?} is none"))?;
            let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
            let offset = query.number("offset")?.unwrap_or(0);
            let limit = query.number("limit")?.unwrap_or(MATCHES_USUAL).clamp(1, MATCHES_MAX);
            Wanted::Round(number, size(offset), size(limit))
        }
        Some(("players", rest)) => Wanted::Player(PlayerId::new(id(rest))),
        Some(("matches", rest)) => Wanted::Match(MatchId::new(id(rest))),
        Some(_) => return Ok(None),
    }))
}
