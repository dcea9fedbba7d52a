//! league.v2 on the wire: messages, decoding and encoding. No I/O.

mod by_player;
mod conformance;
pub mod decode;
pub mod dialect;
mod dialect_name;
pub mod draw;
pub mod envelope;
pub mod error;
pub mod ids;
pub mod json;
pub mod jsonrpc;
pub mod keyring;
pub mod message;
pub mod messages;
pub mod methods;
pub mod nonce;
pub mod operation;
mod rejection;
pub mod rights;
#[cfg(feature = "schema")]
pub mod schema;
#[cfg(feature = "schema")]
mod schema_words;
mod short_id;
pub mod text;
pub mod time;
pub mod token;
pub mod untrusted;

pub use envelope::{Envelope, PROTOCOL, Sender};
pub use error::ErrorCode;
pub use ids::{Attempt, ConversationId, GameType, LeagueId, MatchId, PlayerId, RefereeId, RoundId};
pub use message::{Body, Message, MessageType};
pub use methods::{Query, QueryParams, QueryRequest};
pub use text::{DisplayName, Endpoint, NAME_CHARS_MAX, Version};
pub use time::Timestamp;
pub use token::Token;
pub use untrusted::{Untrusted, UntrustedText};
