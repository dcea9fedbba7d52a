//! What a method's name implies: the message type, the query, and the dialect.

use super::Dialect;
use crate::protocol::message::MessageType;
use crate::protocol::methods::{Method, MethodParams, Query};

/// The MCP method for all tools.
pub(super) const TOOLS_CALL: &str = "tools/call";

/// The query of a method, if it is one.
pub(super) fn query(method: &str) -> Option<Query> {
    match Method::named(method)?.params {
        MethodParams::Query(query) => Some(query),
        MethodParams::Message(_) => None,
    }
}

/// The message type that a method implies: by its standard name, by an alias, or by being the type's name in any case.
pub(super) fn implied_type(method: &str) -> Option<MessageType> {
    let standard = MessageType::ALL
        .iter()
        .find(|kind| kind.method() == method)
        .copied();
    let served = || match Method::named(method)?.params {
        MethodParams::Message(kind) => Some(kind),
        MethodParams::Query(_) => None,
    };
    standard
        .or_else(served)
        .or_else(|| MessageType::parse(&method.to_ascii_uppercase()))
}

/// The dialect that puts all messages into `params.message` of this method.
pub(super) fn wrapping_dialect(method: &str) -> Option<Dialect> {
    let mut dialects = Dialect::ALL.into_iter();
    dialects.find(|dialect| dialect.wrapping_method() == Some(method))
}

/// The dialect of a message in `params` itself. Where a type's name in lower case *is* the standard method, as in
/// `league_query`, the two are the same.
pub(super) fn flat_dialect(method: &str, message_type: &str) -> Dialect {
    let standard = MessageType::parse(message_type).map(MessageType::method);
    if standard == Some(method) || !method.eq_ignore_ascii_case(message_type) {
        Dialect::Standard
    } else if method == message_type {
        Dialect::TypeAsMethod
    } else {
        Dialect::LowerTypeAsMethod
    }
}

/// Whether a method belongs to the Model Context Protocol.
pub(super) fn is_foreign(method: &str) -> bool {
    method.contains('/') || method == "initialize"
}
