//! Registration requests and responses. The token of an agent is in the envelope's `auth_token`.

#[cfg(feature = "schema")]
use super::conditions;
use super::timeouts::Timeouts;
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{GameType, LeagueId, PlayerId, RefereeId};
#[cfg(feature = "schema")]
use crate::protocol::schema_words::Word;
use crate::protocol::text::{DisplayName, Endpoint, Version};
use crate::protocol::token::Token;
use crate::protocol::untrusted::UntrustedText;
use crate::signature::PublicKey;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use smol_str::SmolStr;

/// REFEREE_REGISTER_REQUEST: a referee offers its services.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RefereeRegisterRequest {
    /// What the manager needs to know to give it matches.
    pub referee_meta: RefereeMeta,
    /// The code that the operator gave out for it, where the league asks for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub join_code: Option<Token>,
}

/// What a referee says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RefereeMeta {
    /// For people: tables and logs show it beside the id.
    pub display_name: DisplayName,
    /// Of the referee's own software, not of the protocol.
    pub version: Version,
    /// The games it plays, at least one.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub game_types: Vec<GameType>,
    /// Where it listens.
    pub contact_endpoint: Endpoint,
    /// It is never given more matches at once.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 10)))]
    pub max_concurrent_matches: u32,
    /// 2.0.0 up to 2.1.x.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Word>"))]
    pub protocol_version: Option<SmolStr>,
    /// Extensions that this referee speaks, such as `match_tokens`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<Word>>"))]
    pub capabilities: Vec<SmolStr>,
    /// The longest windows and the most retries that this referee allows, whatever the manager hands over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeouts: Option<Timeouts>,
    /// The key by which its commitments and results are checked: who registers one signs them in every match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_key: Option<PublicKey>,
}

impl RefereeMeta {
    /// Whether the referee speaks this extension; names are compared exactly.
    pub fn has_capability(&self, name: &str) -> bool {
        self.capabilities
            .iter()
            .any(|capability| capability == name)
    }
}

/// The capability of a referee that shows players a token made for one match instead of its own.
pub const MATCH_TOKENS: &str = "match_tokens";

/// The capability of a referee that plays a match only once it is briefed on it, and by the timeouts of the briefing; an
/// announcement of the whole round tells it no more than who meets whom.
pub const BRIEFING: &str = "briefing";

/// The capability of a referee that draws by `matchday-draw-2` and passes players' signatures on.
pub const DRAW_2: &str = "draw-2";

/// The capability of an agent that answers `ping`.
pub const PING: &str = "ping";

/// The longest turn log that is reported: a manager decodes no longer lists. In a longer match no signature proves anything.
pub const TURNS_TOLD_MAX: usize = 100;

/// LEAGUE_REGISTER_REQUEST: a player asks to take part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeagueRegisterRequest {
    /// What the manager needs to know to let it play.
    pub player_meta: PlayerMeta,
    /// The code that the operator gave out for it, where the league asks for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub join_code: Option<Token>,
}

/// What a player says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlayerMeta {
    /// For people: tables and logs show it beside the id.
    pub display_name: DisplayName,
    /// Of the player's own software, not of the protocol.
    pub version: Version,
    /// The games it plays, at least one.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub game_types: Vec<GameType>,
    /// Where it listens; only referees are told.
    pub contact_endpoint: Endpoint,
    /// 2.0.0 up to 2.1.x.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Word>"))]
    pub protocol_version: Option<SmolStr>,
    /// The key by which its moves are checked: who registers one signs every move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_key: Option<PublicKey>,
    /// What it plays by, for people: the name of a strategy, or `llm:` and that of a language model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<DisplayName>,
    /// Extensions that it speaks: `ping`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<Word>>"))]
    pub capabilities: Vec<SmolStr>,
    /// How many matches it wants in any hour of a ladder, at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub max_matches_per_hour: Option<u32>,
}

impl PlayerMeta {
    /// What a player that asks a language model puts before its name.
    pub const MODEL_PREFIX: &str = "llm:";

    /// The language model that it says it asks.
    pub fn model(&self) -> Option<&str> {
        self.strategy
            .as_ref()?
            .raw()
            .strip_prefix(Self::MODEL_PREFIX)
    }
}

/// Whether an agent takes part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum RegisterStatus {
    /// The agent has an id and a token, and takes part.
    Accepted,
    /// The agent does not take part; `reason` says why.
    Rejected,
}

/// REFEREE_REGISTER_RESPONSE: the manager takes a referee on, or says why not. The token is in `auth_token`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = conditions::accepted_or_rejected))]
pub struct RefereeRegisterResponse {
    /// Required if accepted, null if not.
    pub referee_id: Option<RefereeId>,
    /// The fields that both responses have.
    #[serde(flatten)]
    pub answer: RegisterAnswer,
}

/// LEAGUE_REGISTER_RESPONSE: the manager takes a player on, or says why not. The token is in `auth_token`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = conditions::accepted_or_rejected))]
pub struct LeagueRegisterResponse {
    /// Required if accepted, null if not.
    pub player_id: Option<PlayerId>,
    /// The fields that both responses have.
    #[serde(flatten)]
    pub answer: RegisterAnswer,
}

/// What both registration responses share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RegisterAnswer {
    /// Whether the agent takes part.
    pub status: RegisterStatus,
    /// Required if rejected, null if not.
    pub reason: Option<UntrustedText>,
    /// The league that was joined: send it in whatever asks for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    /// Whether this manager derives a token for each match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_tokens: Option<bool>,
    /// The key that signs this manager's checkpoints: keep it, to check them by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manager_public_key: Option<PublicKey>,
    /// Why a registration was rejected, as a code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_code: Option<ErrorCode>,
    /// The name of `error_code` in capitals, if rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_name: Option<UntrustedText>,
    /// What would help to fix a rejected registration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Map<String, Value>>,
}
