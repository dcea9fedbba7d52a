//! A port of ours that takes note of everything and says "received": the referee that players may send their answers to as
//! messages of their own, and agents that a manager can call.

use crate::check::exchange::{Answered, Exchange, Outcome};
use crate::check::stand_in::{Booth, Desk};
use matchday_core::agent::Content;
use matchday_core::protocol::Endpoint;
use matchday_core::protocol::decode::Limits;
use matchday_core::protocol::dialect::reply::{HttpReply, write_reply};
use matchday_core::protocol::dialect::request::{Asked, Requests, read_requests};
use serde_json::Value;
use tokio::net::TcpListener;

#[derive(Debug)]
struct Received;

impl Desk for Received {
    fn answer(&mut self, body: &[u8]) -> HttpReply {
        match read_requests(body, &Limits::AGENT) {
            Requests::Refused(reply) => reply,
            Requests::One(request) => {
                HttpReply::one(write_reply(&request.reply_to, request.dialect, &Content::Received))
            }
            Requests::Batch(requests) => {
                HttpReply::batch(requests.into_iter().map(|request| match request {
                    Ok(request) => write_reply(&request.reply_to, request.dialect, &Content::Received),
                    Err(part) => part,
                }))
            }
        }
    }
}

pub(crate) async fn open() -> anyhow::Result<(Booth, Endpoint)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let endpoint = Endpoint::parse(&format!("http://{}/mcp", listener.local_addr()?))?;
    Ok((Booth::open(listener, Received), endpoint))
}

/// The league message in a request.
pub(crate) fn message_in(body: &[u8]) -> Option<Value> {
    match read_requests(body, &Limits::AGENT) {
        Requests::One(request) => match request.asked {
            Asked::Message { value, .. } => Some(value.to_value()),
            _ => None,
        },
        _ => None,
    }
}

/// What came here, as if it had come in the exchange that asked for it.
pub(crate) fn as_answer(came: &Exchange) -> Outcome {
    let body = came.request.clone();
    Outcome::Answered(Answered { status: 200, content_type: None, location: None, body })
}
