//! The two messages of even/odd itself.

use super::result::Record;
use crate::fair::{Nonce, NonceCommitment};
use crate::protocol::ids::{GameType, LeagueId, MatchId, PlayerId, RoundId};
use crate::protocol::time::Timestamp;
use crate::signature::Signature;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Exactly `"even"` or `"odd"` on the wire, in any mode of reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Parity {
    Even,
    Odd,
}

impl Parity {
    pub const ALL: [Self; 2] = [Self::Even, Self::Odd];

    pub fn of(number: u8) -> Self {
        if number.is_multiple_of(2) { Self::Even } else { Self::Odd }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|parity| parity.as_str() == text)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Even => "even",
            Self::Odd => "odd",
        }
    }

    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Even => Self::Odd,
            Self::Odd => Self::Even,
        }
    }
}

impl fmt::Display for Parity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// CHOOSE_PARITY_CALL: the referee asks for a choice. The answer is CHOOSE_PARITY_RESPONSE before the deadline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChooseParityCall {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_id: Option<RoundId>,
    pub match_id: MatchId,
    /// Who is asked.
    pub player_id: PlayerId,
    pub game_type: GameType,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<ChoiceContext>,
    /// When this try ends.
    pub deadline: Timestamp,
    /// The number of the turn, from 1. A player that signs makes one move in a turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<u32>,
    /// What the opponent has bound itself to: it goes into the player's signature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opponent_nonce_commitment: Option<NonceCommitment>,
}

/// What a player may want to know before it chooses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChoiceContext {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opponent_id: Option<PlayerId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_id: Option<RoundId>,
    /// The asked player's own record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub your_standings: Option<Record>,
}

/// CHOOSE_PARITY_RESPONSE: a player's choice. The first valid one stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChooseParityResponse {
    pub match_id: MatchId,
    pub player_id: PlayerId,
    pub parity_choice: Parity,
    /// The player's share in the draw: any text that nobody can guess.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nonce: Option<Nonce>,
    /// The player's signature over this move and all of its moves before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
}
