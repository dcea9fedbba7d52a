//! Writing our replies: content becomes a response in the dialect of its request, and responses become an HTTP body.

use super::Dialect;
use super::request::ReplyTo;
use crate::agent::Content;
use crate::protocol::jsonrpc::{ErrorObject, Failed, Id, REFUSED, Success, TwoPointZero, written};
use crate::protocol::message::MessageType;
use crate::protocol::messages::LeagueError;
use serde::Serialize;
use serde_json::{Value, json};
use std::borrow::Cow;

/// What goes back over HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct HttpReply {
    pub status: u16,
    /// JSON, or empty where nothing is to be said.
    pub body: Vec<u8>,
}

/// One response: a whole body, or an element of a batch's. Empty for a notification.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Part(Vec<u8>);

impl HttpReply {
    pub fn one(Part(body): Part) -> Self {
        let status = if body.is_empty() { 202 } else { 200 };
        Self { status, body }
    }

    /// The responses of a batch, in the order of its requests; nothing at all if all were notifications.
    pub fn batch(parts: impl IntoIterator<Item = Part>) -> Self {
        let parts: Vec<_> =
            parts.into_iter().map(|Part(bytes)| bytes).filter(|bytes| !bytes.is_empty()).collect();
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

/// The response to a request that was understood.
pub fn write_reply(to: &ReplyTo, dialect: Dialect, content: &Content) -> Part {
    match content {
        Content::Message(message) => match message.refusal_of_agent() {
            Some(error) if dialect == Dialect::ToolsCall => respond(to, dialect, error, true),
            Some(error) => write_error(to, &refusal(error)),
            None => respond(to, dialect, message, message.message_type() == MessageType::LeagueError),
        },
        Content::Data(data) => respond(to, dialect, data, false),
        Content::Received => respond(to, dialect, &json!({ "status": "received" }), false),
    }
}

/// The error of JSON-RPC by which a player or a referee refuses.
fn refusal(error: &LeagueError) -> ErrorObject {
    let message = Cow::Owned(error.error_code.name().to_owned());
    ErrorObject { code: REFUSED, message, data: serde_json::to_value(error).unwrap_or_default() }
}

/// The response to a request that failed as JSON-RPC.
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
            written(&Success { jsonrpc, id, result })
        }
        ReplyTo::Id(id) => {
            let result = content;
            written(&Success { jsonrpc, id, result })
        }
    })
}

/// The Model Context Protocol wants the text for models and the structure for programs; only an object may be structure.
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
