//! Adapts our HTTP server to the MCP transport of `rmcp`: passes requests on, fills in headers that simple clients leave out,
//! and enforces the limits on sessions.

use super::on_sent::OnSent;
use super::sessions::{SessionGuard, Sessions};
use bytes::Bytes;
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::Incoming;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use matchday_core::protocol::dialect::reply::{HttpReply, write_error};
use matchday_core::protocol::jsonrpc::{ErrorObject, Fault};
use matchday_net::connection_limit::limit_key;
use matchday_net::response::with_retry_after;
use matchday_net::server::HttpResponse;
use matchday_runtime::surface::McpRequest;
use rmcp::ServerHandler;
use rmcp::model::Extensions;
use rmcp::transport::streamable_http_server::SessionManager;
use rmcp::transport::streamable_http_server::session::SessionId;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// The header that names a session.
const SESSION_ID: &str = "mcp-session-id";
/// How often unused sessions are looked for.
const SWEEP_EVERY: Duration = Duration::from_secs(1);
/// How long a session may be without any message. Leagues have long quiet stretches.
const SESSION_IDLE_MAX: Duration = Duration::from_secs(60 * 60);

/// The peer's address, as an extension of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// The address that a request came from.
pub fn peer(extensions: &Extensions) -> SocketAddr {
    let head = extensions.get::<Parts>();
    let peer = head.and_then(|head| head.extensions.get::<Peer>());
    peer.map_or_else(
        || SocketAddr::from(([0, 0, 0, 0], 0)),
        |Peer(address)| *address,
    )
}

/// The MCP transport around a handler.
pub struct Transport<H: ServerHandler> {
    service: StreamableHttpService<H, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
    limits: Sessions,
    /// Makes the check of the limits and the opening one step.
    opening: Mutex<()>,
    swept: std::sync::Mutex<Instant>,
}

impl<H: ServerHandler> Transport<H> {
    /// `make` gives one handler for each session, and one for each request that has none.
    pub fn serving(with_sessions: bool, make: impl Fn() -> H + Send + Sync + 'static) -> Self {
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(SESSION_IDLE_MAX);
        let sessions = Arc::new(sessions);
        // Host and Origin have been checked in front of everything, and sizes when the body was read.
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(with_sessions)
            .with_json_response(true)
            .with_max_request_body_bytes(usize::MAX)
            .disable_allowed_hosts()
            .disable_allowed_origins();
        let service = StreamableHttpService::new(move || Ok(make()), Arc::clone(&sessions), config);
        let limits = Sessions::default();
        let opening = Mutex::default();
        Self {
            service,
            sessions,
            limits,
            opening,
            swept: std::sync::Mutex::new(Instant::now()),
        }
    }

    pub async fn post(
        &self,
        head: Parts,
        body: Bytes,
        mcp_request: &McpRequest,
        peer: SocketAddr,
    ) -> HttpResponse {
        self.sweep().await;
        if mcp_request.method == "initialize" && self.service.config.legacy_session_mode {
            return self.open_session(head, body, mcp_request, peer).await;
        }
        let _in_use = self.session_of(
            &head.headers,
            mcp_request.method != "notifications/initialized",
        );
        self.handle(head, body, mcp_request, peer).await
    }

    /// Opens a session. At a limit, the least recently used session is evicted.
    async fn open_session(
        &self,
        head: Parts,
        body: Bytes,
        mcp_request: &McpRequest,
        peer: SocketAddr,
    ) -> HttpResponse {
        let _alone = self.opening.lock().await;
        // Evict only when the session has opened: a refused request must not cost another client its session.
        let answer = self.handle(head, body, mcp_request, peer).await;
        let Some(id) = session_id(answer.headers()).map(SessionId::from) else {
            return answer;
        };
        {
            let open = self.sessions.sessions.read().await;
            self.limits.retain_open(|id| open.contains_key(id));
        }
        let address = limit_key(peer.ip());
        let Ok(gone) = self.limits.evict_for(address) else {
            self.end(vec![id]).await;
            let error =
                Fault::Internal.because("too many clients have a session here: try again later");
            return with_retry_after(
                error_response(StatusCode::SERVICE_UNAVAILABLE, mcp_request, &error),
                60,
            );
        };
        self.end(gone).await;
        self.limits.insert(id, address, Instant::now());
        answer
    }

    fn session_of(&self, headers: &HeaderMap, uses: bool) -> Option<SessionGuard> {
        self.limits
            .begin_request(session_id(headers)?, uses, Instant::now())
    }

    /// Ends sessions that were opened and never used.
    async fn sweep(&self) {
        let now = Instant::now();
        let is_due = {
            let mut swept = self.swept.lock().unwrap_or_else(PoisonError::into_inner);
            let is_due = now.saturating_duration_since(*swept) >= SWEEP_EVERY;
            if is_due {
                *swept = now;
            }
            is_due
        };
        if is_due {
            self.end(self.limits.evict_unused(now)).await;
        }
    }

    async fn end(&self, sessions: Vec<SessionId>) {
        for session in sessions {
            let _gone_already = self.sessions.close_session(&session).await;
        }
    }

    async fn handle(
        &self,
        mut head: Parts,
        body: Bytes,
        mcp_request: &McpRequest,
        peer: SocketAddr,
    ) -> HttpResponse {
        complete_headers(&mut head.headers);
        head.extensions.insert(Peer(peer));
        let on_sent = OnSent::default();
        head.extensions.insert(on_sent.clone());
        let answer = self
            .service
            .handle(Request::from_parts(head, Full::new(body)))
            .await;
        let is_json = answer
            .headers()
            .get(CONTENT_TYPE)
            .is_some_and(|kind| kind == "application/json");
        if answer.status().is_client_error() && !is_json {
            to_rpc_error(answer, mcp_request).await
        } else {
            on_sent.watch(answer)
        }
    }

    /// Opens a stream, or ends a session.
    pub async fn other(&self, request: Request<Incoming>, peer: SocketAddr) -> HttpResponse {
        let (mut head, _) = request.into_parts();
        head.extensions.insert(Peer(peer));
        let in_use = self.session_of(&head.headers, head.method == Method::GET);
        // `rmcp` accepts the end of a session that is not there.
        if head.method == Method::DELETE
            && let Some(id) = session_id(&head.headers)
            && !self.sessions.sessions.read().await.contains_key(id)
        {
            let error = Fault::InvalidRequest.because("there is no such session, or it has ended");
            return error_response(StatusCode::NOT_FOUND, &McpRequest::UNREAD, &error);
        }
        let mut answer = self
            .service
            .handle(Request::from_parts(head, Empty::<Bytes>::new()))
            .await;
        // `rmcp` answers 202 when a session has ended, which the official clients take for a failure.
        if answer.status() == StatusCode::ACCEPTED {
            *answer.status_mut() = StatusCode::NO_CONTENT;
        }
        // For as long as a stream is open, its session is not idle.
        answer.map(|body| {
            body.map_frame(move |frame| {
                let _until_it_ends = &in_use;
                frame
            })
            .boxed()
        })
    }

    /// Ends every stream and every session.
    pub async fn close(&self) {
        self.service.config.cancellation_token.cancel();
        let open: Vec<_> = self
            .sessions
            .sessions
            .read()
            .await
            .keys()
            .cloned()
            .collect();
        self.end(open).await;
    }
}

impl<H: ServerHandler> fmt::Debug for Transport<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transport").finish_non_exhaustive()
    }
}

fn session_id(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION_ID)?.to_str().ok()
}

/// Fills in the headers that the transport demands and simple clients leave out.
fn complete_headers(headers: &mut HeaderMap) {
    let takes_all = |value: &HeaderValue| value.to_str().is_ok_and(|text| text.contains("*/*"));
    if headers.get(ACCEPT).is_none_or(takes_all) {
        headers.insert(
            ACCEPT,
            HeaderValue::from_static("application/json, text/event-stream"),
        );
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
}

/// Turns a plain-text error of the transport into a JSON-RPC error.
async fn to_rpc_error(refusal: HttpResponse, mcp_request: &McpRequest) -> HttpResponse {
    let status = refusal.status();
    let Ok(text) = refusal.into_body().collect().await;
    let text = String::from_utf8_lossy(&text.to_bytes()).into_owned();
    let misfit = || {
        let why = format!(
            "this is not what {} takes in the Model Context Protocol",
            mcp_request.method
        );
        Fault::InvalidParams.because(why)
    };
    match (status, mcp_request.method.as_str()) {
        // The body was parsed as JSON before, so the form of the request must be wrong.
        (StatusCode::UNSUPPORTED_MEDIA_TYPE, _) => {
            error_response(StatusCode::BAD_REQUEST, mcp_request, &misfit())
        }
        // A well-formed `initialize` needs no session, so the form must be wrong.
        (StatusCode::BAD_REQUEST, "initialize") => error_response(status, mcp_request, &misfit()),
        _ => error_response(status, mcp_request, &Fault::InvalidRequest.because(text)),
    }
}

fn error_response(
    status: StatusCode,
    mcp_request: &McpRequest,
    error: &ErrorObject,
) -> HttpResponse {
    let HttpReply { body, .. } = HttpReply::one(write_error(&mcp_request.reply_to, error));
    let mut answer = Response::new(Full::new(Bytes::from(body)).boxed());
    *answer.status_mut() = status;
    answer
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}
