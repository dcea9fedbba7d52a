//! A server that acknowledges every request with "received" and records it: the fake referee that players may send
//! answers to, and the agents that a manager calls.

use crate::check::exchange::{CallOutcome, Exchange, HttpAnswer};
use crate::check::fake_agent::{FakeServer, Responder};
use matchday_core::agent::Content;
use matchday_core::protocol::Endpoint;
use matchday_core::protocol::decode::Limits;
use matchday_core::protocol::dialect::reply::{HttpReply, write_reply};
use matchday_core::protocol::dialect::request::{RequestContent, Requests, read_requests};
use serde_json::Value;
use tokio::net::TcpListener;

#[derive(Debug)]
struct Received;

impl Responder for Received {
    fn answer(&mut self, body: &[u8]) -> HttpReply {
        match read_requests(body, &Limits::AGENT) {
            Requests::Refused(reply) => reply,
            Requests::One(request) => HttpReply::one(write_reply(
                &request.reply_to,
                request.dialect,
                &Content::Received,
            )),
            Requests::Batch(requests) => {
                HttpReply::batch(requests.into_iter().map(|request| match request {
                    Ok(request) => {
                        write_reply(&request.reply_to, request.dialect, &Content::Received)
                    }
                    Err(part) => part,
                }))
            }
        }
    }
}

pub(crate) async fn open() -> anyhow::Result<(FakeServer, Endpoint)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let endpoint = Endpoint::parse(&format!("http://{}/mcp", listener.local_addr()?))?;
    Ok((FakeServer::start(listener, Received), endpoint))
}

pub(crate) fn message_in(body: &[u8]) -> Option<Value> {
    match read_requests(body, &Limits::AGENT) {
        Requests::One(request) => match request.asked {
            RequestContent::Message { value, .. } => Some(value.into()),
            _ => None,
        },
        _ => None,
    }
}

/// A separate request as if it had been the response to the original request.
pub(crate) fn as_answer(came: &Exchange) -> CallOutcome {
    let body = came.request.clone();
    CallOutcome::Answered(HttpAnswer {
        status: 200,
        content_type: None,
        location: None,
        body,
    })
}
