//! Writing our calls: a league message becomes a request in the dialect that its receiver understands.

use super::Dialect;
use super::method::TOOLS_CALL;
use crate::protocol::jsonrpc::{Call, TwoPointZero, written};
use crate::protocol::message::Message;
use crate::protocol::methods::PING;
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

/// The body of a request that carries `message`. A bare message has no place for the id.
pub fn write_call(dialect: Dialect, id: i64, message: &Message) -> Vec<u8> {
    let kind = message.message_type();
    match dialect {
        Dialect::Standard => rpc(id, kind.method(), message),
        Dialect::TypeAsMethod => rpc(id, kind.name(), message),
        Dialect::LowerTypeAsMethod => rpc(id, &kind.name().to_ascii_lowercase(), message),
        Dialect::HandleMessage | Dialect::McpMessage | Dialect::ProtocolMessage => {
            rpc(id, dialect.wrapping_method().unwrap_or_default(), Wrapped { message })
        }
        Dialect::Bare => written(message),
        Dialect::ToolsCall => {
            let (name, arguments) = (kind.method(), message);
            rpc(id, TOOLS_CALL, ToolCall { name, arguments })
        }
    }
}

/// The body of a request that asks only whether anyone is there. It is the same in every dialect, since any answer
/// whatever will do; `params` is there for servers that cannot do without.
pub fn write_probe(id: i64) -> Vec<u8> {
    rpc(id, PING, serde_json::Map::new())
}

fn rpc(id: i64, method: &str, params: impl Serialize) -> Vec<u8> {
    let jsonrpc = TwoPointZero;
    written(&Call { jsonrpc, id, method, params })
}
