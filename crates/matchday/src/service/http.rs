//! The routes of a service: what is beneath `/leagues/ID` goes to that league, `/api/leagues` to the service itself. With a single
//! league everything else is the league's too, as at the address of its manager.

use super::cluster::{self, Cluster, EdgeResponse, answer_peer, here};
use super::{Service, ServiceSettings, Unavailable, api, list_page, lock, openapi, season_api};
use hyper::body::Incoming;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue, LOCATION, RETRY_AFTER};
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
use matchday_net::body;
use matchday_net::origin_check::OriginCheck;
use matchday_net::response::{empty, json, with_close, with_header};
use matchday_net::server::{self, HttpResponse};
use matchday_runtime::refuse_origin;
use matchday_runtime::telemetry::{metrics_response, readiness_response};
use matchday_store::leagues::NO_LEAGUE;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::timeout;

/// How many leagues an error names.
const NAMES_MAX: usize = 20;

#[derive(Debug)]
pub(super) struct ServiceHttp {
    pub(super) service: Arc<Service>,
    origin_check: OriginCheck,
}

/// Serves until `closing` turns true, and unloads every league then.
pub(crate) async fn serve(service: Arc<Service>, listener: TcpListener, closing: watch::Receiver<bool>) {
    let ServiceSettings { host, .. } = &service.settings;
    let mut options = host.options.server.clone();
    options.open = Arc::clone(&host.options.telemetry.metrics.connections);
    let origin_check = OriginCheck::new(host.address, host.options.allowed.clone());
    let http = Arc::new(ServiceHttp { service: Arc::clone(&service), origin_check });
    let public = Arc::clone(&http);
    let handler = move |request, peer| Arc::clone(&public).answer(request, peer);
    let serving = server::serve(listener, options.clone(), handler, closing.clone());
    let among_others = async {
        if let Some(cluster) = service.cluster.clone() {
            share(&http, cluster, options, closing.clone()).await;
        }
    };
    tokio::join!(serving, among_others, Arc::clone(&service).supervise(closing.clone()));
}

/// Takes part in the ownership of leagues, and answers the other services until all leagues are handed over.
async fn share(
    http: &Arc<ServiceHttp>,
    cluster: Arc<Cluster>,
    options: server::ServerOptions,
    closing: watch::Receiver<bool>,
) {
    let Some(listener) = lock(&cluster.listener).take() else { return };
    let options = server::ServerOptions {
        // All come from a few addresses, with some headers more than the client sent.
        per_address_max: Some(options.connections_max),
        headers_max: options.headers_max + 8,
        head_bytes_max: options.head_bytes_max + 1024,
        tls: Some(cluster.tls.clone()),
        open: Arc::default(),
        ..options
    };
    let (close, closed) = watch::channel(false);
    let (peer_http, of_peers) = (Arc::clone(http), Arc::clone(&cluster));
    let handler = move |request, _| answer_peer(Arc::clone(&peer_http), Arc::clone(&of_peers), request);
    let owning = async {
        Arc::clone(&http.service).own_leagues(cluster, closing).await;
        let _ = close.send(true);
    };
    tokio::join!(server::serve(listener, options, handler, closed), owning);
}

impl ServiceHttp {
    async fn answer(self: Arc<Self>, request: Request<Incoming>, peer: SocketAddr) -> EdgeResponse {
        let Some(cluster) = self.service.cluster.clone() else {
            return here(self.answer_here(request, peer).await);
        };
        match self.number_for(&request).await {
            Ok(None) => here(self.answer_here(request, peer).await),
            Ok(Some(number)) => self.to_owner(&cluster, number, request, peer).await,
            Err(_) => here(cluster::unavailable("the store cannot be reached: try again")),
        }
    }

    /// The number of the league whose owner answers a request; `None` if every service can.
    async fn number_for(&self, request: &Request<Incoming>) -> anyhow::Result<Option<u32>> {
        let (path, reads) = (request.uri().path(), *request.method() == Method::GET);
        let first = |rest: &str| LeagueId::new(rest.split('/').next().unwrap_or_default());
        if let Some(rest) = path.strip_prefix("/leagues/") {
            return match rest.contains('/') {
                true => self.service.number_of(&first(rest)).await,
                false => Ok(None),
            };
        }
        if path.starts_with("/api/seasons") || path == "/api/leagues" || path == "/api/leagues/import" {
            return Ok((!reads).then_some(NO_LEAGUE));
        }
        if let Some(rest) = path.strip_prefix("/api/leagues/") {
            return self.service.number_of(&first(rest)).await;
        }
        let is_own = path.starts_with("/api/")
            || path.starts_with("/seasons/")
            || matches!(path, "/health/live" | "/health/ready" | "/metrics");
        match self.service.only_league().filter(|_| !is_own) {
            Some(id) => self.service.number_of(&id).await,
            None => Ok(None),
        }
    }

    /// Refuses a request by its `Host` and `Origin`.
    pub(super) async fn check_origin(
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

    pub(super) async fn answer_here(
        self: Arc<Self>,
        request: Request<Incoming>,
        peer: SocketAddr,
    ) -> HttpResponse {
        let service = &self.service;
        let path = request.uri().path();
        if let Some(rest) = path.strip_prefix("/leagues/") {
            let (id, rest) = rest.split_once('/').map_or((rest, None), |(id, rest)| (id, Some(rest)));
            let id = LeagueId::new(id);
            return match rest {
                None => redirect(&id),
                Some(rest) => {
                    let query = request.uri().query().map(|query| format!("?{query}")).unwrap_or_default();
                    let below = format!("/{rest}{query}").parse::<Uri>();
                    self.to_league(&id, below.ok(), request, peer).await
                }
            };
        }
        let request = match self.check_origin(request).await {
            Ok(request) => request,
            Err(refused) => return refused,
        };
        let path = request.uri().path();
        let telemetry = &service.settings.host.options.telemetry;
        match (path, request.method()) {
            ("/api/openapi.json", &Method::GET) => {
                json(StatusCode::OK, openapi::document().to_string().into_bytes())
            }
            (path, _) if path == "/api/leagues" || path.starts_with("/api/leagues/") => {
                api::answer(service, request).await
            }
            (path, _) if path == "/api/seasons" || path.starts_with("/api/seasons/") => {
                season_api::answer(service, request).await
            }
            ("/api/cluster", &Method::GET) => api::cluster(service, request.headers()).await,
            (path, &Method::GET) if path.starts_with("/seasons/") => {
                let name = LeagueId::new(path.trim_start_matches("/seasons/"));
                season_api::page(service, &name, request.headers())
            }
            ("/health/live", &Method::GET) => json(StatusCode::OK, br#"{"status":"ok"}"#.to_vec()),
            ("/health/ready", &Method::GET) => readiness_response(service.not_ready()),
            ("/metrics", &Method::GET) => metrics_response(telemetry).await,
            ("/health/live" | "/health/ready" | "/metrics" | "/api/openapi.json" | "/api/cluster", _) => {
                with_header(empty(StatusCode::METHOD_NOT_ALLOWED), ALLOW, "GET")
            }
            _ => self.other(request, peer).await,
        }
    }

    /// What is at the address of a manager is at that of a service with one league.
    async fn other(&self, request: Request<Incoming>, peer: SocketAddr) -> HttpResponse {
        let path = request.uri().path().to_owned();
        if let Some(id) = self.service.only_league() {
            let uri = request.uri().clone();
            return self.to_league(&id, Some(uri), request, peer).await;
        }
        match (path.as_str(), request.method()) {
            ("/", &Method::GET) => list_page::page(&self.service, request.headers()),
            ("/mcp", &Method::POST) => {
                self.no_league(request, "this service has several leagues, or none yet").await
            }
            _ => empty(StatusCode::NOT_FOUND),
        }
    }

    async fn to_league(
        &self,
        id: &LeagueId,
        below: Option<Uri>,
        mut request: Request<Incoming>,
        peer: SocketAddr,
    ) -> HttpResponse {
        let Some(below) = below else { return empty(StatusCode::NOT_FOUND) };
        let id = &self.service.league_at(id);
        match self.service.league(id).await {
            Ok((league, guard)) => {
                *request.uri_mut() = below;
                league.answer(request, peer, guard).await
            }
            Err(Unavailable::NotFound) => {
                self.no_league(request, &format!("there is no league {id} here")).await
            }
            Err(Unavailable::Elsewhere) => cluster::unavailable("the league changes hands: try again"),
            Err(Unavailable::Unreachable) => {
                cluster::unavailable("the database cannot be reached: try again in a moment")
            }
            Err(Unavailable::Quarantined) => {
                let why = format!("league {id} is out of order: its operator has to mend it");
                let body = serde_json::json!({ "error": why }).to_string();
                let mut answer = with_close(json(StatusCode::SERVICE_UNAVAILABLE, body.into_bytes()));
                answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("60"));
                answer
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
        let reading = timeout(body_timeout, body::read(&mut incoming, limits.message_bytes_max)).await;
        let Ok(Ok(body)) = reading else { return with_close(empty(StatusCode::NOT_FOUND)) };
        let refuse = |request: &LeagueRequest<'_>| {
            let content = Content::Message(self.league_error(request, &words));
            write_reply(&request.reply_to, request.dialect, &content)
        };
        let reply = match read_requests(&body, &limits) {
            Requests::Refused(reply) => reply,
            Requests::One(request) => HttpReply::one(refuse(&request)),
            Requests::Batch(requests) => HttpReply::batch(
                requests.iter().map(|request| request.as_ref().map_or_else(Clone::clone, refuse)),
            ),
        };
        let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::OK);
        json(status, reply.body)
    }

    fn league_error(&self, request: &LeagueRequest<'_>, words: &str) -> Message {
        let field = |name: &str| match &request.asked {
            RequestContent::Message { value, .. } => {
                value.get(name).and_then(Json::as_str).map(str::to_owned)
            }
            _ => None,
        };
        let conversation = field("conversation_id").unwrap_or_else(|| "conv-error".to_owned());
        let now = self.service.settings.host.now();
        let envelope = Envelope::new(Sender::LeagueManager, now, ConversationId::new(conversation));
        let original = field("message_type").map(UntrustedText::from);
        Message::new(envelope, LeagueError::new(ErrorCode::LeagueNotFound, words, original, None))
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
    let mut answer = with_header(empty(StatusCode::PERMANENT_REDIRECT), CONTENT_TYPE, "text/plain");
    if let Ok(location) = HeaderValue::from_str(&format!("/leagues/{id}/")) {
        answer.headers_mut().insert(LOCATION, location);
    }
    answer
}
