//! A request to the manager, and its rejection.

use crate::agent::RequestId;
use crate::protocol::decode::Rejection;
use crate::protocol::dialect::Dialect;
use crate::protocol::error::ErrorCode;
use crate::protocol::messages::LeagueError;
use crate::protocol::{Envelope, Sender, Token, UntrustedText};
use core::net::IpAddr;
use serde_json::{Map, Value};
use std::time::Duration;

/// A league message with what is known of its request.
#[derive(Debug, Clone)]
pub(crate) struct ReceivedMessage {
    pub(crate) request: RequestId,
    pub(crate) envelope: Envelope,
    /// Its `message_type`, if it has one.
    pub(crate) message_type: Option<UntrustedText>,
    pub(crate) dialect: Dialect,
    /// Why the driver must not call the endpoint that a registration names.
    pub(crate) objection: Option<String>,
    /// The IP address that it came from.
    pub(crate) client: Option<IpAddr>,
    /// The join code in the path that it was sent to.
    pub(crate) join_code: Option<Token>,
}

impl ReceivedMessage {
    /// With the join code of the message itself, if it has one.
    pub(crate) fn with_code(&self, code: Option<Token>) -> Self {
        let received = self.clone();
        Self {
            join_code: code.or(received.join_code),
            ..received
        }
    }
}

/// Why a request is rejected; sent as LEAGUE_ERROR.
#[derive(Debug)]
pub(crate) struct RequestError {
    pub(crate) code: ErrorCode,
    pub(crate) message: String,
    pub(crate) context: Option<Map<String, Value>>,
    /// The sender in whose name a wrong token was shown, if that is the reason.
    pub(crate) guess: Option<Sender>,
}

impl RequestError {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            context: None,
            guess: None,
        }
    }

    pub(crate) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.context
            .get_or_insert_default()
            .insert(key.to_owned(), value.into());
        self
    }

    /// Adds when a retry may succeed.
    pub(crate) fn retry_after(self, wait: Duration) -> Self {
        self.with("retry_after_sec", wait.as_secs().saturating_add(1))
    }
}

impl From<Rejection> for RequestError {
    fn from(rejection: Rejection) -> Self {
        let error = LeagueError::from(&rejection);
        Self {
            message: rejection.sentence(),
            context: error.context,
            code: rejection.code,
            guess: None,
        }
    }
}
