//! The catalogue of messages: one table with the name and method of each type.

use super::envelope::{Envelope, PROTOCOL, Sender};
use super::messages::*;
#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smol_str::SmolStr;
use std::fmt;
use std::sync::Arc;

/// The other name of MATCH_ASSIGNMENT.
pub(super) const START_MATCH: &str = "START_MATCH";

macro_rules! catalogue {
    ($($variant:ident $name:literal $method:literal;)*) => {
        /// The types of message, by the names they have on the wire.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum MessageType {
            $(#[doc = concat!("`", $name, "`")] $variant,)*
        }

        impl MessageType {
            /// In the order of the catalogue.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// As `message_type` has it on the wire.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The JSON-RPC method that carries it in the standard dialect.
            pub const fn method(self) -> &'static str {
                match self { $(Self::$variant => $method,)* }
            }

            /// What stands beneath the envelope, as a schema.
            #[cfg(feature = "schema")]
            pub(super) fn body_schema(self, generator: &mut SchemaGenerator) -> Schema {
                match self { $(Self::$variant => $variant::json_schema(generator),)* }
            }

            /// Exactly the name, in capitals.
            pub fn parse(text: &str) -> Option<Self> {
                match text {
                    $($name => Some(Self::$variant),)*
                    START_MATCH => Some(Self::MatchAssignment),
                    _ => None,
                }
            }
        }

        /// What a message says, beneath its envelope. Shared, because the same goes to many, and is kept until it has
        /// arrived.
        #[derive(Debug, Clone, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum Body {
            $(#[doc = concat!("`", $name, "`")] $variant(Arc<$variant>),)*
        }

        impl Body {
            /// The type that belongs to this body.
            pub fn message_type(&self) -> MessageType {
                match self { $(Self::$variant(_) => MessageType::$variant,)* }
            }
        }

        $(impl From<$variant> for Body {
            fn from(body: $variant) -> Self {
                Self::$variant(Arc::new(body))
            }
        })*
    };
}

catalogue! {
    RefereeRegisterRequest "REFEREE_REGISTER_REQUEST" "register_referee";
    RefereeRegisterResponse "REFEREE_REGISTER_RESPONSE" "referee_register_response";
    LeagueRegisterRequest "LEAGUE_REGISTER_REQUEST" "register_player";
    LeagueRegisterResponse "LEAGUE_REGISTER_RESPONSE" "league_register_response";
    RoundAnnouncement "ROUND_ANNOUNCEMENT" "notify_round";
    RoundCompleted "ROUND_COMPLETED" "notify_round_completed";
    LeagueCompleted "LEAGUE_COMPLETED" "notify_league_completed";
    GameInvitation "GAME_INVITATION" "handle_game_invitation";
    GameJoinAck "GAME_JOIN_ACK" "game_join_ack";
    ChooseParityCall "CHOOSE_PARITY_CALL" "choose_parity";
    ChooseParityResponse "CHOOSE_PARITY_RESPONSE" "choose_parity_response";
    GameMoveCall "GAME_MOVE_CALL" "choose_move";
    GameMoveResponse "GAME_MOVE_RESPONSE" "game_move_response";
    GameOver "GAME_OVER" "notify_match_result";
    GameError "GAME_ERROR" "notify_game_error";
    MatchResultReport "MATCH_RESULT_REPORT" "report_match_result";
    MatchResultAck "MATCH_RESULT_ACK" "match_result_ack";
    LeagueStandingsUpdate "LEAGUE_STANDINGS_UPDATE" "update_standings";
    LeagueQuery "LEAGUE_QUERY" "league_query";
    LeagueQueryResponse "LEAGUE_QUERY_RESPONSE" "league_query_response";
    LeagueError "LEAGUE_ERROR" "notify_league_error";
    StartLeague "START_LEAGUE" "start_league";
    LeagueStatus "LEAGUE_STATUS" "league_status";
    LeagueOrder "LEAGUE_ORDER" "order_league";
    MatchAssignment "MATCH_ASSIGNMENT" "assign_match";
}

impl fmt::Display for MessageType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for MessageType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for MessageType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = SmolStr::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("not a message type"))
    }
}

/// A whole message of league.v2.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Who sends it, when, and by which token.
    pub envelope: Envelope,
    /// What it says, which determines its type.
    pub body: Body,
}

impl Message {
    /// The message type follows from the body.
    pub fn new(envelope: Envelope, body: impl Into<Body>) -> Self {
        Self {
            envelope,
            body: body.into(),
        }
    }

    /// The type that the message has on the wire.
    pub fn message_type(&self) -> MessageType {
        self.body.message_type()
    }

    /// The `message_type` and the method of the standard dialect, as they are written.
    pub fn names(&self) -> (&'static str, &'static str) {
        match &self.body {
            Body::MatchAssignment(body) if body.name == AssignmentName::StartMatch => {
                (START_MATCH, "start_match")
            }
            body => (body.message_type().name(), body.message_type().method()),
        }
    }

    /// The error by which a player or a referee rejects a message. Only the manager sends LEAGUE_ERROR itself: the
    /// others answer with a JSON-RPC error with the same fields.
    pub fn refusal_of_agent(&self) -> Option<&LeagueError> {
        match &self.body {
            Body::LeagueError(error) if self.envelope.sender != Sender::LeagueManager => {
                Some(error)
            }
            _ => None,
        }
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Wire<'a> {
            protocol: &'static str,
            message_type: &'static str,
            sender: &'a Sender,
            timestamp: super::time::Timestamp,
            conversation_id: &'a super::ids::ConversationId,
            #[serde(skip_serializing_if = "Option::is_none")]
            auth_token: Option<&'a super::token::Token>,
            #[serde(flatten)]
            body: &'a Body,
        }
        let Envelope {
            sender,
            timestamp,
            conversation_id,
            auth_token,
        } = &self.envelope;
        Wire {
            protocol: PROTOCOL,
            message_type: self.names().0,
            sender,
            timestamp: *timestamp,
            conversation_id,
            auth_token: auth_token.as_ref(),
            body: &self.body,
        }
        .serialize(serializer)
    }
}
