//! What a player must not forget. Only facts stand here, never anything of a peer's token; the player's own is its key.

use super::memory::PastGame;
use crate::census::Milestone;
use crate::enrol::{Application, Identity};
use crate::fair::{Commitment, Nonce, NonceCommitment};
use crate::protocol::messages::{MoveRequest, Role};
use crate::protocol::{Attempt, GameType, MatchId, PlayerId, RoundId};
use crate::signature::Signature;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use smol_str::SmolStr;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum PlayerEvent {
    /// We are about to ask the manager to take us on.
    Applied(Application),
    /// The manager has taken us on, or has told us something new about who we are.
    Enrolled {
        identity: Identity<PlayerId>,
    },
    /// The manager has named matches of ours.
    Announced {
        round_id: RoundId,
        matches: Vec<Fixture>,
    },
    /// A referee has called us to a match, and we said yes.
    Invited {
        match_id: MatchId,
        round_id: RoundId,
        game_type: GameType,
        opponent_id: PlayerId,
        role: Role,
        attempt: Attempt,
        #[serde(default)]
        draw_commitment: Option<Commitment>,
        /// The scheme by which we sign our moves in this attempt; none if we do not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        draw_scheme: Option<SmolStr>,
    },
    /// We have made up our mind, and tell nobody before this is stored.
    Chosen {
        match_id: MatchId,
        #[serde(default)]
        round_id: Option<RoundId>,
        #[serde(default)]
        opponent_id: Option<PlayerId>,
        question: Question,
        choice: Choice,
        /// Why the fallback chose and not the mind outside, if it was to choose.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fallback: Option<String>,
        /// The attempt at the match, of which old logs say nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attempt: Option<Attempt>,
        /// The turn, where the referee numbers them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<u32>,
        /// What the opponent had bound itself to, as the referee told us.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opponent_nonce_commitment: Option<NonceCommitment>,
    },
    /// A match of ours is over.
    Finished {
        game: PastGame,
    },
    /// Every match of this round has its result.
    RoundClosed {
        round_id: RoundId,
    },
    LeagueClosed,
}

impl PlayerEvent {
    pub(super) fn milestone(&self) -> Option<Milestone<'_>> {
        match self {
            Self::Chosen { fallback: Some(_), .. } => Some(Milestone::FellBack),
            _ => None,
        }
    }
}

/// A match of ours, as the manager announced it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fixture {
    pub match_id: MatchId,
    pub game_type: GameType,
    pub opponent_id: PlayerId,
    pub role: Role,
    pub notice: Notice,
}

/// What an announcement says about the referee of a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    pub attempt: Attempt,
    /// Whether the referee will show the token made for this match.
    pub match_tokens: bool,
}

/// What was asked, as far as it matters for asking again: the same question in the same match has one answer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// Even or odd: there is one such question in a match, however it is put.
    Parity,
    /// A move, by the digest of all that the referee asked.
    Move(SmolStr),
}

impl Question {
    pub fn of_move(request: &MoveRequest) -> Self {
        // The keys of a JSON object are kept in order, so equal requests have equal bytes.
        let bytes = serde_json::to_vec(request).unwrap_or_default();
        Self::Move(hex::encode(Sha256::digest(&bytes)).into())
    }
}

/// An answer, kept to be repeated to the letter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    pub value: Value,
    pub nonce: Nonce,
    /// Over this choice and all before it in the same attempt, where we sign.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
}
