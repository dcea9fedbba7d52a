//! Holds requests while a league changes hands, and forwards those for leagues of other services. A request that cannot be
//! answered within a few seconds gets HTTP 503 with `Retry-After`, which no agent takes for a final answer.

use super::Cluster;
use super::headers::{Forwarded, is_not_owner, is_unanswered};
use super::peer_http::FORWARD;
use super::routing::{Peer, Route};
use crate::service::Unavailable;
use crate::service::database_away::DATABASE_AWAY;
use crate::service::http::{Destination, ServiceHttp};
use bytes::Bytes;
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::HeaderMap;
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode, Uri};
use matchday_core::protocol::dialect::request::refuse_size;
use matchday_net::body;
use matchday_net::forward::{Cut, ForwardError, ForwardRequest, ForwardedBody, end_to_end};
use matchday_net::response::{self, DISCARD_MAX, empty, json, unanswered, with_close};
use matchday_net::rx_time::RxTimes;
use matchday_net::server::HttpResponse;
use matchday_runtime::routes::BodyLimit;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep, timeout};

/// How long a request is held for an owner that answers.
const HOLD_MAX: Duration = Duration::from_secs(8);
const HOLD_STEP: Duration = Duration::from_millis(150);
/// How long an owner may take to begin its answer: a client waits for its turn in a request of its own. An owner that is gone is
/// noticed by its lease.
const ANSWER_MAX: Duration = Duration::from_secs(3600);
/// How many bytes of long bodies are held at once.
const HELD_BYTES_MAX: usize = 64 << 20;
/// A body up to this length is never refused for want of room.
const SHORT_BODY_BYTES: usize = 64 << 10;

/// A response of the public socket: one of this process, or one that comes piece by piece from another.
pub(crate) type EdgeResponse = Response<UnsyncBoxBody<Bytes, Cut>>;

/// A response of this process.
pub(crate) fn here(response: HttpResponse) -> EdgeResponse {
    response.map(|body| body.map_err(|never| match never {}).boxed_unsync())
}

/// HTTP 503, which says that the same request may be made again.
pub(crate) fn unavailable(why: &str) -> HttpResponse {
    let body = serde_json::json!({ "error": why }).to_string();
    response::unavailable(body.into_bytes(), 1)
}

/// A request whose body has come whole.
struct ReadRequest {
    method: Method,
    target: Uri,
    headers: HeaderMap,
    body: Bytes,
    arrived: Instant,
    /// Held as long as the body is.
    _room: Option<OwnedSemaphorePermit>,
}

/// The bytes of long bodies that are held at once, until they are forwarded and answered. Short ones are bounded by the connections.
#[derive(Debug)]
pub(crate) struct HeldBodies(Arc<Semaphore>);

impl Default for HeldBodies {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(HELD_BYTES_MAX)))
    }
}

impl HeldBodies {
    fn room_for(&self, bytes: usize) -> Result<Option<OwnedSemaphorePermit>, HttpResponse> {
        if bytes <= SHORT_BODY_BYTES {
            return Ok(None);
        }
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        match Arc::clone(&self.0).try_acquire_many_owned(bytes) {
            Ok(permit) => Ok(Some(permit)),
            Err(_) => Err(unavailable(
                "this service holds as many long requests as it can: try again",
            )),
        }
    }
}

/// What a request can be answered with, or that it must be tried again.
enum Tried {
    Answered(EdgeResponse),
    Again,
}

impl ServiceHttp {
    /// Answers a request for the league with this number, here or by its owner.
    pub(crate) async fn to_owner(
        self: &Arc<Self>,
        cluster: &Cluster,
        number: u32,
        destination: Destination,
        request: Request<Incoming>,
        peer: SocketAddr,
    ) -> EdgeResponse {
        let is_change = destination.route().is_change();
        let give_up_at = Instant::now() + HOLD_MAX;
        let (mut unread, mut read): (Option<Request<Incoming>>, Option<ReadRequest>) =
            (Some(request), None);
        let mut held = false;
        loop {
            // Neither whose league it is nor what is in it can be known, and the next service may be able to.
            if self.service.is_store_away() {
                return here(unavailable(DATABASE_AWAY));
            }
            let route = cluster.route(number).await;
            if matches!(route, Route::Own) && unread.is_some() && self.is_ready(number).await {
                if let Some(request) = unread.take() {
                    let answered = self
                        .answer_if_owned(cluster, number, destination, request, peer)
                        .await;
                    return answered.unwrap_or_else(|| {
                        here(unavailable(
                            "the league is moving to another service: try again",
                        ))
                    });
                }
            } else if let Some(owner) = cluster.to_forward_to(&route, unread.is_none()) {
                if let Some(request) = unread.take() {
                    match self.read(number, &destination, request).await {
                        Ok(whole) => read = Some(whole),
                        Err(refused) => return here(refused),
                    }
                }
                if let Some(read) = &read {
                    match cluster.forward(&owner, read, number, peer, is_change).await {
                        Tried::Answered(response) => return response,
                        Tried::Again => cluster.forget_route(number),
                    }
                }
            }
            if Instant::now() >= give_up_at {
                return here(unavailable(
                    "the service that has this league does not answer: try again",
                ));
            }
            if !std::mem::replace(&mut held, true) {
                cluster.metrics.held.fetch_add(1, Ordering::Relaxed);
            }
            sleep(HOLD_STEP).await;
        }
    }

    /// Whether a league of our own is loaded. One that is just being handed over is not.
    async fn is_ready(&self, number: u32) -> bool {
        let id = self.service.id_of(number);
        match id {
            None => true,
            Some(id) => !matches!(self.service.league(&id).await, Err(Unavailable::Elsewhere)),
        }
    }

    /// The answer of this process; `None` if the league was lost while it was made, so that it must not be shown.
    pub(crate) async fn answer_if_owned(
        self: &Arc<Self>,
        cluster: &Cluster,
        number: u32,
        destination: Destination,
        request: Request<Incoming>,
        peer: SocketAddr,
    ) -> Option<EdgeResponse> {
        let is_change = destination.route().is_change();
        let response = Arc::clone(self)
            .answer_here(destination, request, peer)
            .await;
        (is_change || cluster.owns(number)).then(|| here(response))
    }

    /// Reads the body of a request that is to be forwarded, within the limit of its row.
    async fn read(
        &self,
        number: u32,
        destination: &Destination,
        request: Request<Incoming>,
    ) -> Result<ReadRequest, HttpResponse> {
        let limits = self.service.limits_of(number);
        let body_limit = destination.route().body;
        let bytes_max = body_limit.bytes(limits.message_bytes_max);
        let too_large = |bytes: usize| match body_limit {
            BodyLimit::Message => {
                let refusal = refuse_size(bytes, &limits);
                with_close(json(StatusCode::PAYLOAD_TOO_LARGE, refusal.body))
            }
            _ => {
                let why = format!("the body may have {bytes_max} bytes at most");
                let body = serde_json::json!({ "error": why }).to_string();
                with_close(json(StatusCode::PAYLOAD_TOO_LARGE, body.into_bytes()))
            }
        };
        let room = self.held_bodies.room_for(bytes_max)?;
        let (head, mut incoming) = request.into_parts();
        let body_timeout = self.service.settings.host.options.body_timeout;
        let body = match timeout(body_timeout, body::read(&mut incoming, bytes_max)).await {
            Ok(Ok(body)) => body,
            Ok(Err(body::BodyError::TooLarge(bytes))) => {
                let discarding = body::discard(&mut incoming, DISCARD_MAX);
                let _in_time = timeout(body_timeout, discarding).await;
                return Err(too_large(bytes));
            }
            Ok(Err(body::BodyError::Broken)) => {
                return Err(with_close(empty(StatusCode::BAD_REQUEST)));
            }
            Err(_) => return Err(with_close(empty(StatusCode::REQUEST_TIMEOUT))),
        };
        let Parts {
            method,
            uri,
            headers,
            extensions,
            ..
        } = head;
        let target = destination
            .target(&uri)
            .ok_or_else(|| empty(StatusCode::BAD_REQUEST))?;
        let times = extensions
            .get::<Arc<RxTimes>>()
            .and_then(|times| times.last());
        let arrived = times.unwrap_or_else(Instant::now);
        Ok(ReadRequest {
            method,
            target,
            headers: end_to_end(&headers),
            body,
            arrived,
            _room: room,
        })
    }
}

impl Cluster {
    /// Where to forward a request: to ourselves too, if its body was read before this process took the league.
    fn to_forward_to(&self, route: &Route, is_read: bool) -> Option<Arc<Peer>> {
        match route {
            Route::Other(peer) => Some(Arc::clone(peer)),
            Route::Own if is_read => Some(Arc::clone(&self.own)),
            Route::Own | Route::Nobody => None,
        }
    }

    /// `is_change`: it is not carried out twice.
    async fn forward(
        &self,
        owner: &Arc<Peer>,
        read: &ReadRequest,
        number: u32,
        peer: SocketAddr,
        is_change: bool,
    ) -> Tried {
        let forwarded = Forwarded {
            method: read.method.clone(),
            target: read.target.clone(),
            number,
            from: peer.ip(),
            elapsed: read.arrived.elapsed(),
        };
        let mut headers = read.headers.clone();
        forwarded.write(&mut headers);
        let uri = Uri::from_static(FORWARD);
        let request = ForwardRequest {
            method: Method::POST,
            uri,
            headers,
            body: read.body.clone(),
        };
        self.metrics.forwards.fetch_add(1, Ordering::Relaxed);
        match self.send(owner, request).await {
            Ok(response) if is_not_owner(response.headers()) => Tried::Again,
            Ok(response) if is_unanswered(response.headers()) => {
                Tried::Answered(here(unanswered()))
            }
            Ok(response) => {
                let gone = Box::pin(owner.gone());
                let (mut head, body) = response.into_parts();
                head.headers = end_to_end(&head.headers);
                let body = UntilGone { body, gone }.boxed_unsync();
                Tried::Answered(Response::from_parts(head, body))
            }
            Err(ForwardError { sent, .. }) => {
                self.metrics.forwards_failed.fetch_add(1, Ordering::Relaxed);
                if sent && is_change {
                    let why = "the service that carries this out was lost meanwhile: see whether it was done, and try again";
                    return Tried::Answered(here(unavailable(why)));
                }
                Tried::Again
            }
        }
    }

    /// Sends a request to another service, which is given up when its lease has expired.
    pub(super) async fn send(
        &self,
        peer: &Arc<Peer>,
        request: ForwardRequest,
    ) -> Result<Response<ForwardedBody>, ForwardError> {
        let sending = self
            .client
            .forward(&peer.url, request, Instant::now() + ANSWER_MAX);
        let lost = || ForwardError {
            sent: true,
            error: matchday_net::call::CallError::TimedOut,
        };
        tokio::select! {
            response = sending => response,
            () = peer.gone() => Err(lost()),
        }
    }
}

/// The body of a forwarded response, which is cut when its sender's lease has expired: a process that was stopped closes no
/// connection.
struct UntilGone {
    body: ForwardedBody,
    gone: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Body for UntilGone {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        if self.gone.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Some(Err(Cut)));
        }
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
