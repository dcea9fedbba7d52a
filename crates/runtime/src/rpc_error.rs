//! JSON-RPC errors for requests that are refused before their body is read.

use hyper::Request;
use hyper::body::Incoming;
use matchday_core::protocol::dialect::reply::{HttpReply, write_error};
use matchday_core::protocol::dialect::request::ReplyTo;
use matchday_core::protocol::jsonrpc::{Fault, Id};
use matchday_net::origin_check::OriginError;
use matchday_net::response::refuse;
use matchday_net::server::HttpResponse;
use std::time::Duration;

/// Refuses a request whose `Host` or `Origin` is not accepted.
pub async fn refuse_origin(
    request: Request<Incoming>,
    error: &OriginError,
    body_timeout: Duration,
) -> HttpResponse {
    let body = rpc_error(Fault::InvalidRequest, &error.to_string());
    refuse(request, error.status(), body, body_timeout).await
}

/// A JSON-RPC error without an id.
pub fn rpc_error(fault: Fault, why: &str) -> Vec<u8> {
    HttpReply::one(write_error(&ReplyTo::Id(Id::Null), &fault.because(why))).body
}
