//! The public socket of a service. What a request is for is found in the table of routes before anything else is done with it: what
//! is beneath `/leagues/ID` goes to that league, the API to the service itself, and with a single league what is at the address of
//! a manager to that league too.

use super::cluster::{self, Cluster, EdgeResponse, HeldBodies, answer_peer, here};
use super::database_away::DATABASE_AWAY;
use super::{Service, ServiceSettings, Unavailable, api, lock, pages};
use crate::dashboard::assets;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use hyper::{Method, Request, StatusCode, Uri};
use matchday_core::agent::Content;
use matchday_core::protocol::decode::Limits;
use matchday_core::protocol::dialect::reply::{HttpReply, write_reply};
use matchday_core::protocol::dialect::request::{
    Request as LeagueRequest, RequestContent, Requests, read_requests,
};
use matchday_core::protocol::json::Json;
use matchday_core::protocol::messages::LeagueError;
use matchday_core::protocol::{
    ConversationId, Envelope, ErrorCode, LeagueId, Message, Sender, UntrustedText,
};
use matchday_net::bearer::bearer;
use matchday_net::body;
use matchday_net::cors;
use matchday_net::origin_check::{OriginCheck, OriginChecked};
use matchday_net::rate_limit::RateLimiter;
use matchday_net::response::{empty, json, unavailable, with_close, with_header, with_retry_after};
use matchday_net::server::{self, HttpResponse};
use matchday_net::trusted_proxies::TrustedProxies;
use matchday_runtime::log::SERVICE_TARGET;
use matchday_runtime::refuse_origin;
use matchday_runtime::routes::{
    Answered, Located, Matched, Permission, RootRoute, Route, RouteTable, ServiceRoute, Target,
};
use matchday_runtime::telemetry::{metrics_response, readiness_response};
use matchday_store::leagues::NO_LEAGUE;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::timeout;

/// How many leagues an error names.
const NAMES_MAX: usize = 20;
/// How many wrong service tokens an address may show, at once and then in each second.
const GUESSES_BURST: u32 = 100;
const GUESSES_PER_S: u32 = 5;

#[derive(Debug)]
pub(super) struct ServiceHttp {
    pub(super) service: Arc<Service>,
    origin_check: OriginCheck,
    pub(super) held_bodies: HeldBodies,
    /// What an address asks of the service itself.
    requests: RateLimiter,
    /// Wrong service tokens of an address.
    guesses: RateLimiter,
}

/// Serves until `closing` turns true, and unloads every league then.
pub async fn serve(service: Arc<Service>, listener: TcpListener, closing: watch::Receiver<bool>) {
    let ServiceSettings { host, .. } = &service.settings;
    let mut options = host.options.server.clone();
    options.open = Arc::clone(&host.options.telemetry.metrics.connections);
    host.options
        .telemetry
        .metrics
        .show_certificate(options.tls.as_ref());
    let origin_check = OriginCheck::new(host.address, host.options.allowed.clone());
    let http = Arc::new(ServiceHttp {
        service: Arc::clone(&service),
        origin_check,
        held_bodies: HeldBodies::default(),
        requests: host.options.rate_limiter(),
        guesses: RateLimiter::new(GUESSES_PER_S, GUESSES_BURST),
    });
    let public = Arc::clone(&http);
    let handler = move |request, peer| Arc::clone(&public).answer(request, peer);
    let serving = server::serve(listener, options.clone(), handler, closing.clone());
    let among_others = async {
        if let Some(cluster) = service.cluster.clone() {
            share(&http, cluster, options, closing.clone()).await;
        }
    };
    tokio::join!(
        serving,
        among_others,
        Arc::clone(&service).supervise(closing.clone())
    );
}

/// Takes part in the ownership of leagues, and answers the other services until all leagues are handed over.
async fn share(
    http: &Arc<ServiceHttp>,
    cluster: Arc<Cluster>,
    options: server::ServerOptions,
    closing: watch::Receiver<bool>,
) {
    let Some(listener) = lock(&cluster.listener).take() else {
        return;
    };
    let options = server::ServerOptions {
        // All come from a few addresses, with some headers more than the client sent, and none from a proxy.
        per_address_max: Some(options.connections_max),
        trusted_proxies: TrustedProxies::default(),
        headers_max: options.headers_max + 8,
        head_bytes_max: options.head_bytes_max + 1024,
        tls: Some(cluster.tls.clone()),
        open: Arc::default(),
        ..options
    };
    let (close, closed) = watch::channel(false);
    let peer_http = Arc::clone(http);
    let of_peers = Arc::clone(&cluster);
    let handler =
        move |request, _| answer_peer(Arc::clone(&peer_http), Arc::clone(&of_peers), request);
    let owning = async {
        Arc::clone(&http.service)
            .own_leagues(cluster, closing)
            .await;
        let _ = close.send(true);
    };
    tokio::join!(server::serve(listener, options, handler, closed), owning);
}

/// What a request is for, by the table of routes.
#[derive(Debug, Clone)]
pub(super) enum Destination {
    /// A path beneath the address of a league.
    League {
        id: LeagueId,
        below: Uri,
        matched: Matched,
    },
    /// A row of the service's own.
    Service(Matched),
}

impl Destination {
    pub(super) fn route(&self) -> &'static Route {
        match self {
            Self::League { matched, .. } | Self::Service(matched) => matched.route,
        }
    }

    /// The path under which its owner finds the same, however many leagues there are by then.
    pub(super) fn target(&self, uri: &Uri) -> Option<Uri> {
        match self {
            Self::League { id, below, .. } => format!("/leagues/{id}{below}").parse().ok(),
            Self::Service(_) => Some(
                Uri::builder()
                    .path_and_query(uri.path_and_query()?.clone())
                    .build()
                    .ok()?,
            ),
        }
    }
}

impl ServiceHttp {
    async fn answer(self: Arc<Self>, request: Request<Incoming>, peer: SocketAddr) -> EdgeResponse {
        let mut request = match self.check_origin(request).await {
            Ok(request) => request,
            Err(refused) => return here(refused),
        };
        if let Some(preflight) = cors::preflight(request.method(), request.headers()) {
            return here(preflight);
        }
        request.extensions_mut().insert(OriginChecked);
        let destination = match self.locate(request.method(), request.uri()) {
            Ok(destination) => destination,
            Err(refusal) => return here(refusal),
        };
        if let Destination::Service(matched) = &destination
            && let Err(refusal) = self.admit(matched.route, request.headers(), peer)
        {
            return here(refusal);
        }
        let Some(cluster) = self.service.cluster.clone() else {
            return here(self.answer_here(destination, request, peer).await);
        };
        match self.number_for(&destination).await {
            Ok(None) => here(self.answer_here(destination, request, peer).await),
            Ok(Some(number)) => {
                self.to_owner(&cluster, number, destination, request, peer)
                    .await
            }
            Err(_) => here(cluster::unavailable(DATABASE_AWAY)),
        }
    }

    /// Finds the row of a request. What has none is refused here, before anything is forwarded.
    pub(super) fn locate(&self, method: &Method, uri: &Uri) -> Result<Destination, HttpResponse> {
        let path = uri.path();
        if let Some((id, rest)) = path
            .strip_prefix("/leagues/")
            .and_then(|rest| rest.split_once('/'))
        {
            return self.locate_in_league(&LeagueId::new(id), method, rest, uri.query());
        }
        match RouteTable::of_services().locate(method, path, |_| true) {
            Located::Unknown => {}
            located => return located.found().map(Destination::Service),
        }
        match (self.service.only_league(), path.strip_prefix('/')) {
            (Some(id), Some(rest)) => self.locate_in_league(&id, method, rest, uri.query()),
            _ => RouteTable::of_root()
                .locate(method, path, |_| true)
                .found()
                .map(Destination::Service),
        }
    }

    fn locate_in_league(
        &self,
        id: &LeagueId,
        method: &Method,
        rest: &str,
        query: Option<&str>,
    ) -> Result<Destination, HttpResponse> {
        let path = format!("/{rest}");
        let matched = RouteTable::of_agents()
            .locate(method, &path, |_| true)
            .found()?;
        let below = query.map_or(path.clone(), |query| format!("{path}?{query}"));
        let below = below
            .parse::<Uri>()
            .map_err(|_| empty(StatusCode::BAD_REQUEST))?;
        Ok(Destination::League {
            id: id.clone(),
            below,
            matched,
        })
    }

    /// The number of the league whose owner answers a request; `None` if every service can.
    async fn number_for(&self, destination: &Destination) -> anyhow::Result<Option<u32>> {
        let (id, answered) = match destination {
            Destination::League { id, matched, .. } => (id.clone(), matched.route.answered),
            Destination::Service(matched) => {
                (LeagueId::new(matched.value(0)), matched.route.answered)
            }
        };
        match answered {
            Answered::Here => Ok(None),
            Answered::ByLeagueOwner => self.service.number_of(&id).await,
            Answered::ByLogOwner => Ok(Some(NO_LEAGUE)),
        }
    }

    /// Refuses a request by its `Host` and `Origin`.
    async fn check_origin(
        &self,
        request: Request<Incoming>,
    ) -> Result<Request<Incoming>, HttpResponse> {
        match self.origin_check.check_request(&request) {
            Ok(()) => Ok(request),
            Err(stranger) => {
                let body_timeout = self.service.settings.host.options.body_timeout;
                Err(refuse_origin(request, &stranger, body_timeout).await)
            }
        }
    }

    /// Refuses what the caller may not do, and what its address asks too often, before a body is read.
    fn admit(
        &self,
        route: &Route,
        headers: &HeaderMap,
        peer: SocketAddr,
    ) -> Result<(), HttpResponse> {
        let too_many = || Err(with_retry_after(empty(StatusCode::TOO_MANY_REQUESTS), 1));
        let now = Instant::now();
        if !self.requests.admits(peer.ip(), route.cost.requests(), now) {
            return too_many();
        }
        if route.permission != Permission::Service {
            return Ok(());
        }
        // A token that is shown counts as a guess until it proves right: a right one takes nothing.
        if bearer(headers).is_some() && !self.guesses.has_room(peer.ip(), now) {
            return too_many();
        }
        let refused = match api::admit(&self.service, headers) {
            Ok(()) => return Ok(()),
            Err(refused) => refused,
        };
        if bearer(headers).is_some() {
            self.guesses.admits(peer.ip(), 1, now);
            let what = format!(
                "a wrong service token from {} for {} {}",
                peer.ip(),
                route.method,
                route.path
            );
            (self.service.settings.notice)(&what);
        }
        Err(refused.response())
    }

    /// Answers a request that another service received, for the owner of the league or log with this number; `None` if it was lost
    /// meanwhile.
    pub(super) async fn answer_forwarded(
        self: &Arc<Self>,
        cluster: &Cluster,
        number: u32,
        request: Request<Incoming>,
        peer: SocketAddr,
    ) -> Option<EdgeResponse> {
        let destination = match self.locate(request.method(), request.uri()) {
            Ok(destination) => destination,
            Err(refusal) => return Some(here(refusal)),
        };
        let admitted = self.admit(destination.route(), request.headers(), peer);
        if let Err(refusal) = admitted {
            return Some(here(refusal));
        }
        // The number says whose lease is checked, and the path what is done: both have to mean the same.
        match self.number_for(&destination).await {
            Ok(Some(meant)) if meant == number => {
                self.answer_if_owned(cluster, number, destination, request, peer)
                    .await
            }
            _ => None,
        }
    }

    pub(super) async fn answer_here(
        self: Arc<Self>,
        destination: Destination,
        request: Request<Incoming>,
        peer: SocketAddr,
    ) -> HttpResponse {
        let matched = match destination {
            Destination::League { id, below, matched } => {
                return self.to_league(&id, &matched, below, request, peer).await;
            }
            Destination::Service(matched) => matched,
        };
        match matched.route.target {
            Target::Service(target) => self.answer_service(target, &matched, request, peer).await,
            Target::Root(RootRoute::LeagueList) => pages::page(""),
            Target::Root(RootRoute::NoLeague) => {
                self.no_league(request, "this service has several leagues, or none yet")
                    .await
            }
            _ => empty(StatusCode::NOT_FOUND),
        }
    }

    async fn answer_service(
        &self,
        target: ServiceRoute,
        matched: &Matched,
        request: Request<Incoming>,
        peer: SocketAddr,
    ) -> HttpResponse {
        let service = &self.service;
        let id = LeagueId::new(matched.value(0));
        match target {
            ServiceRoute::Live => json(StatusCode::OK, br#"{"status":"ok"}"#.to_vec()),
            ServiceRoute::Ready => readiness_response(service.not_ready()),
            ServiceRoute::Metrics => {
                metrics_response(&service.settings.host.options.telemetry).await
            }
            ServiceRoute::LeagueRedirect => redirect(&id),
            ServiceRoute::LeagueList => pages::page(""),
            ServiceRoute::SeasonPage => pages::page("../"),
            ServiceRoute::Asset => assets::answer(matched.value(0), request.headers()),
            _ if !matched.route.is_change() => api::answer(service, target, matched, request).await,
            _ => {
                let what = format!("{} {}", request.method(), request.uri().path());
                let answer = api::answer(service, target, matched, request).await;
                // Strangers, whose requests are refused, do not fill the log.
                if answer.status().is_success() {
                    tracing::info!(
                        target: SERVICE_TARGET,
                        event_type = "change",
                        "{what} by the holder of the service token, from {}",
                        peer.ip()
                    );
                }
                answer
            }
        }
    }

    async fn to_league(
        &self,
        id: &LeagueId,
        matched: &Matched,
        below: Uri,
        mut request: Request<Incoming>,
        peer: SocketAddr,
    ) -> HttpResponse {
        let id = &self.service.league_at(id);
        match self.service.league(id).await {
            Ok((league, guard)) => {
                *request.uri_mut() = below;
                league.answer(matched, request, peer, guard).await
            }
            Err(Unavailable::NotFound) => {
                self.no_league(request, &format!("there is no league {id} here"))
                    .await
            }
            Err(Unavailable::Elsewhere) => {
                cluster::unavailable("the league is moving to another service: try again")
            }
            Err(Unavailable::Unreachable) => cluster::unavailable(DATABASE_AWAY),
            Err(Unavailable::Quarantined) => {
                let why = format!("league {id} is out of order: its operator has to fix it");
                let body = serde_json::json!({ "error": why }).to_string();
                with_close(unavailable(body.into_bytes(), 60))
            }
        }
    }

    /// E007 in the dialect of the caller, with the leagues that there are; to other requests HTTP 404 with the same words.
    async fn no_league(&self, request: Request<Incoming>, what: &str) -> HttpResponse {
        let words = format!("{what}: {}", self.known());
        if *request.method() != Method::POST {
            let body = serde_json::json!({ "error": words }).to_string();
            return json(StatusCode::NOT_FOUND, body.into_bytes());
        }
        let limits = Limits::MANAGER;
        let mut incoming = request.into_body();
        let body_timeout = self.service.settings.host.options.body_timeout;
        let reading = timeout(
            body_timeout,
            body::read(&mut incoming, limits.message_bytes_max),
        )
        .await;
        let Ok(Ok(body)) = reading else {
            return with_close(empty(StatusCode::NOT_FOUND));
        };
        let refuse = |request: &LeagueRequest| {
            let content = Content::Message(self.league_error(request, &words));
            write_reply(&request.reply_to, request.dialect, &content)
        };
        let reply = match read_requests(&body, &limits) {
            Requests::Refused(reply) => reply,
            Requests::One(request) => HttpReply::one(refuse(&request)),
            Requests::Batch(requests) => HttpReply::batch(
                requests
                    .iter()
                    .map(|request| request.as_ref().map_or_else(Clone::clone, refuse)),
            ),
        };
        let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::OK);
        json(status, reply.body)
    }

    fn league_error(&self, request: &LeagueRequest, words: &str) -> Message {
        let field = |name: &str| match &request.asked {
            RequestContent::Message { value, .. } => {
                value.get(name).and_then(Json::as_str).map(str::to_owned)
            }
            _ => None,
        };
        let conversation = field("conversation_id").unwrap_or_else(|| "conv-error".to_owned());
        let now = self.service.settings.host.now();
        let envelope = Envelope::new(
            Sender::LeagueManager,
            now,
            ConversationId::new(conversation),
        );
        let original = field("message_type").map(UntrustedText::from);
        Message::new(
            envelope,
            LeagueError::new(ErrorCode::LeagueNotFound, words, original, None),
        )
    }

    /// The leagues that anyone may see, for an error.
    fn known(&self) -> String {
        let public = self.service.public_leagues();
        let urls: Vec<String> = public
            .iter()
            .take(NAMES_MAX)
            .map(|id| format!("{}/mcp", self.service.settings.host.league_url(id)))
            .collect();
        match (urls.len(), public.len()) {
            (0, _) => "no league is open to readers here, ask for the address of yours".to_owned(),
            (shown, all) if shown < all => {
                format!("known are {} and {} others", urls.join(", "), all - shown)
            }
            _ => format!("known are {}", urls.join(", ")),
        }
    }
}

/// A browser needs the slash: the page's own addresses are relative.
fn redirect(id: &LeagueId) -> HttpResponse {
    let mut answer = with_header(
        empty(StatusCode::PERMANENT_REDIRECT),
        CONTENT_TYPE,
        "text/plain",
    );
    if let Ok(location) = HeaderValue::from_str(&format!("/leagues/{id}/")) {
        answer.headers_mut().insert(LOCATION, location);
    }
    answer
}
