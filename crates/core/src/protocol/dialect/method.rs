//! What a method's name says: which message it carries, which question it asks, and in which dialect.

use super::Dialect;
use crate::protocol::message::MessageType;
use crate::protocol::methods::{Carries, Method, Question};

/// The Model Context Protocol's method for all its tools.
pub(super) const TOOLS_CALL: &str = "tools/call";

/// The question that a method asks, if it is one.
pub(super) fn question(method: &str) -> Option<Question> {
    match Method::named(method)?.carries {
        Carries::Question(question) => Some(question),
        Carries::Message(_) => None,
    }
}

/// The message type that a method implies where the message does not say: by the standard name, by a name in use
/// elsewhere, or by being the type's own name in any case.
pub(super) fn implied_type(method: &str) -> Option<MessageType> {
    let standard = MessageType::ALL.iter().find(|kind| kind.method() == method).copied();
    let served = || match Method::named(method)?.carries {
        Carries::Message(kind) => Some(kind),
        Carries::Question(_) => None,
    };
    standard.or_else(served).or_else(|| MessageType::parse(&method.to_ascii_uppercase()))
}

/// The dialect that puts all messages into `params.message` under this method.
pub(super) fn wrapping_dialect(method: &str) -> Option<Dialect> {
    let mut dialects = Dialect::ALL.into_iter();
    dialects.find(|dialect| dialect.wrapping_method() == Some(method))
}

/// The dialect of a message that stands in `params` itself. Where a type's name in lower case *is* the standard
/// method, as in `league_query`, the two cannot be told apart and need not be.
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

/// Whether a method belongs to the Model Context Protocol itself rather than to the league.
pub(super) fn is_foreign(method: &str) -> bool {
    method.contains('/') || method == "initialize"
}
