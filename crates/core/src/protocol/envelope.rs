//! The envelope of a message: sender, timestamp, conversation, token.

use super::ids::{ConversationId, PlayerId, RefereeId};
#[cfg(feature = "schema")]
use super::schema_words::NO_CONTROLS;
use super::time::Timestamp;
use super::token::Token;
use super::untrusted::Untrusted;
pub use super::untrusted::{ID_BYTES_MAX, id_fits};
#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smol_str::{SmolStr, SmolStrBuilder};
use std::fmt;

/// The protocol's name and version.
pub const PROTOCOL: &str = "league.v2";

/// What every message has, whatever its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// Who sends it, by its own word: the token proves it.
    pub sender: Sender,
    /// When it was sent, by the sender's clock.
    pub timestamp: Timestamp,
    /// An answer repeats that of its question.
    pub conversation_id: ConversationId,
    /// Absent where the sender has none yet, as in a registration.
    pub auth_token: Option<Token>,
}

impl Envelope {
    /// Without a token.
    pub fn new(sender: Sender, timestamp: Timestamp, conversation_id: ConversationId) -> Self {
        Self {
            sender,
            timestamp,
            conversation_id,
            auth_token: None,
        }
    }

    /// With this token, or without one.
    #[must_use]
    pub fn with_token(mut self, token: Option<Token>) -> Self {
        self.auth_token = token;
        self
    }
}

/// The sender. Before registration, its id is the agent's own choice.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sender {
    /// `league_manager`
    LeagueManager,
    /// `launcher`: the operator, who starts the league and gives orders.
    Launcher,
    /// `referee:REF01`
    Referee(RefereeId),
    /// `player:P01`
    Player(PlayerId),
}

impl Sender {
    /// The id alone; the manager and the launcher are called by their role.
    pub fn id(&self) -> &str {
        match self {
            Self::LeagueManager => "league_manager",
            Self::Launcher => "launcher",
            Self::Referee(id) => id.as_str(),
            Self::Player(id) => id.as_str(),
        }
    }

    /// The text form.
    fn text(&self) -> SmolStr {
        let role = match self {
            Self::LeagueManager | Self::Launcher => "",
            Self::Referee(_) => "referee:",
            Self::Player(_) => "player:",
        };
        let mut text = SmolStrBuilder::new();
        text.push_str(role);
        text.push_str(self.id());
        text.finish()
    }

    /// `league_manager` or `league_manager:ID`, `manager` likewise, `launcher`, `referee:ID`, `player:ID`; anything else is no sender.
    pub fn parse(text: &str) -> Option<Self> {
        match text.split_once(':') {
            None if matches!(text, "league_manager" | "manager") => Some(Self::LeagueManager),
            None if text == "launcher" => Some(Self::Launcher),
            Some((_, id)) if !id_fits(id) => None,
            // Some managers have an id.
            Some(("league_manager" | "manager", _)) => Some(Self::LeagueManager),
            Some(("referee", id)) => Some(Self::Referee(RefereeId::new(id))),
            Some(("player", id)) => Some(Self::Player(PlayerId::new(id))),
            _ => None,
        }
    }
}

/// For people; the wire has [`Serialize`].
impl fmt::Display for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Untrusted::new(&self.text()).escaped().fmt(f)
    }
}

impl Serialize for Sender {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

impl<'de> Deserialize<'de> for Sender {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = SmolStr::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("not a sender"))
    }
}

#[cfg(feature = "schema")]
impl JsonSchema for Sender {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Sender".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": format!("^(league_manager|manager|launcher|(league_manager|manager|referee|player):{NO_CONTROLS}{{1,{ID_BYTES_MAX}}})$"),
            "description": "Who speaks. Before registration, the id is the agent's own word for itself.",
            "examples": ["league_manager", "referee:REF01", "player:P01", "launcher"],
        })
    }
}
