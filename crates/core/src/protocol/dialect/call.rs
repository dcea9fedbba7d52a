//! Encodes our calls: a league message as a request in the receiver's dialect.

use super::Dialect;
use super::method::TOOLS_CALL;
use crate::protocol::jsonrpc::{Call, TwoPointZero, written};
use crate::protocol::message::Message;
use crate::protocol::methods::Query;
use serde::Serialize;

#[derive(Serialize)]
struct Wrapped<M> {
    message: M,
}

#[derive(Serialize)]
struct ToolCall<'a, M> {
    name: &'a str,
    arguments: M,
}

/// The body of a request with `message`. A bare message has no id.
pub fn write_call(dialect: Dialect, id: i64, message: &Message) -> Vec<u8> {
    write_in(dialect, id, message.names(), message)
}

/// The same of a message in any form, by its type and its method.
pub(super) fn write_in(
    dialect: Dialect,
    id: i64,
    (name, method): (&str, &str),
    message: impl Serialize,
) -> Vec<u8> {
    match dialect {
        Dialect::Standard => rpc(id, method, message),
        Dialect::TypeAsMethod => rpc(id, name, message),
        Dialect::LowerTypeAsMethod => rpc(id, &name.to_ascii_lowercase(), message),
        Dialect::HandleMessage | Dialect::McpMessage | Dialect::ProtocolMessage => rpc(
            id,
            dialect.wrapping_method().unwrap_or_default(),
            Wrapped { message },
        ),
        Dialect::Bare => written(&message),
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
