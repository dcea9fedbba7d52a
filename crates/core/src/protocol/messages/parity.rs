//! The two messages of even/odd itself.

use super::record::Record;
use crate::protocol::by_player::ByPlayer;
use crate::protocol::ids::{GameType, LeagueId, MatchId, PlayerId, RoundId};
use crate::protocol::nonce::{Nonce, NonceCommitment};
use crate::protocol::time::Timestamp;
use crate::signature::Signature;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Exactly `"even"` or `"odd"` on the wire, in any mode of reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Parity {
    /// 2, 4, 6, 8 or 10.
    Even,
    /// 1, 3, 5, 7 or 9.
    Odd,
}

impl Parity {
    /// In the order in which a referee lists the valid choices.
    pub const ALL: [Self; 2] = [Self::Even, Self::Odd];

    /// The parity of a drawn number.
    pub fn of(number: u8) -> Self {
        if number.is_multiple_of(2) {
            Self::Even
        } else {
            Self::Odd
        }
    }

    /// Exactly `even` or `odd`, in lower case; anything else is `None`.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|parity| parity.as_str() == text)
    }

    /// As it is written on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Even => "even",
            Self::Odd => "odd",
        }
    }

    /// Even for odd, and odd for even.
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChooseParityCall {
    /// The league that the match counts for; we always send it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    /// The round that the match belongs to; we always send it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_id: Option<RoundId>,
    /// The match to choose in: repeat it in the answer.
    pub match_id: MatchId,
    /// Who is asked.
    pub player_id: PlayerId,
    /// `even_odd`.
    pub game_type: GameType,
    /// What the player may base its choice on; we always send it.
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChoiceContext {
    /// The player that is asked at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opponent_id: Option<PlayerId>,
    /// The round that the match belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_id: Option<RoundId>,
    /// The asked player's own record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub your_standings: Option<Record>,
}

/// CHOOSE_PARITY_RESPONSE: a player's choice. The first valid one stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChooseParityResponse {
    /// The match of the call that this answers.
    pub match_id: MatchId,
    /// The player that chooses, by the id that the manager assigned.
    pub player_id: PlayerId,
    /// What the player expects the drawn number to be.
    pub parity_choice: Parity,
    /// The same once more: some referees of other makes read this name alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choice: Option<Parity>,
    /// The player's share in the draw: any text that nobody can guess.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nonce: Option<Nonce>,
    /// The player's signature over this move and all of its moves before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
}

/// The details of even/odd. Null where the game did not get so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ParityDetails {
    /// The number that was drawn.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 10)))]
    pub drawn_number: Option<u8>,
    /// Its parity.
    #[serde(default)]
    pub number_parity: Option<Parity>,
    /// Each player's choice, null where there was none.
    pub choices: ByPlayer<Option<Parity>>,
}
