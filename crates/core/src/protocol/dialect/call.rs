//! Encodes our calls: a league message as a request in the receiver's dialect.

use super::Dialect;
use super::method::TOOLS_CALL;
use crate::protocol::jsonrpc::{Call, TwoPointZero, written};
use crate::protocol::message::Message;
use crate::protocol::methods::Query;
use serde::Serialize;

#[derive(Serialize)]
struct Wrapped<'a> {
    message: &'a Message,
}

#[derive(Serialize)]
struct ToolCall<'a> {
    name: &'a str,
    arguments: &'a Message,
}

/// The body of a request with `message`. A bare message has no id.
pub fn write_call(dialect: Dialect, id: i64, message: &Message) -> Vec<u8> {
    let (name, method) = message.names();
    match dialect {
        Dialect::Standard => rpc(id, method, message),
        Dialect::TypeAsMethod => rpc(id, name, message),
        Dialect::LowerTypeAsMethod => rpc(id, &name.to_ascii_lowercase(), message),
        Dialect::HandleMessage | Dialect::McpMessage | Dialect::ProtocolMessage => rpc(
            id,
            dialect.wrapping_method().unwrap_or_default(),
            Wrapped { message },
        ),
        Dialect::Bare => written(message),
        Dialect::ToolsCall => rpc(
            id,
            TOOLS_CALL,
            ToolCall {
                name: method,
                arguments: message,
            },
        ),
    }
}

/// The body of a `ping`. Identical in every dialect, since any answer will do; `params` is for servers that require it.
pub fn write_probe(id: i64) -> Vec<u8> {
    rpc(id, Query::Ping.name(), serde_json::Map::new())
}

fn rpc(id: i64, method: &str, params: impl Serialize) -> Vec<u8> {
    let jsonrpc = TwoPointZero;
    written(&Call {
        jsonrpc,
        id,
        method,
        params,
    })
}
