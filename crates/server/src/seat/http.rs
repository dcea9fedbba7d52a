//! HTTP of a process that has only seats: MCP at `/mcp`, and the league's messages to the seats' players.

use super::Seats;
use super::server::SeatServer;
use super::session::SeatSession;
use crate::mcp::{self, Transport};
use hyper::body::Incoming;
use hyper::header::ORIGIN;
use hyper::{Request, StatusCode};
use matchday_core::protocol::jsonrpc::Fault;
use matchday_net::body::{self, BodyError};
use matchday_net::cors;
use matchday_net::origin_check::OriginCheck;
use matchday_net::response::{DISCARD_MAX, empty, json, with_close};
use matchday_net::server::{self, HttpResponse};
use matchday_runtime::routes::{AgentRoute, Part, RouteTable, Target};
use matchday_runtime::telemetry::{metrics_response, readiness_response};
use matchday_runtime::{JoinCode, refuse_origin, rpc_error};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::timeout;

/// No call of a tool is longer.
const BODY_BYTES_MAX: usize = 64 * 1024;

#[derive(Debug)]
struct SeatHttp {
    seats: Arc<Seats>,
    mcp: Transport<SeatServer>,
    origin_check: OriginCheck,
    body_timeout: Duration,
}

/// Serves the seats until `closing` turns true, and then shuts all of them down.
pub async fn serve(seats: Arc<Seats>, listener: TcpListener, mut closing: watch::Receiver<bool>) {
    seats.start_brief().await;
    let options = &seats.options;
    let mut server_options = options.server.clone();
    server_options.open = Arc::clone(&options.telemetry.metrics.connections);
    // A client of MCP that has gone cancels what it asked for.
    server_options.half_close = false;
    let http = Arc::new(SeatHttp {
        origin_check: OriginCheck::new(seats.address, options.allowed.clone()),
        body_timeout: options.body_timeout,
        mcp: {
            let seats = Arc::clone(&seats);
            Transport::serving(true, move || {
                SeatServer(SeatSession::new(Arc::clone(&seats)))
            })
        },
        seats,
    });
    let handled = Arc::clone(&http);
    let handler = move |request, peer| Arc::clone(&handled).answer(request, peer);
    let serving = server::serve(listener, server_options, handler, closing.clone());
    let ending = async {
        let _ = closing.wait_for(|&closing| closing).await;
        http.seats.close().await;
        http.mcp.close().await;
    };
    tokio::join!(serving, ending);
}

impl SeatHttp {
    async fn answer(self: Arc<Self>, request: Request<Incoming>, peer: SocketAddr) -> HttpResponse {
        if let Err(refused) = self.origin_check.check_request(&request) {
            return refuse_origin(request, &refused, self.body_timeout).await;
        }
        if let Some(preflight) = cors::preflight(request.method(), request.headers()) {
            return preflight;
        }
        let origin = request.headers().get(ORIGIN).cloned();
        let response = self.route(request, peer).await;
        origin.iter().fold(response, cors::allow)
    }

    async fn route(&self, mut request: Request<Incoming>, peer: SocketAddr) -> HttpResponse {
        let has = |part: Part| matches!(part, Part::Agent | Part::Seats);
        let located = RouteTable::of_agents().locate(request.method(), request.uri().path(), has);
        let matched = match located.found() {
            Ok(matched) => matched,
            Err(refusal) => return refusal,
        };
        let Target::Agent(target) = matched.route.target else {
            return self.seats.answer(&matched, request, peer).await;
        };
        if target == AgentRoute::JoinMessage {
            JoinCode::of_path(matched.value(0)).attach_to(&mut request);
        }
        let speaks_mcp = matches!(
            target,
            AgentRoute::Message
                | AgentRoute::JoinMessage
                | AgentRoute::McpStream
                | AgentRoute::McpEnd
        );
        if speaks_mcp
            && let Some(refusal) = self.seats.refusal(request.headers(), request.extensions())
        {
            return refusal;
        }
        match target {
            AgentRoute::Message | AgentRoute::JoinMessage => self.message(request, peer).await,
            AgentRoute::McpStream | AgentRoute::McpEnd => self.mcp.other(request, peer).await,
            AgentRoute::Ready => readiness_response(self.seats.not_ready()),
            AgentRoute::Metrics => metrics_response(&self.seats.options.telemetry).await,
            AgentRoute::Live => json(StatusCode::OK, br#"{"status":"ok"}"#.to_vec()),
            AgentRoute::Checkpoint | AgentRoute::Schemas | AgentRoute::Schema => {
                empty(StatusCode::NOT_FOUND)
            }
        }
    }

    async fn message(&self, request: Request<Incoming>, peer: SocketAddr) -> HttpResponse {
        let (head, mut incoming) = request.into_parts();
        let body = match timeout(self.body_timeout, body::read(&mut incoming, BODY_BYTES_MAX)).await
        {
            Ok(Ok(body)) => body,
            Ok(Err(BodyError::TooLarge(_))) => {
                let _in_time =
                    timeout(self.body_timeout, body::discard(&mut incoming, DISCARD_MAX)).await;
                let why = format!("the request may have {BODY_BYTES_MAX} bytes at most: send less");
                let refusal = rpc_error(Fault::InvalidRequest, &why);
                return with_close(json(StatusCode::PAYLOAD_TOO_LARGE, refusal));
            }
            Ok(Err(BodyError::Broken)) => return with_close(empty(StatusCode::BAD_REQUEST)),
            Err(_) => return with_close(empty(StatusCode::REQUEST_TIMEOUT)),
        };
        match mcp::parse_request(&body) {
            Some(request) => self.mcp.post(head, body, &request, peer).await,
            None => {
                let why =
                    "this address speaks the Model Context Protocol: send one JSON-RPC message";
                json(
                    StatusCode::BAD_REQUEST,
                    rpc_error(Fault::InvalidRequest, why),
                )
            }
        }
    }
}
