//! Encodes our replies in the dialect of the request, as an HTTP body.

use super::Dialect;
use super::request::ReplyTo;
use crate::protocol::jsonrpc::{ErrorObject, Failed, Id, REFUSED, Success, TwoPointZero, written};
use crate::protocol::message::MessageType;
use crate::protocol::messages::LeagueError;
use crate::protocol::operation::Content;
use serde::Serialize;
use serde_json::{Value, json};
use std::borrow::Cow;

/// The HTTP response.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct HttpReply {
    /// The HTTP status: 200, 202 without a body, or 413 for a request that was too large.
    pub status: u16,
    /// JSON, or empty.
    pub body: Vec<u8>,
}

/// One response: a body, or an element of a batch. Empty for a notification.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Part(Vec<u8>);

impl Part {
    /// How long it is.
    pub fn bytes(&self) -> usize {
        self.0.len()
    }
}

impl HttpReply {
    /// The response to a single request: 202 without a body for a notification, else 200.
    pub fn one(Part(body): Part) -> Self {
        let status = if body.is_empty() { 202 } else { 200 };
        Self { status, body }
    }

    /// The responses of a batch, in the order of its requests; empty if all were notifications.
    pub fn batch(parts: impl IntoIterator<Item = Part>) -> Self {
        let parts: Vec<_> = parts
            .into_iter()
            .map(|Part(bytes)| bytes)
            .filter(|bytes| !bytes.is_empty())
            .collect();
        if parts.is_empty() {
            return Self::one(Part(Vec::new()));
        }
        let body = [b"[", parts.join(&b","[..]).as_slice(), b"]"].concat();
        Self { status: 200, body }
    }

    pub(super) fn too_large(error: ErrorObject) -> Self {
        let Part(body) = write_error(&ReplyTo::Id(Id::Null), &error);
        Self { status: 413, body }
    }
}

/// The response to a valid request.
pub fn write_reply(to: &ReplyTo, dialect: Dialect, content: &Content) -> Part {
    match content {
        Content::Message(message) => match message.refusal_of_agent() {
            Some(error) if dialect == Dialect::ToolsCall => respond(to, dialect, error, true),
            Some(error) => write_error(to, &refusal(error)),
            None => respond(
                to,
                dialect,
                message,
                message.message_type() == MessageType::LeagueError,
            ),
        },
        Content::Data(data) => respond(to, dialect, data, false),
        Content::Received => respond(to, dialect, &json!({ "status": "received" }), false),
    }
}

/// The JSON-RPC error by which a player or a referee rejects a message.
fn refusal(error: &LeagueError) -> ErrorObject {
    let message = Cow::Owned(error.error_code.name().to_owned());
    ErrorObject {
        code: REFUSED,
        message,
        data: serde_json::to_value(error).unwrap_or_default(),
    }
}

/// The response to an invalid JSON-RPC request.
pub fn write_error(to: &ReplyTo, error: &ErrorObject) -> Part {
    let id = match to {
        ReplyTo::Nobody => return Part(Vec::new()),
        ReplyTo::Body => &Id::Null,
        ReplyTo::Id(id) => id,
    };
    let jsonrpc = TwoPointZero;
    Part(written(&Failed { jsonrpc, id, error }))
}

fn respond(to: &ReplyTo, dialect: Dialect, content: &impl Serialize, refused: bool) -> Part {
    let jsonrpc = TwoPointZero;
    Part(match to {
        ReplyTo::Nobody => Vec::new(),
        ReplyTo::Body => written(content),
        ReplyTo::Id(id) if dialect == Dialect::ToolsCall => {
            let result = tool_result(content, refused);
            written(&Success {
                jsonrpc,
                id,
                result,
            })
        }
        ReplyTo::Id(id) => {
            let result = content;
            written(&Success {
                jsonrpc,
                id,
                result,
            })
        }
    })
}

/// MCP has text for models and structured content for programs; only an object may be structured.
fn tool_result(content: &impl Serialize, refused: bool) -> Value {
    let structure = serde_json::to_value(content).unwrap_or_default();
    let mut result = json!({
        "content": [{ "type": "text", "text": structure.to_string() }],
        "isError": refused,
    });
    if let (Some(fields), true) = (result.as_object_mut(), structure.is_object()) {
        fields.insert("structuredContent".to_owned(), structure);
    }
    result
}
