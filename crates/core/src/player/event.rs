//! The events of a player. They hold its own token, but no peer's token.

use crate::agent::Usage;
use crate::game::past::PastGame;
use crate::metrics::Milestone;
use crate::protocol::draw::Commitment;
use crate::protocol::messages::{MoveRequest, Role};
use crate::protocol::nonce::{Nonce, NonceCommitment};
use crate::protocol::{Attempt, GameType, MatchId, PlayerId, RoundId};
use crate::registration::{Application, Identity};
use crate::signature::{PublicKey, Signature};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use smol_str::SmolStr;
use std::sync::Arc;

/// What the log of a player holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum PlayerEvent {
    /// About to register.
    Applied(Application),
    /// Registered, or registered again with a changed identity.
    #[serde(rename = "enrolled")]
    Registered {
        /// As the manager's answer gave it.
        identity: Identity<PlayerId>,
    },
    /// The manager has announced matches of ours.
    Announced {
        /// The round of these matches.
        round_id: RoundId,
        /// Our own matches of the round.
        matches: Vec<Fixture>,
    },
    /// We have accepted an invitation.
    Invited {
        /// The match, which need not have been announced before.
        match_id: MatchId,
        /// The round of the match.
        round_id: RoundId,
        /// A game that this player knows.
        game_type: GameType,
        /// Whom we play against.
        opponent_id: PlayerId,
        /// Which side of the pairing we are.
        role: Role,
        /// Each attempt has one invitation.
        attempt: Attempt,
        /// The referee's draw commitment; absent if the invitation has none.
        draw_commitment: Option<Commitment>,
        /// The referee's signature over its commitment, as far as it could be checked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commitment_signature: Option<Signature>,
        /// Whether we have committed ourselves to a nonce, and sign our moves in this attempt.
        signs: bool,
    },
    /// We have chosen. Durable before the reply.
    Chosen {
        /// The match of the question.
        match_id: MatchId,
        /// Absent if no message told it.
        round_id: Option<RoundId>,
        /// Absent if no message told it.
        opponent_id: Option<PlayerId>,
        /// The same question gets the same answer, after a restart too.
        question: Question,
        /// What we answer.
        choice: Choice,
        /// Why the fallback chose instead of the external decider, if it did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fallback: Option<String>,
        /// The attempt of the question.
        attempt: Attempt,
        /// The turn, if the referee numbers turns.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<u32>,
        /// The opponent's nonce commitment, from the referee.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opponent_nonce_commitment: Option<NonceCommitment>,
        /// What a language model used for it, if it told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
    },
    /// A match of ours is over.
    Finished {
        /// As we remember it.
        game: PastGame,
        /// What proves that the referee has said so, if it signs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signed: Option<Box<SignedResult>>,
    },
    /// A referee that has a key has not signed a message with it.
    NotSigned {
        /// The match of the message.
        match_id: MatchId,
        /// The attempt of the message.
        attempt: Attempt,
        /// The type of the message.
        message_type: SmolStr,
    },
    /// The manager has told its latest checkpoint.
    CheckpointReceived {
        /// The signed note, which can be held against the manager's log.
        note: Arc<str>,
    },
    /// Every match of this round has its result.
    RoundClosed {
        /// The finished matches of this round are dropped.
        round_id: RoundId,
    },
    /// The manager has told that the league is over.
    LeagueClosed,
}

impl PlayerEvent {
    pub(super) fn milestone(&self) -> Option<Milestone<'_>> {
        match self {
            Self::Chosen {
                fallback: Some(_), ..
            } => Some(Milestone::FellBack),
            _ => None,
        }
    }
}

/// A GAME_OVER that its referee has signed: evidence of what it said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedResult {
    /// The attempt that ended so.
    pub attempt: Attempt,
    /// `game_result` as it is signed.
    pub game_result: String,
    /// As far as it could be checked.
    pub signature: Signature,
}

/// A match of ours, as the manager announced it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fixture {
    /// The id by which later messages name the match.
    pub match_id: MatchId,
    /// What is to be played.
    pub game_type: GameType,
    /// Whom we play against.
    pub opponent_id: PlayerId,
    /// Which side of the pairing we are.
    pub role: Role,
    /// What to expect of its referee.
    pub notice: Notice,
}

/// The attempt of an announced match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// Higher after each reassignment of the match.
    pub attempt: Attempt,
    /// Whether the referee will show the token made for this match.
    pub match_tokens: bool,
    /// The key with which the referee signs, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub referee_key: Option<PublicKey>,
}

/// The identity of a question: the same question in the same match has one answer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// Even or odd: one question per match, whichever message asks it.
    Parity,
    /// A move, by the digest of the referee's request.
    Move(SmolStr),
}

impl Question {
    /// Two requests with equal content are the same question.
    pub fn of_move(request: &MoveRequest) -> Self {
        // JSON keys are sorted, so equal requests have equal bytes.
        let bytes = serde_json::to_vec(request).unwrap_or_default();
        Self::Move(hex::encode(Sha256::digest(&bytes)).into())
    }
}

/// An answer, stored to be repeated exactly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// The parity or the move.
    pub value: Value,
    /// Our part of the draw's chance, revealed with the answer.
    pub nonce: Nonce,
    /// Covers this choice and all earlier ones of the attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
}
