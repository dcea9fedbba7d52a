//! league.v2 on the wire: what the messages are, how they are read and written. Bytes and values only, no I/O.

pub mod decode;
pub mod dialect;
pub mod envelope;
pub mod error;
pub mod ids;
pub mod json;
pub mod jsonrpc;
pub mod keyring;
pub mod message;
pub mod messages;
pub mod methods;
mod ranked;
pub mod rights;
pub mod schema;
pub mod text;
pub mod time;
pub mod token;
pub mod untrusted;

pub use envelope::{Envelope, PROTOCOL, Sender};
pub use error::ErrorCode;
pub use ids::{Attempt, ConversationId, GameType, LeagueId, MatchId, PlayerId, RefereeId, RoundId};
pub use message::{Body, Message, MessageType};
pub use text::{DisplayName, Endpoint, Version};
pub use time::Timestamp;
pub use token::Token;
pub use untrusted::{Untrusted, UntrustedText};
