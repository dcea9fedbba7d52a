//! The socket at which the other services call, with mutual TLS: requests that they forward, and calls of their own beneath
//! `/cluster/`. A forwarded request is never forwarded again.

use super::Cluster;
use super::forward::{EdgeResponse, here, unavailable};
use super::headers::{Forwarded, is_not_owner, mark_not_owner};
use super::routing::{Peer, Route};
use crate::service::http::ServiceHttp;
use crate::service::registry::ServiceEvent;
use crate::service::{Service, ServiceError};
use anyhow::{Context, Result, bail};
use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::header::HeaderMap;
use hyper::{Method, Request, StatusCode, Uri};
use matchday_core::protocol::LeagueId;
use matchday_net::body;
use matchday_net::forward::ForwardRequest;
use matchday_net::origin_check::OriginChecked;
use matchday_net::response::{empty, json};
use matchday_net::rx_time::RxTimes;
use matchday_net::server::HttpResponse;
use matchday_store::leagues::NO_LEAGUE;
use serde_json::{Value, json};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

const CALL_BYTES_MAX: usize = 16 << 20;
/// How long one service waits for another that carries out a call.
const CALL_MAX: Duration = Duration::from_secs(8);
const CALL_AGAIN: Duration = Duration::from_millis(150);

/// Answers another service.
pub(in crate::service) async fn answer(
    http: Arc<ServiceHttp>,
    cluster: Arc<Cluster>,
    mut request: Request<Incoming>,
) -> EdgeResponse {
    if request.uri().path() == "/cluster/look" {
        cluster.look_now.notify_one();
        return here(empty(StatusCode::NO_CONTENT));
    }
    let Some(Forwarded { number, from, elapsed }) = Forwarded::take(request.headers_mut()) else {
        return here(empty(StatusCode::BAD_REQUEST));
    };
    if !cluster.owns(number) || !http.service.knows(number).await {
        return here(not_owner());
    }
    let extensions = request.extensions_mut();
    if let Some(times) = extensions.remove::<Arc<RxTimes>>() {
        extensions.insert(RxTimes::of_forwarded(&times, elapsed));
    }
    extensions.insert(OriginChecked);
    if request.uri().path().starts_with("/cluster/") {
        return here(call(&http.service, request).await);
    }
    let answered = http.answer_if_owned(&cluster, number, request, SocketAddr::new(from, 0)).await;
    answered.unwrap_or_else(|| here(not_owner()))
}

fn not_owner() -> HttpResponse {
    let mut response = unavailable("the league has another owner");
    mark_not_owner(response.headers_mut());
    response
}

async fn call(service: &Arc<Service>, request: Request<Incoming>) -> HttpResponse {
    let path = request.uri().path().to_owned();
    let parts: Vec<&str> = path.trim_start_matches("/cluster/").split('/').collect();
    let done = match parts.as_slice() {
        ["record"] => record(service, request).await.map(|()| Value::Null),
        ["leagues", id, "start"] => service
            .start_league(&LeagueId::new(*id))
            .await
            .map(|()| Value::Null)
            .map_err(ServiceError::Conflict),
        ["leagues", id, "delete"] => service.delete(&LeagueId::new(*id)).await.map(|()| Value::Null),
        ["leagues", id, "over"] => service.is_over(&LeagueId::new(*id)).await.map(|over| json!(over)),
        _ => return empty(StatusCode::NOT_FOUND),
    };
    match done {
        Ok(value) => json(StatusCode::OK, value.to_string().into_bytes()),
        Err(error) => {
            json(StatusCode::CONFLICT, json!({ "error": error.to_string() }).to_string().into_bytes())
        }
    }
}

async fn record(service: &Service, request: Request<Incoming>) -> Result<(), ServiceError> {
    let body = body::read(&mut request.into_body(), CALL_BYTES_MAX).await.map_err(anyhow::Error::from)?;
    let events: Vec<ServiceEvent> = serde_json::from_slice(&body).map_err(anyhow::Error::from)?;
    Ok(service.record(&events).await?)
}

impl Cluster {
    /// Has the owner of a league carry something out, and returns what it says.
    pub(in crate::service) async fn call(
        &self,
        number: u32,
        path: &str,
        body: Option<Value>,
    ) -> Result<Value> {
        let give_up_at = Instant::now() + CALL_MAX;
        let mut last = "nobody has it".to_owned();
        while Instant::now() < give_up_at {
            let owner = match self.route(number).await {
                Route::Other(owner) => Some(owner),
                Route::Own => Some(Arc::clone(&self.own)),
                Route::Nobody => None,
            };
            if let Some(owner) = owner {
                match self.call_once(&owner, number, path, body.as_ref()).await? {
                    Ok(value) => return Ok(value),
                    Err(why) => last = why,
                }
                self.forget_route(number);
            }
            sleep(CALL_AGAIN).await;
        }
        let what = if number == NO_LEAGUE { "the service's own log" } else { "the league" };
        bail!("the service that has {what} does not answer ({last}): try again")
    }

    /// The inner error: nothing was done.
    async fn call_once(
        &self,
        owner: &Arc<Peer>,
        number: u32,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Result<Value, String>> {
        let mut headers = HeaderMap::new();
        let nobody = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        Forwarded { number, from: nobody, elapsed: Duration::ZERO }.write(&mut headers);
        let body = body.map(|body| Bytes::from(body.to_string())).unwrap_or_default();
        let uri: Uri = path.parse().context("a path of the cluster's own")?;
        let request = ForwardRequest { method: Method::POST, uri, headers, body };
        let response = match self.send(owner, request).await {
            Err(failed) if failed.sent => {
                bail!("the service that carries this out was lost meanwhile: see whether it was done")
            }
            Err(failed) => return Ok(Err(failed.to_string())),
            Ok(response) => response,
        };
        if is_not_owner(response.headers()) {
            return Ok(Err("it changes hands".to_owned()));
        }
        let status = response.status();
        let read = Limited::new(response.into_body(), CALL_BYTES_MAX).collect().await;
        let bytes = read.map_err(|error| anyhow::anyhow!(error))?.to_bytes();
        let value: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        match status {
            StatusCode::OK => Ok(Ok(value)),
            _ => bail!("{}", value.get("error").and_then(Value::as_str).unwrap_or("it was refused")),
        }
    }

    /// Tells the other services that leagues can be taken. One that does not hear it looks by itself within a second.
    pub(super) async fn wake_others(&self, others: Vec<Arc<Peer>>) {
        for peer in others {
            let (uri, headers) = (Uri::from_static("/cluster/look"), HeaderMap::new());
            let request = ForwardRequest { method: Method::POST, uri, headers, body: Bytes::new() };
            let sending =
                self.client.forward(&peer.url, request, Instant::now() + Duration::from_millis(200));
            let _ = sending.await;
        }
    }
}
