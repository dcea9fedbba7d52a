//! Holds requests while a league changes hands, and forwards those for leagues of other services. A request that cannot be
//! answered within a few seconds gets HTTP 503 with `Retry-After`, which no agent takes for a final answer.

use super::Cluster;
use super::headers::{Forwarded, is_not_owner};
use super::routing::{Peer, Route};
use crate::service::Unavailable;
use crate::service::http::ServiceHttp;
use bytes::Bytes;
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{HeaderValue, RETRY_AFTER};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use matchday_net::body;
use matchday_net::forward::{Cut, ForwardError, ForwardRequest, ForwardedBody, end_to_end};
use matchday_net::response::{empty, json, with_close};
use matchday_net::rx_time::RxTimes;
use matchday_net::server::HttpResponse;
use matchday_runtime::COLOCATED;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// How long a request is held for an owner that answers.
const HOLD_MAX: Duration = Duration::from_secs(8);
const HOLD_STEP: Duration = Duration::from_millis(150);
/// How long an owner may take to begin its answer: a client waits for its turn in a request of its own. An owner that is gone is
/// noticed by its lease.
const ANSWER_MAX: Duration = Duration::from_secs(3600);
/// The largest body that any address of a league takes.
const BODY_BYTES_MAX: usize = 16 << 20;

/// A response of the public socket: one of this process, or one that comes piece by piece from another.
pub(in crate::service) type EdgeResponse = Response<UnsyncBoxBody<Bytes, Cut>>;

/// A response of this process.
pub(in crate::service) fn here(response: HttpResponse) -> EdgeResponse {
    response.map(|body| body.map_err(|never| match never {}).boxed_unsync())
}

/// HTTP 503, which says that the same request may be made again.
pub(in crate::service) fn unavailable(why: &str) -> HttpResponse {
    let body = serde_json::json!({ "error": why }).to_string();
    let mut answer = json(StatusCode::SERVICE_UNAVAILABLE, body.into_bytes());
    answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    answer
}

/// A request whose body has come whole.
struct ReadRequest {
    request: ForwardRequest,
    arrived: Instant,
}

/// What a request can be answered with, or that it must be tried again.
enum Tried {
    Answered(EdgeResponse),
    Again,
}

impl ServiceHttp {
    /// Answers a request for the league with this number, here or by its owner.
    pub(in crate::service) async fn to_owner(
        self: &Arc<Self>,
        cluster: &Cluster,
        number: u32,
        request: Request<Incoming>,
        peer: SocketAddr,
    ) -> EdgeResponse {
        let give_up_at = Instant::now() + HOLD_MAX;
        let stays_here = request.headers().contains_key(COLOCATED);
        let (mut unread, mut read): (Option<Request<Incoming>>, Option<ReadRequest>) = (Some(request), None);
        let mut held = false;
        loop {
            let route = cluster.route(number).await;
            if matches!(route, Route::Own) && unread.is_some() && self.is_ready(number).await {
                if let Some(request) = unread.take() {
                    let answered = self.answer_if_owned(cluster, number, request, peer).await;
                    return answered
                        .unwrap_or_else(|| here(unavailable("the league changes hands: try again")));
                }
            } else if stays_here {
                // It may rest on what its sender has not stored, and the next owner would store what follows from it.
                return here(unavailable("the league changes hands: try again"));
            } else if let Some(owner) = cluster.to_forward_to(&route, unread.is_none()) {
                if let Some(request) = unread.take() {
                    match self.read(request).await {
                        Ok(whole) => read = Some(whole),
                        Err(refused) => return here(refused),
                    }
                }
                if let Some(ReadRequest { request, arrived }) = &read {
                    let forwarded = Forwarded { number, from: peer.ip(), elapsed: arrived.elapsed() };
                    match cluster.forward(&owner, request, forwarded).await {
                        Tried::Answered(response) => return response,
                        Tried::Again => cluster.forget_route(number),
                    }
                }
            }
            if Instant::now() >= give_up_at {
                return here(unavailable("the service that has this league does not answer: try again"));
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
    pub(super) async fn answer_if_owned(
        self: &Arc<Self>,
        cluster: &Cluster,
        number: u32,
        request: Request<Incoming>,
        peer: SocketAddr,
    ) -> Option<EdgeResponse> {
        let is_change = is_api_change(request.method(), request.uri().path());
        let response = Arc::clone(self).answer_here(request, peer).await;
        (is_change || cluster.owns(number)).then(|| here(response))
    }

    async fn read(&self, request: Request<Incoming>) -> Result<ReadRequest, HttpResponse> {
        let request = self.check_origin(request).await?;
        let (head, mut incoming) = request.into_parts();
        let reading = body::read(&mut incoming, BODY_BYTES_MAX);
        let whole = timeout(self.service.settings.host.options.body_timeout, reading).await;
        let body = match whole {
            Ok(Ok(body)) => body,
            Ok(Err(body::BodyError::TooLarge(_))) => {
                return Err(with_close(empty(StatusCode::PAYLOAD_TOO_LARGE)));
            }
            Ok(Err(body::BodyError::Broken)) => return Err(with_close(empty(StatusCode::BAD_REQUEST))),
            Err(_) => return Err(with_close(empty(StatusCode::REQUEST_TIMEOUT))),
        };
        let Parts { method, uri, headers, extensions, .. } = head;
        let times = extensions.get::<Arc<RxTimes>>().and_then(|times| times.last());
        let arrived = times.unwrap_or_else(Instant::now);
        Ok(ReadRequest {
            request: ForwardRequest { method, uri, headers: end_to_end(&headers), body },
            arrived,
        })
    }
}

/// A change by the API, which is not carried out twice.
fn is_api_change(method: &Method, path: &str) -> bool {
    path.starts_with("/api/") && *method != Method::GET
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

    async fn forward(&self, owner: &Arc<Peer>, request: &ForwardRequest, forwarded: Forwarded) -> Tried {
        let may_repeat = !is_api_change(&request.method, request.uri.path());
        let mut request = request.clone();
        forwarded.write(&mut request.headers);
        self.metrics.forwards.fetch_add(1, Ordering::Relaxed);
        match self.send(owner, request).await {
            Ok(response) if is_not_owner(response.headers()) => Tried::Again,
            Ok(response) => {
                let gone = Box::pin(owner.gone());
                let (mut head, body) = response.into_parts();
                head.headers = end_to_end(&head.headers);
                let body = UntilGone { body, gone }.boxed_unsync();
                Tried::Answered(Response::from_parts(head, body))
            }
            Err(ForwardError { sent, .. }) => {
                self.metrics.forwards_failed.fetch_add(1, Ordering::Relaxed);
                if sent && !may_repeat {
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
        let sending = self.client.forward(&peer.url, request, Instant::now() + ANSWER_MAX);
        let lost = || ForwardError { sent: true, error: matchday_net::call::CallError::TimedOut };
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

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
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
