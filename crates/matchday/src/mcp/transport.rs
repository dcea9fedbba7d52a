//! Between our HTTP server and the official crate's: lends it a request, and mends what simple clients leave out.

use super::dispatch::Meant;
use super::sessions::{InUse, Sessions};
use crate::net::address_group;
use crate::net::server::Answer;
use bytes::Bytes;
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::Incoming;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use matchday_core::protocol::dialect::reply::{HttpReply, write_error};
use matchday_core::protocol::jsonrpc::{ErrorObject, Fault};
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

/// In which header a session is named.
const SESSION_ID: &str = "mcp-session-id";
/// How often it is looked for sessions that nobody uses.
const SWEEP_EVERY: Duration = Duration::from_secs(1);
/// How long a session may be without any message. Leagues have long quiet stretches.
const SESSION_IDLE_MAX: Duration = Duration::from_secs(60 * 60);

/// Who sent a request, for those who answer it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// Who sent a request.
pub(crate) fn peer(extensions: &Extensions) -> SocketAddr {
    let head = extensions.get::<Parts>();
    let peer = head.and_then(|head| head.extensions.get::<Peer>());
    peer.map_or_else(|| SocketAddr::from(([0, 0, 0, 0], 0)), |Peer(address)| *address)
}

/// The official server around a handler of ours.
pub(crate) struct Transport<H: ServerHandler> {
    service: StreamableHttpService<H, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
    known: Sessions,
    /// Sessions are opened one by one, so that there are never too many.
    opening: Mutex<()>,
    swept: std::sync::Mutex<Instant>,
}

impl<H: ServerHandler> Transport<H> {
    /// `make` gives one handler for each session, and one for each request that has none.
    pub(crate) fn serving(with_sessions: bool, make: impl Fn() -> H + Send + Sync + 'static) -> Self {
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
        let (known, opening) = (Sessions::default(), Mutex::default());
        Self { service, sessions, known, opening, swept: std::sync::Mutex::new(Instant::now()) }
    }

    /// What may be done at the address, for the `Allow` header.
    pub(crate) fn methods(&self) -> &'static str {
        if self.service.config.legacy_session_mode { "GET, POST, DELETE" } else { "POST" }
    }

    pub(crate) async fn post(&self, head: Parts, body: Bytes, meant: &Meant, peer: SocketAddr) -> Answer {
        self.sweep().await;
        if meant.method == "initialize" && self.service.config.legacy_session_mode {
            return self.open_session(head, body, meant, peer).await;
        }
        let _in_use = self.session_of(&head.headers, meant.method != "notifications/initialized");
        self.handle(head, body, meant, peer).await
    }

    /// Another session for this client. If there are too many, of its address or of all, the one that has been idle for the
    /// longest time makes room.
    async fn open_session(&self, head: Parts, body: Bytes, meant: &Meant, peer: SocketAddr) -> Answer {
        let _alone = self.opening.lock().await;
        // Whoever asks for a session in vain ends nobody else's.
        let answer = self.handle(head, body, meant, peer).await;
        let Some(id) = session_id(answer.headers()).map(SessionId::from) else { return answer };
        {
            let open = self.sessions.sessions.read().await;
            self.known.keep(|id| open.contains_key(id));
        }
        let address = address_group(peer.ip());
        let Ok(gone) = self.known.make_room(address) else {
            self.end(vec![id]).await;
            let error = Fault::Internal.because("too many clients have a session here: try again later");
            let mut answer = failed(StatusCode::SERVICE_UNAVAILABLE, meant, &error);
            answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("60"));
            return answer;
        };
        self.end(gone).await;
        self.known.opened(id, address, Instant::now());
        answer
    }

    fn session_of(&self, headers: &HeaderMap, uses: bool) -> Option<InUse> {
        self.known.begin(session_id(headers)?, uses, Instant::now())
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
            self.end(self.known.take_unused(now)).await;
        }
    }

    async fn end(&self, sessions: Vec<SessionId>) {
        for session in sessions {
            let _gone_already = self.sessions.close_session(&session).await;
        }
    }

    async fn handle(&self, mut head: Parts, body: Bytes, meant: &Meant, peer: SocketAddr) -> Answer {
        complete(&mut head.headers);
        head.extensions.insert(Peer(peer));
        let answer = self.service.handle(Request::from_parts(head, Full::new(body))).await;
        let is_json = answer.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
        if answer.status().is_client_error() && !is_json { explained(answer, meant).await } else { answer }
    }

    /// Opens a stream, or ends a session.
    pub(crate) async fn other(&self, request: Request<Incoming>, peer: SocketAddr) -> Answer {
        let (mut head, _) = request.into_parts();
        head.extensions.insert(Peer(peer));
        let in_use = self.session_of(&head.headers, head.method == Method::GET);
        let mut answer = self.service.handle(Request::from_parts(head, Empty::<Bytes>::new())).await;
        // "Accepted" is what the crate says when a session has ended, and what the official clients take for a failure.
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
    pub(crate) async fn close(&self) {
        self.service.config.cancellation_token.cancel();
        let open: Vec<_> = self.sessions.sessions.read().await.keys().cloned().collect();
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

/// Simple clients take whatever comes and do not say so, and it is JSON that they send, whatever they call it.
fn complete(headers: &mut HeaderMap) {
    let takes_all = |value: &HeaderValue| value.to_str().is_ok_and(|text| text.contains("*/*"));
    if headers.get(ACCEPT).is_none_or(takes_all) {
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
}

/// A refusal in plain words becomes one that programs can read too.
async fn explained(refusal: Answer, meant: &Meant) -> Answer {
    let status = refusal.status();
    let Ok(words) = refusal.into_body().collect().await;
    let words = String::from_utf8_lossy(&words.to_bytes()).into_owned();
    let misfit = || {
        let why = format!("this is not what {} takes in the Model Context Protocol", meant.method);
        Fault::InvalidParams.because(why)
    };
    match (status, meant.method.as_str()) {
        // It is JSON, since it has been read already, so it must be the form of the request that does not fit.
        (StatusCode::UNSUPPORTED_MEDIA_TYPE, _) => failed(StatusCode::BAD_REQUEST, meant, &misfit()),
        // One that fits needs no session, and if it had not been taken for one would have been told otherwise.
        (StatusCode::BAD_REQUEST, "initialize") => failed(status, meant, &misfit()),
        _ => failed(status, meant, &Fault::InvalidRequest.because(words)),
    }
}

fn failed(status: StatusCode, meant: &Meant, error: &ErrorObject) -> Answer {
    let HttpReply { body, .. } = HttpReply::one(write_error(&meant.reply_to, error));
    let mut answer = Response::new(Full::new(Bytes::from(body)).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}
