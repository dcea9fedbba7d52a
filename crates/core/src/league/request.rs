//! A request to the manager, how it is decoded, and its rejection.

use super::manager::Manager;
use crate::agent::{DecodeHints, RequestId};
use crate::protocol::decode::{Conformance, Limits, Rejection};
use crate::protocol::dialect::Dialect;
use crate::protocol::error::ErrorCode;
use crate::protocol::messages::LeagueError;
use crate::protocol::{Envelope, Sender, Token, UntrustedText};
use core::net::IpAddr;
use serde_json::{Map, Value};

/// A league message with what is known of its request.
#[derive(Debug, Clone)]
pub(super) struct ReceivedMessage {
    pub(super) request: RequestId,
    pub(super) envelope: Envelope,
    /// As the message names it, if it does.
    pub(super) message_type: Option<UntrustedText>,
    pub(super) dialect: Dialect,
    /// Why the driver must not call the endpoint that a registration names.
    pub(super) objection: Option<String>,
    /// The IP address that it came from.
    pub(super) client: Option<IpAddr>,
    /// The join code in the path that it was sent to.
    pub(super) join_code: Option<Token>,
}

impl ReceivedMessage {
    /// With the join code of the message itself, if it has one.
    pub(super) fn with_code(&self, code: Option<Token>) -> Self {
        let received = self.clone();
        Self { join_code: code.or(received.join_code), ..received }
    }
}

/// Why a request is rejected; sent as LEAGUE_ERROR.
#[derive(Debug)]
pub(super) struct RequestError {
    pub(super) code: ErrorCode,
    pub(super) message: String,
    pub(super) context: Option<Map<String, Value>>,
    /// The sender in whose name a wrong token was shown, if that is the reason.
    pub(super) guess: Option<Sender>,
}

impl RequestError {
    pub(super) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), context: None, guess: None }
    }

    pub(super) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.context.get_or_insert_default().insert(key.to_owned(), value.into());
        self
    }
}

impl From<Rejection> for RequestError {
    fn from(rejection: Rejection) -> Self {
        let error = LeagueError::from(&rejection);
        Self { message: rejection.sentence(), context: error.context, code: rejection.code, guess: None }
    }
}

impl DecodeHints for Manager {
    fn reading(&self) -> (Conformance, Limits) {
        (
            self.league.settings.conformance,
            Limits { message_bytes_max: self.league.settings.message_bytes_max, ..Limits::MANAGER },
        )
    }
}
