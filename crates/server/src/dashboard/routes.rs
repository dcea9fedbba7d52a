//! The routes of the dashboard, and how each page is rendered and cached.

use super::Dashboard;
use super::access::Access;
use super::background_statistics::Computed;
use super::cache::CachedPage;
use super::page::losses::LossRecords;
use super::page::{
    Versioned, cross_table, featured, latency, league, one_match, player, race, referees, rounds,
    standings,
};
use super::page_error::PageError;
use super::projection::Snapshot;
use super::query::{Query, percent_decode};
use super::shared_computation::Cost;
use super::store_queries::{self, Filter};
use super::{assets, orders, qr_code, response};
use crate::relay::{connections, direct_endpoints};
use bytes::Bytes;
use hyper::body::Incoming;
use hyper::{Request, StatusCode, Uri};
use matchday_audit::statistics::of_league;
use matchday_core::league::League;
use matchday_core::protocol::messages::Phase;
use matchday_core::protocol::{LeagueId, MatchId, PlayerId};
use matchday_net::server::HttpResponse;
use matchday_runtime::Intake;
use matchday_runtime::routes::{DashboardRoute, Matched, Part, Target};
use matchday_runtime::surface::{Closing, Responding, Surface};
use matchday_stats::head_to_head::HeadToHead;
use matchday_store::StoreError;
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

/// How many matches of a round are shown at once.
const MATCHES_MAX: u64 = 500;
const MATCHES_DEFAULT: u64 = 100;
/// How many boards are featured at most.
const BOARDS_MAX: u64 = 12;
const BOARDS_DEFAULT: u64 = 4;

/// A page of the API.
#[derive(Debug)]
enum Route {
    League,
    Standings,
    Rounds,
    Round(u32, usize, usize),
    Cross,
    Race,
    Latency,
    /// The match that was picked comes first, then those of a player that is followed.
    Boards {
        limit: usize,
        picked: Option<MatchId>,
        followed: Option<PlayerId>,
    },
    Player(PlayerId),
    /// Which of two players is better, and how sure that is.
    Compare(PlayerId, PlayerId),
    Match(MatchId),
    Messages(Filter),
    Referees,
}

impl Surface for Dashboard {
    fn part(&self) -> Part {
        Part::Dashboard
    }

    fn respond<'a>(
        self: Arc<Self>,
        matched: Matched,
        request: Request<Incoming>,
        peer: SocketAddr,
        intake: &'a Arc<Intake>,
    ) -> Responding<'a> {
        Box::pin(async move { self.answer(&matched, request, peer, Some(intake)).await })
    }

    fn close(&self) -> Closing<'_> {
        Box::pin(async { self.close() })
    }
}

impl Dashboard {
    /// `intake` is that of the manager whose league this is, if it is running.
    pub async fn answer(
        self: &Arc<Self>,
        matched: &Matched,
        request: Request<Incoming>,
        peer: SocketAddr,
        intake: Option<&Arc<Intake>>,
    ) -> HttpResponse {
        let Target::Dashboard(target) = matched.route.target else {
            return response::error(StatusCode::NOT_FOUND, "the dashboard has no such page");
        };
        match target {
            DashboardRoute::Page => return assets::answer("index.html", request.headers()),
            DashboardRoute::Asset => return assets::answer(matched.value(0), request.headers()),
            DashboardRoute::Order => return self.order(request, peer, intake).await,
            _ => {}
        }
        let access = match self.admit(request.headers(), peer, intake).await {
            Err(refusal) => return refusal,
            Ok(access) => access,
        };
        match target {
            DashboardRoute::Events => self.listen(peer.ip(), intake.map(|intake| intake.changes())),
            DashboardRoute::Report => self.report(access).await,
            DashboardRoute::QrCode => self.qr_code(request.uri(), access),
            DashboardRoute::Connections => match self.connections().await {
                Ok(body) => response::data(StatusCode::OK, body),
                Err(error) => error.response(access),
            },
            _ => self.show(target, matched, request.uri(), access).await,
        }
    }

    async fn order(
        self: &Arc<Self>,
        request: Request<Incoming>,
        peer: SocketAddr,
        intake: Option<&Arc<Intake>>,
    ) -> HttpResponse {
        let Some(intake) = intake else {
            let why =
                "this is a stored league, and nobody runs it: start its manager to give it orders";
            return response::error(StatusCode::CONFLICT, why);
        };
        if let Err(refused) = orders::check_same_origin(request.headers()) {
            return refused;
        }
        // A manager takes some orders from this machine without a token, but a page must send the operator's.
        match self.admit(request.headers(), peer, Some(intake)).await {
            Err(refused) => refused,
            Ok(access) if !access.operator => {
                response::error(StatusCode::UNAUTHORIZED, orders::NO_TOKEN)
            }
            Ok(_) => orders::handle(request, peer, intake, &self.league_id().await).await,
        }
    }

    async fn league_id(&self) -> LeagueId {
        let snapshot = self.source.snapshot().await.unwrap_or_default();
        snapshot.projection.league.settings.league_id.clone()
    }

    fn qr_code(&self, uri: &Uri, access: Access) -> HttpResponse {
        self.views.asked();
        match qr_code::of_address(&Query::of(uri).text("text").unwrap_or_default()) {
            Ok(code) => to_json(&code).map_or_else(
                |error| error.response(access),
                |body| response::data(StatusCode::OK, body),
            ),
            Err(why) => response::error(StatusCode::BAD_REQUEST, &why),
        }
    }

    /// Who is connected how. While more can register, each that is called directly is looked for.
    async fn connections(&self) -> Result<Bytes, PageError> {
        self.views.asked();
        let snapshot = self.source.snapshot().await?;
        let league = &snapshot.projection.league;
        let relay = self.relay.get().map(Arc::as_ref);
        let reached = match self.reach.get() {
            Some(reach) if league.phase == Phase::Registration => {
                reach.of(direct_endpoints(league, relay)).await
            }
            _ => BTreeMap::new(),
        };
        to_json(&Versioned {
            version: snapshot.version(),
            page: json!({ "agents": connections(league, relay, &reached) }),
        })
    }

    async fn show(
        self: &Arc<Self>,
        target: DashboardRoute,
        matched: &Matched,
        uri: &Uri,
        access: Access,
    ) -> HttpResponse {
        self.views.asked();
        let route = match read_page(target, matched, &Query::of(uri)) {
            Ok(Some(route)) => route,
            Ok(None) => {
                return response::error(StatusCode::NOT_FOUND, "the dashboard has no such page");
            }
            Err(why) => return response::error(StatusCode::BAD_REQUEST, &why),
        };
        match self.body(route, access).await {
            Ok(body) => response::data(StatusCode::OK, body),
            Err(error) => error.response(access),
        }
    }

    async fn body(self: &Arc<Self>, route: Route, access: Access) -> Result<Bytes, PageError> {
        let snapshot = self.source.snapshot().await?;
        let league = &snapshot.projection.league;
        let is_kept = match &route {
            // It holds the current time.
            Route::League => false,
            // The moves of a match that is being played are no events of the league.
            Route::Match(id) => !league.matches.get(id).is_some_and(|game| game.in_play),
            Route::Boards { .. } => !league.matches.values().any(|game| game.in_play),
            _ => true,
        };
        let is_league = matches!(route, Route::League);
        let is_over = league.phase == Phase::Completed;
        // Every open page asks for these whenever anything happens, and they come from memory.
        let cost = match &route {
            Route::League => Cost::Cheap,
            _ => Cost::Expensive,
        };
        let page = CachedPage {
            name: format!("{route:?}"),
            access,
            version: (snapshot.version(), self.statistics.generation()),
        };
        let render = move |dashboard: &Self| {
            let computed = dashboard.statistics.latest(&snapshot.projection);
            dashboard.render(&route, &snapshot, computed.as_deref(), access)
        };
        let body = self.compute_page(page, cost, is_kept, render).await?;
        if is_league && is_over {
            self.views.ended();
        }
        Ok(body)
    }

    /// Blocks.
    fn render(
        &self,
        route: &Route,
        snapshot: &Snapshot,
        computed: Option<&Computed>,
        access: Access,
    ) -> Result<Bytes, PageError> {
        let statistics = computed.map(|computed| &computed.statistics);
        let stores = self.source.stores();
        let failed = |error| PageError::Read(self.source.failed(error));
        match route {
            Route::League => {
                let now = self.clock.now();
                to_json(&league::page(
                    snapshot,
                    statistics,
                    &self.location(),
                    now,
                    access,
                ))
            }
            Route::Standings => {
                let chances = computed.map(|computed| &computed.title_chances);
                to_json(&standings::page(snapshot, statistics, chances))
            }
            Route::Rounds => to_json(&rounds::all(snapshot)),
            Route::Round(number, offset, limit) => {
                let page = rounds::one(snapshot, *number, (*offset, *limit), access);
                json_or_not_found(page, || format!("there is no round {number}"))
            }
            Route::Cross => to_json(&cross_table::page(snapshot)),
            Route::Race => to_json(&race::page(snapshot)),
            Route::Latency => to_json(&latency::page(
                snapshot,
                &store_queries::move_calls(stores).map_err(failed)?,
            )),
            Route::Boards {
                limit,
                picked,
                followed,
            } => {
                let league = &snapshot.projection.league;
                let chosen = featured::choose(league, picked.as_ref(), followed.as_ref(), *limit);
                let exchanges =
                    store_queries::exchanges_in_play(stores, snapshot, &chosen).map_err(failed)?;
                to_json(&featured::page(snapshot, &chosen, &exchanges, access))
            }
            Route::Player(id) => {
                let calls = store_queries::calls_to(stores, snapshot, id).map_err(failed)?;
                let records = LossRecords {
                    fallbacks: store_queries::fallbacks_of(stores, snapshot, id).map_err(failed)?,
                    source: self.replay_source(&snapshot.projection.league),
                };
                let page = player::page(snapshot, id, &calls, &records, statistics, access);
                json_or_not_found(page, || format!("there is no player {id}"))
            }
            Route::Compare(first, second) => {
                let results = of_league(&snapshot.projection.league);
                let found = HeadToHead::of(&results, first.as_str(), second.as_str());
                json_or_not_found(found, || {
                    format!("there is no player {first}, or no player {second}")
                })
            }
            Route::Match(id) => {
                let league = &snapshot.projection.league;
                let game_type = &league.settings.game_type;
                let game = league.matches.get(id);
                let open = game.filter(|game| one_match::shows_positions(game_type, game, access));
                let describe = |error: &StoreError| self.source.describe_other(error, access);
                let records = open.map(|_| store_queries::of_match(stores, snapshot, id, describe));
                let records = records.transpose().map_err(failed)?;
                let page =
                    one_match::page(snapshot, id, records.as_ref(), access, &self.source.name());
                json_or_not_found(page, || format!("there is no match {id}"))
            }
            Route::Messages(filter) => {
                to_json(&store_queries::messages(stores, snapshot, filter, access).map_err(failed)?)
            }
            Route::Referees => to_json(&referees::page(snapshot)),
        }
    }

    /// What `matchday replay` reads a match of this league from: its page, if it has one that stays, otherwise the stores.
    fn replay_source(&self, league: &League) -> String {
        match &self.manager {
            Some(manager) => format!("{}/", manager.strip_suffix("/mcp").unwrap_or(manager)),
            None => format!(
                "{} --league {}",
                self.source.names().join(" "),
                league.settings.league_id
            ),
        }
    }

    fn location(&self) -> league::LeagueLocation {
        league::LeagueLocation {
            live: self.source.live,
            manager: self.manager.clone(),
            file: self.source.name(),
            has_relay: self.relay.get().is_some(),
            registration: self.registration,
        }
    }
}

fn to_json(page: &impl Serialize) -> Result<Bytes, PageError> {
    let text = serde_json::to_vec(page);
    text.map(Bytes::from)
        .map_err(|error| PageError::NotFound(format!("this page cannot be written: {error}")))
}

fn json_or_not_found(
    page: Option<impl Serialize>,
    otherwise: impl FnOnce() -> String,
) -> Result<Bytes, PageError> {
    page.map_or_else(
        || Err(PageError::NotFound(otherwise())),
        |page| to_json(&page),
    )
}

/// The page that a row and a query name; `None` for a row that is no page.
fn read_page(
    target: DashboardRoute,
    matched: &Matched,
    query: &Query,
) -> Result<Option<Route>, String> {
    let id = |place: usize| percent_decode(matched.value(place)).to_ascii_uppercase();
    Ok(Some(match target {
        DashboardRoute::League => Route::League,
        DashboardRoute::Standings => Route::Standings,
        DashboardRoute::Rounds => Route::Rounds,
        DashboardRoute::CrossTable => Route::Cross,
        DashboardRoute::Race => Route::Race,
        DashboardRoute::Latency => Route::Latency,
        DashboardRoute::Boards => {
            let limit = query
                .number("limit")?
                .unwrap_or(BOARDS_DEFAULT)
                .clamp(1, BOARDS_MAX);
            let followed = query
                .text("player")
                .map(|id| PlayerId::new(id.to_ascii_uppercase()));
            Route::Boards {
                limit: usize::try_from(limit).unwrap_or(1),
                picked: query
                    .text("match")
                    .map(|id| MatchId::new(id.to_ascii_uppercase())),
                followed,
            }
        }
        DashboardRoute::Referees => Route::Referees,
        DashboardRoute::Messages => Route::Messages(Filter::read(query)?),
        DashboardRoute::Compare => Route::Compare(PlayerId::new(id(0)), PlayerId::new(id(1))),
        DashboardRoute::Round => {
            let number = matched.value(0);
            let number = number
                .parse()
                .map_err(|_| format!("a round has a number, and {number:?} is none"))?;
            let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
            let offset = query.number("offset")?.unwrap_or(0);
            let limit = query
                .number("limit")?
                .unwrap_or(MATCHES_DEFAULT)
                .clamp(1, MATCHES_MAX);
            Route::Round(number, size(offset), size(limit))
        }
        DashboardRoute::Player => Route::Player(PlayerId::new(id(0))),
        DashboardRoute::Match => Route::Match(MatchId::new(id(0))),
        DashboardRoute::Page
        | DashboardRoute::Asset
        | DashboardRoute::Connections
        | DashboardRoute::QrCode
        | DashboardRoute::Events
        | DashboardRoute::Report
        | DashboardRoute::Order => return Ok(None),
    }))
}
