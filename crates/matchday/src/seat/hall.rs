//! A process that has nothing but seats: its clients at `/mcp`, and what the league asks of the seats beside it.

use super::Seats;
use super::guest::Guest;
use super::server::SeatServer;
use crate::mcp::{Meant, Transport};
use crate::net::answer::{DISCARD_MAX, bare, closing, json, turned_away, with};
use crate::net::body::{self, BodyError};
use crate::net::guard::Guard;
use crate::net::server::{self, Answer};
use crate::observe::{figures, readiness};
use hyper::body::Incoming;
use hyper::header::ALLOW;
use hyper::{Method, Request, StatusCode};
use matchday_core::protocol::dialect::reply::{HttpReply, write_error};
use matchday_core::protocol::dialect::request::ReplyTo;
use matchday_core::protocol::jsonrpc::{Fault, Id};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::timeout;

/// No call of a tool is longer.
const BODY_BYTES_MAX: usize = 64 * 1024;

#[derive(Debug)]
pub struct Hall {
    seats: Arc<Seats>,
    mcp: Transport<SeatServer>,
    guard: Guard,
    body_timeout: Duration,
}

/// Serves the seats until `closing` turns true, and then shuts all of them down.
pub async fn serve(seats: Arc<Seats>, listener: TcpListener, mut closing: watch::Receiver<bool>) {
    let options = &seats.options;
    let mut terms = options.terms.clone();
    terms.open = Arc::clone(&options.observed.metrics.connections);
    let hall = Arc::new(Hall {
        guard: Guard::new(seats.address, options.allowed.clone()),
        body_timeout: options.body_timeout,
        mcp: {
            let guest = Guest::new(Arc::clone(&seats));
            Transport::serving(true, move || SeatServer(guest.of_the_same()))
        },
        seats,
    });
    let visited = Arc::clone(&hall);
    let handler = move |request, peer| Arc::clone(&visited).answer(request, peer);
    let serving = server::serve(listener, terms, handler, closing.clone());
    let ending = async {
        let _ = closing.wait_for(|&closing| closing).await;
        hall.seats.close().await;
        hall.mcp.close().await;
    };
    tokio::join!(serving, ending);
}

impl Hall {
    async fn answer(self: Arc<Self>, request: Request<Incoming>, peer: SocketAddr) -> Answer {
        if let Err(stranger) = self.guard.admit(request.version(), request.uri(), request.headers()) {
            return turned_away(request, &stranger, self.body_timeout).await;
        }
        if Seats::is_seats(request.uri()) {
            return self.seats.answer(request, peer).await;
        }
        match (request.uri().path(), request.method()) {
            ("/mcp", &Method::POST) => self.message(request, peer).await,
            ("/mcp", &Method::GET | &Method::DELETE) => self.mcp.other(request, peer).await,
            ("/health/ready", &Method::GET) => readiness(self.seats.lacks()),
            ("/metrics", &Method::GET) => figures(&self.seats.options.observed).await,
            ("/health/live", &Method::GET) => json(StatusCode::OK, br#"{"status":"ok"}"#.to_vec()),
            ("/mcp", _) => with(bare(StatusCode::METHOD_NOT_ALLOWED), ALLOW, self.mcp.methods()),
            ("/health/live" | "/health/ready" | "/metrics", _) => {
                with(bare(StatusCode::METHOD_NOT_ALLOWED), ALLOW, "GET")
            }
            _ => bare(StatusCode::NOT_FOUND),
        }
    }

    async fn message(&self, request: Request<Incoming>, peer: SocketAddr) -> Answer {
        let (head, mut incoming) = request.into_parts();
        let body = match timeout(self.body_timeout, body::read(&mut incoming, BODY_BYTES_MAX)).await {
            Ok(Ok(body)) => body,
            Ok(Err(BodyError::TooLarge(_))) => {
                let _in_time = timeout(self.body_timeout, body::discard(&mut incoming, DISCARD_MAX)).await;
                let why = format!("the request may have {BODY_BYTES_MAX} bytes at most: send less");
                let refusal = refusal(Fault::InvalidRequest, &why);
                return closing(json(StatusCode::PAYLOAD_TOO_LARGE, refusal));
            }
            Ok(Err(BodyError::Broken)) => return closing(bare(StatusCode::BAD_REQUEST)),
            Err(_) => return closing(bare(StatusCode::REQUEST_TIMEOUT)),
        };
        match Meant::of(&body) {
            Some(meant) => self.mcp.post(head, body, &meant, peer).await,
            None => {
                let why = "this address speaks the Model Context Protocol: send one JSON-RPC message";
                json(StatusCode::BAD_REQUEST, refusal(Fault::InvalidRequest, why))
            }
        }
    }
}

fn refusal(fault: Fault, why: &str) -> Vec<u8> {
    HttpReply::one(write_error(&ReplyTo::Id(Id::Null), &fault.because(why))).body
}
