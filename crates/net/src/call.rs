//! One call: its request, its response or error, and its timings.

use bytes::Bytes;
use hyper::header::{HeaderName, HeaderValue};
use hyper::{HeaderMap, Method};
use tokio::time::Instant;

#[derive(Debug, Clone)]
pub struct CallResponse {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// A call that has ended.
#[derive(Debug)]
pub struct CompletedCall {
    pub timings: CallTimings,
    pub result: Result<CallResponse, CallError>,
}

#[derive(Debug, Clone, Copy)]
pub struct CallTimings {
    pub began: Instant,
    /// Equal to `began` for a pooled connection.
    pub connected: Option<Instant>,
    /// When the first and the last byte of the response were received.
    pub first_byte: Option<Instant>,
    pub last_byte: Option<Instant>,
}

/// Why a call has no usable response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    #[error("no answer in time")]
    TimedOut,
    #[error("no connection: {0}")]
    NoConnection(String),
    /// The request was sent, and the connection ended before the end of the response.
    #[error("{0}")]
    Closed(&'static str),
    #[error("no route to it: {0}")]
    NoRoute(String),
    /// This machine lacks descriptors, memory or ports.
    #[error("this machine could not make the call: {0}")]
    Local(String),
    /// The egress policy refused it.
    #[error("not called: {0}")]
    Forbidden(String),
    #[error("the answer has {0} bytes or more, which is too much")]
    TooLarge(usize),
    #[error("{0}")]
    Unusable(&'static str),
}

#[derive(Debug, Clone)]
pub struct CallRequest {
    pub method: Method,
    pub headers: Vec<(HeaderName, HeaderValue)>,
    pub body: Bytes,
}

impl From<Bytes> for CallRequest {
    fn from(body: Bytes) -> Self {
        Self {
            method: Method::POST,
            headers: Vec::new(),
            body,
        }
    }
}
