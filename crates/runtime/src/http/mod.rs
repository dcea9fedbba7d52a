//! Routes of an agent's address: league messages (`exchange`), the Model Context Protocol, health, metrics, checkpoints and
//! mounted surfaces.

mod exchange;

use crate::intake::{Caller, Intake};
use crate::join_code::JoinCode;
use crate::message_meta::MessageMeta;
use crate::routes::{AgentRoute, Part, RouteTable, Target};
use crate::rpc_error::refuse_origin;
use crate::schemas;
use crate::surface::{McpRequest, McpSurface, Surface};
use crate::telemetry::Endpoints;
use crate::telemetry::trace::Parent;
use bytes::Bytes;
use http_body_util::{BodyExt, Collected, Full};
use hyper::body::Incoming;
use hyper::header::{ALLOW, CONTENT_TYPE, ORIGIN};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Request, StatusCode};
use matchday_core::agent::Content;
use matchday_core::driver::ExchangeOutcome;
use matchday_core::protocol::dialect::reply::HttpReply;
use matchday_core::protocol::dialect::request::{self, read_requests};
use matchday_core::protocol::{Body, ErrorCode, Message, Sender, Token};
use matchday_net::bearer::bearer;
use matchday_net::body::{self, BodyError};
use matchday_net::cors;
use matchday_net::origin_check::{OriginCheck, OriginError};
use matchday_net::rate_limit::RateLimiter;
use matchday_net::response::{
    DISCARD_MAX, empty, json, unavailable, with_close, with_header, with_retry_after,
};
use matchday_net::rx_time::RxTimes;
use matchday_net::server::HttpResponse;
use serde_json::Value;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// After how many seconds to try again where the agent stops: it may be started again.
const STOPPING_SECONDS: u64 = 1;

/// Routes the requests of one agent's address.
pub struct HttpService {
    intake: Arc<Intake>,
    mcp: Option<Box<dyn McpSurface>>,
    origin_check: OriginCheck,
    rate_limiter: RateLimiter,
    body_timeout: Duration,
    surfaces: Vec<Arc<dyn Surface>>,
    /// Readiness and metrics.
    telemetry: Endpoints,
}

impl fmt::Debug for HttpService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpService")
            .field("surfaces", &self.surfaces)
            .finish_non_exhaustive()
    }
}

impl HttpService {
    pub(super) fn new(
        intake: Arc<Intake>,
        origin_check: OriginCheck,
        rate_limiter: RateLimiter,
        body_timeout: Duration,
        mcp: Option<Box<dyn McpSurface>>,
        surfaces: Vec<Arc<dyn Surface>>,
        telemetry: Endpoints,
    ) -> Self {
        Self {
            intake,
            mcp,
            origin_check,
            rate_limiter,
            body_timeout,
            surfaces,
            telemetry,
        }
    }

    /// The one way of a request to the agent.
    pub fn intake(&self) -> &Arc<Intake> {
        &self.intake
    }

    /// Ends the streams and sessions of all surfaces.
    pub(super) async fn close(&self) {
        for surface in &self.surfaces {
            surface.close().await;
        }
        if let Some(mcp) = &self.mcp {
            mcp.close().await;
        }
    }

    pub async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
        peer: SocketAddr,
    ) -> HttpResponse {
        if let Err(stranger) = self.origin_check.check_request(&request) {
            return Box::pin(self.turn_away(request, peer, &stranger)).await;
        }
        let Some(origin) = request.headers().get(ORIGIN).cloned() else {
            return self.route(request, peer).await;
        };
        match cors::preflight(request.method(), request.headers()) {
            Some(preflight) => preflight,
            None => cors::allow(Box::pin(self.route(request, peer)).await, &origin),
        }
    }

    async fn route(&self, mut request: Request<Incoming>, peer: SocketAddr) -> HttpResponse {
        let surface_of = |part: Part| self.surfaces.iter().find(|surface| surface.part() == part);
        let has = |part: Part| part == Part::Agent || surface_of(part).is_some();
        let located = RouteTable::of_agents().locate(request.method(), request.uri().path(), has);
        let matched = match located.found() {
            Ok(matched) => matched,
            Err(refusal) => return refusal,
        };
        let cost = matched.route.cost.requests();
        if cost > 0 && !self.rate_limiter.admits(peer.ip(), cost, Instant::now()) {
            return self.rate_limited(peer);
        }
        let target = match matched.route.target {
            Target::Agent(target) => target,
            other => {
                let Some(surface) = surface_of(other.part()) else {
                    return empty(StatusCode::NOT_FOUND);
                };
                return Arc::clone(surface)
                    .respond(matched, request, peer, &self.intake)
                    .await;
            }
        };
        match target {
            AgentRoute::JoinMessage if self.intake.name() != Sender::LeagueManager => {
                empty(StatusCode::NOT_FOUND)
            }
            AgentRoute::JoinMessage => {
                JoinCode::of_path(matched.value(0)).attach_to(&mut request);
                self.message(request, peer).await
            }
            AgentRoute::Message => self.message(request, peer).await,
            AgentRoute::McpStream | AgentRoute::McpEnd => match &self.mcp {
                Some(mcp) => mcp.other(request, peer).await,
                None => with_header(empty(StatusCode::METHOD_NOT_ALLOWED), ALLOW, "POST"),
            },
            AgentRoute::Checkpoint => {
                let token = bearer(request.headers()).map(Token::new);
                Box::pin(self.checkpoint(peer, token)).await
            }
            AgentRoute::Schemas => schemas::index(),
            AgentRoute::Schema => schemas::document(matched.value(0)),
            AgentRoute::Live => json(StatusCode::OK, br#"{"status":"ok"}"#.to_vec()),
            AgentRoute::Ready => Box::pin(self.telemetry.ready()).await,
            AgentRoute::Metrics => Box::pin(self.telemetry.metrics()).await,
        }
    }

    fn rate_limited(&self, peer: SocketAddr) -> HttpResponse {
        self.intake
            .refused_unread(peer, "too many requests from its address");
        with_retry_after(empty(StatusCode::TOO_MANY_REQUESTS), 1)
    }

    /// The latest checkpoint, as the text that it is.
    async fn checkpoint(&self, peer: SocketAddr, operator_token: Option<Token>) -> HttpResponse {
        let (status, text) = match self.intake.checkpoint(peer, operator_token).await {
            Ok(Content::Data(data)) => match data.get("checkpoint").and_then(Value::as_str) {
                Some(note) => (StatusCode::OK, note.to_owned()),
                None => (
                    StatusCode::NOT_FOUND,
                    "no checkpoint has been signed yet\n".to_owned(),
                ),
            },
            Ok(Content::Message(Message {
                body: Body::LeagueError(error),
                ..
            })) => match error.error_code {
                ErrorCode::TokenMissing => (
                    StatusCode::UNAUTHORIZED,
                    "this league is not open to readers\n".to_owned(),
                ),
                ErrorCode::TokenInvalid => (
                    StatusCode::UNAUTHORIZED,
                    "this is not the operator's token\n".to_owned(),
                ),
                ErrorCode::RateLimited => {
                    return with_retry_after(empty(StatusCode::TOO_MANY_REQUESTS), 1);
                }
                _ => (
                    StatusCode::NOT_FOUND,
                    "only a manager has checkpoints\n".to_owned(),
                ),
            },
            Ok(_) => (
                StatusCode::NOT_FOUND,
                "there are no checkpoints here\n".to_owned(),
            ),
            Err(_) => return with_close(unavailable(Vec::new(), STOPPING_SECONDS)),
        };
        let mut answer = HttpResponse::new(Full::new(Bytes::from(text)).boxed());
        *answer.status_mut() = status;
        with_header(answer, CONTENT_TYPE, "text/plain; charset=utf-8")
    }

    async fn turn_away(
        &self,
        request: Request<Incoming>,
        peer: SocketAddr,
        stranger: &OriginError,
    ) -> HttpResponse {
        self.intake.refused_unread(peer, &stranger.to_string());
        refuse_origin(request, stranger, self.body_timeout).await
    }

    async fn message(&self, request: Request<Incoming>, peer: SocketAddr) -> HttpResponse {
        let (head, mut incoming) = request.into_parts();
        let limits = self.intake.limits();
        let reading = body::read(&mut incoming, limits.message_bytes_max);
        let body = match timeout(self.body_timeout, reading).await {
            Ok(Ok(body)) => body,
            Ok(Err(BodyError::TooLarge(bytes))) => {
                self.intake.refused_unread(peer, "the message is too large");
                let _in_time =
                    timeout(self.body_timeout, body::discard(&mut incoming, DISCARD_MAX)).await;
                let refusal = request::refuse_size(bytes, limits);
                return with_close(json(status(&refusal), refusal.body));
            }
            Ok(Err(BodyError::Broken)) => return with_close(empty(StatusCode::BAD_REQUEST)),
            Err(_) => {
                self.intake
                    .refused_unread(peer, "the message did not come in time");
                return with_close(empty(StatusCode::REQUEST_TIMEOUT));
            }
        };
        self.read_message(head, body, peer).await
    }

    /// Answers what came to the agent's mailbox, as if it had been posted here. The status and the body.
    pub async fn deliver(&self, body: Bytes) -> (u16, Bytes) {
        let (head, ()) = Request::post("/mcp")
            .body(())
            .unwrap_or_default()
            .into_parts();
        let peer = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let (head, body) = self.read_message(head, body, peer).await.into_parts();
        // It is in memory already.
        let body = body
            .collect()
            .await
            .map(Collected::to_bytes)
            .unwrap_or_default();
        (head.status.as_u16(), body)
    }

    async fn read_message(&self, head: Parts, body: Bytes, peer: SocketAddr) -> HttpResponse {
        let requests = read_requests(&body, self.intake.limits());
        let mcp = self.mcp.as_ref();
        match mcp.and_then(|mcp| Some((mcp, mcp.classify(&requests, &head.headers, &body)?))) {
            Some(_) if !self.rate_limiter.admits(peer.ip(), 1, Instant::now()) => {
                self.rate_limited(peer)
            }
            Some((mcp, request)) => {
                Box::pin(self.mcp_request(&**mcp, head, body, request, peer)).await
            }
            None => {
                let at = self.intake.arrival(head.extensions.get::<Arc<RxTimes>>());
                let caller = Caller::from(peer).with_join_code(JoinCode::of(&head.extensions));
                self.league_message(requests, &body, at, &caller, parent(&head.headers))
                    .await
            }
        }
    }

    async fn mcp_request(
        &self,
        mcp: &dyn McpSurface,
        head: Parts,
        body: Bytes,
        request: McpRequest,
        peer: SocketAddr,
    ) -> HttpResponse {
        let at = self.intake.now();
        let meta = MessageMeta::new(&request.method, None, None);
        let answer = mcp.post(head, body, &request, peer).await;
        if !request.is_logged_by_intake() {
            let status = answer.status();
            let outcome = ExchangeOutcome::Http {
                status: status.as_u16(),
                is_success: status.is_success(),
            };
            self.intake.log_exchange(at, &peer.into(), &meta, &outcome);
        }
        answer
    }
}

/// The caller's span, if it sends one.
fn parent(headers: &HeaderMap) -> Option<Parent> {
    Parent::parse(headers.get("traceparent")?.to_str().ok()?)
}

fn status(reply: &HttpReply) -> StatusCode {
    StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}
