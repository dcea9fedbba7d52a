//! The frame of every match, whatever is played: invitation, arrival, end.

use super::by_player::ByPlayer;
use super::parity::Parity;
use crate::fair::{Commitment, NonceCommitment, Reveal};
use crate::protocol::ids::{GameType, LeagueId, MatchId, PlayerId, RoundId};
use crate::protocol::schema::{Word, conditions};
use crate::protocol::time::Timestamp;
use crate::protocol::untrusted::UntrustedText;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use smol_str::SmolStr;
use std::borrow::Cow;

/// GAME_INVITATION: a referee calls a player to a match. The answer is GAME_JOIN_ACK within 5 s.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GameInvitation {
    pub league_id: LeagueId,
    pub round_id: RoundId,
    pub match_id: MatchId,
    pub game_type: GameType,
    pub role_in_match: Role,
    pub opponent_id: PlayerId,
    /// Whom the invitation is for; we always send it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player_id: Option<PlayerId>,
    /// The referee's promise of what it will draw from: keep it, to check the draw in GAME_OVER.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draw_commitment: Option<Commitment>,
    /// How the referee will draw: `matchday-draw-2`. Missing: `matchday-draw-1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Word>")]
    pub draw_scheme: Option<SmolStr>,
}

/// A player's seat. In games of turns, A begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Role {
    #[serde(rename = "PLAYER_A")]
    PlayerA,
    #[serde(rename = "PLAYER_B")]
    PlayerB,
}

/// GAME_JOIN_ACK: a player has arrived, or declines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GameJoinAck {
    pub match_id: MatchId,
    pub player_id: PlayerId,
    /// When the player was there.
    pub arrival_timestamp: Timestamp,
    /// False forfeits the match.
    pub accept: bool,
    /// The hash of the nonce that the player will reveal with its move. Required of players that sign.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nonce_commitment: Option<NonceCommitment>,
}

/// GAME_OVER: how the match ended, and why. The same to both players.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(transform = conditions::details_in_result)]
pub struct GameOver {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_id: Option<RoundId>,
    pub match_id: MatchId,
    pub game_type: GameType,
    pub game_result: GameResult,
    /// The reason once more, where another source looks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub reason: Option<UntrustedText>,
}

/// How a match ended. Beside the fields that are named here stand those of the game itself.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct GameResult {
    pub status: GameStatus,
    /// Null for a draw, and when both players forfeited.
    pub winner_player_id: Option<PlayerId>,
    #[serde(flatten)]
    pub details: GameDetails,
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub reason: Option<UntrustedText>,
    /// All that is needed to recompute the draw; only there if something was drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fairness: Option<Reveal>,
}

/// How a match ended: TECHNICAL_LOSS if at least one player forfeited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum GameStatus {
    Win,
    Draw,
    TechnicalLoss,
}

/// What there is to tell of a match beyond who won.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum GameDetails {
    /// Even/odd, whose details the protocol itself defines.
    Parity(ParityDetails),
    /// Any other game, in its own words.
    Other(Map<String, Value>),
}

/// Of what kind the details are, the message's `game_type` says: [`conditions`] adds those of even/odd.
impl JsonSchema for GameDetails {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "GameDetails".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object" })
    }
}

/// The details of even/odd. Null where the game did not get so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ParityDetails {
    /// The number that was drawn.
    #[schemars(range(min = 1, max = 10))]
    pub drawn_number: Option<u8>,
    /// Its parity.
    #[serde(default)]
    pub number_parity: Option<Parity>,
    /// Each player's choice, null where there was none.
    pub choices: ByPlayer<Option<Parity>>,
}
