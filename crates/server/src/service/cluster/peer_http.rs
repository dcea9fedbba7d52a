//! The socket at which the other services call, with mutual TLS. It has two paths: at [`FORWARD`] come the requests of clients,
//! whose own method and path are in headers that the forwarding service writes; at [`CALL`] come the services' own calls. So no
//! path of a client can be taken for a call. A forwarded request is never forwarded again.

use super::Cluster;
use super::forward::{EdgeResponse, here, unavailable};
use super::headers::{Forwarded, is_not_owner, mark_not_owner, mark_unanswered};
use super::peer_call::PeerCall;
use super::routing::{Peer, Route};
use crate::service::Service;
use crate::service::http::ServiceHttp;
use anyhow::{Context, Result, bail};
use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, StatusCode, Uri};
use matchday_net::body;
use matchday_net::forward::ForwardRequest;
use matchday_net::origin_check::OriginChecked;
use matchday_net::response::{empty, json};
use matchday_net::rx_time::RxTimes;
use matchday_net::server::{HttpResponse, Unanswered};
use matchday_store::leagues::NO_LEAGUE;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Where requests of clients are forwarded to.
pub(super) const FORWARD: &str = "/forward";
/// Where services call each other.
const CALL: &str = "/call";
/// On a call: the number of the league whose owner is asked; 0 for the service's own log.
const OF_LEAGUE: HeaderName = HeaderName::from_static("matchday-call-league");

const CALL_BYTES_MAX: usize = 16 << 20;
/// How long one service waits for another that carries out a call.
const CALL_MAX: Duration = Duration::from_secs(8);
const CALL_AGAIN: Duration = Duration::from_millis(150);

/// Answers another service.
pub(crate) async fn answer(
    http: Arc<ServiceHttp>,
    cluster: Arc<Cluster>,
    request: Request<Incoming>,
) -> EdgeResponse {
    match (request.method(), request.uri().path()) {
        (&Method::POST, FORWARD) => forwarded(&http, &cluster, request).await,
        (&Method::POST, CALL) => here(call(&http.service, &cluster, request).await),
        _ => here(empty(StatusCode::NOT_FOUND)),
    }
}

/// Answers a request of a client that another service received.
async fn forwarded(
    http: &Arc<ServiceHttp>,
    cluster: &Cluster,
    mut request: Request<Incoming>,
) -> EdgeResponse {
    let Some(Forwarded {
        method,
        target,
        number,
        from,
        elapsed,
    }) = Forwarded::take(request.headers_mut())
    else {
        return here(empty(StatusCode::BAD_REQUEST));
    };
    if !cluster.owns(number) || !http.service.knows(number).await {
        return here(not_owner());
    }
    *request.method_mut() = method;
    *request.uri_mut() = target;
    let extensions = request.extensions_mut();
    if let Some(times) = extensions.remove::<Arc<RxTimes>>() {
        extensions.insert(RxTimes::of_forwarded(&times, elapsed));
    }
    extensions.insert(OriginChecked);
    let answered = http
        .answer_forwarded(cluster, number, request, SocketAddr::new(from, 0))
        .await;
    let mut response = answered.unwrap_or_else(|| here(not_owner()));
    // A connection that closes between services would be taken for an owner that is lost, and the request be tried again.
    if response.extensions_mut().remove::<Unanswered>().is_some() {
        mark_unanswered(response.headers_mut());
    }
    response
}

fn not_owner() -> HttpResponse {
    let mut response = unavailable("the league has another owner");
    mark_not_owner(response.headers_mut());
    response
}

async fn call(
    service: &Arc<Service>,
    cluster: &Cluster,
    request: Request<Incoming>,
) -> HttpResponse {
    let number = request
        .headers()
        .get(OF_LEAGUE)
        .and_then(|value| value.to_str().ok()?.parse::<u32>().ok());
    let read = body::read(&mut request.into_body(), CALL_BYTES_MAX).await;
    let call = read
        .ok()
        .and_then(|body| serde_json::from_slice::<PeerCall>(&body).ok());
    let (Some(number), Some(call)) = (number, call) else {
        return empty(StatusCode::BAD_REQUEST);
    };
    if matches!(call, PeerCall::Look) {
        cluster.look_now.notify_one();
        return empty(StatusCode::NO_CONTENT);
    }
    if !cluster.owns(number) || !service.knows(number).await {
        return not_owner();
    }
    match service.carry_out_call(call).await {
        Ok(value) => json(StatusCode::OK, value.to_string().into_bytes()),
        Err(error) => json(
            StatusCode::CONFLICT,
            json!({ "error": error.to_string() })
                .to_string()
                .into_bytes(),
        ),
    }
}

/// A call as it is sent.
fn call_request(number: u32, call: &PeerCall) -> Result<ForwardRequest> {
    let mut headers = HeaderMap::new();
    headers.insert(OF_LEAGUE, HeaderValue::from(number));
    let body = Bytes::from(serde_json::to_vec(call)?);
    Ok(ForwardRequest {
        method: Method::POST,
        uri: Uri::from_static(CALL),
        headers,
        body,
    })
}

impl Cluster {
    /// Has the owner of a league carry something out, and returns what it says.
    pub(crate) async fn call(&self, number: u32, call: &PeerCall) -> Result<Value> {
        let request = call_request(number, call).context("the call cannot be written")?;
        let give_up_at = Instant::now() + CALL_MAX;
        let mut last = "nobody has it".to_owned();
        while Instant::now() < give_up_at {
            let owner = match self.route(number).await {
                Route::Other(owner) => Some(owner),
                Route::Own => Some(Arc::clone(&self.own)),
                Route::Nobody => None,
            };
            if let Some(owner) = owner {
                match self.call_once(&owner, request.clone()).await? {
                    Ok(value) => return Ok(value),
                    Err(why) => last = why,
                }
                self.forget_route(number);
            }
            sleep(CALL_AGAIN).await;
        }
        let what = if number == NO_LEAGUE {
            "the service's own log"
        } else {
            "the league"
        };
        bail!("the service that has {what} does not answer ({last}): try again")
    }

    /// The inner error: nothing was done.
    async fn call_once(
        &self,
        owner: &Arc<Peer>,
        request: ForwardRequest,
    ) -> Result<Result<Value, String>> {
        let response = match self.send(owner, request).await {
            Err(failed) if failed.sent => {
                bail!(
                    "the service that carries this out was lost meanwhile: see whether it was done"
                )
            }
            Err(failed) => return Ok(Err(failed.to_string())),
            Ok(response) => response,
        };
        if is_not_owner(response.headers()) {
            return Ok(Err("it changes hands".to_owned()));
        }
        let status = response.status();
        let read = Limited::new(response.into_body(), CALL_BYTES_MAX)
            .collect()
            .await;
        let bytes = read.map_err(|error| anyhow::anyhow!(error))?.to_bytes();
        let value: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        match status {
            StatusCode::OK => Ok(Ok(value)),
            _ => bail!(
                "{}",
                value
                    .get("error")
                    .and_then(Value::as_str)
                    .unwrap_or("it was refused")
            ),
        }
    }

    /// Tells the other services that leagues can be taken. One that does not hear it looks by itself within a second.
    pub(super) async fn wake_others(&self, others: Vec<Arc<Peer>>) {
        let Ok(request) = call_request(NO_LEAGUE, &PeerCall::Look) else {
            return;
        };
        for peer in others {
            let deadline = Instant::now() + Duration::from_millis(200);
            let sending = self.client.forward(&peer.url, request.clone(), deadline);
            let _ = sending.await;
        }
    }
}
