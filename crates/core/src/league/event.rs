//! The events of a league. Its state is a fold over them.
//!
//! Stored events stay readable: a variant or field is never renamed or removed, and a new field has a default. Any
//! other change needs a new version in [`crate::event_codec`].

use super::cause::{LossCause, Suspicion};
use super::fixture::{DecidedBy, ResultProof};
use super::format::{DrawnRound, Lot};
use super::invitation::Invitation;
use super::schedule::Pairings;
use super::settings::LeagueSettings;
use crate::protocol::dialect::Dialect;
use crate::protocol::ids::{Attempt, LeagueId, MatchId, PlayerId, RefereeId, RoundId};
use crate::protocol::messages::{Cause, Culprit, GameStatus, MatchResult, PlayerMeta, RefereeMeta};
use crate::protocol::time::exact;
use crate::protocol::token::TokenHash;
use crate::protocol::{Sender, Timestamp, UntrustedText};
use crate::signature::{PublicKey, Signature};
use core::net::IpAddr;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What the log of a league holds. Every state of the manager follows from these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[allow(
    clippy::large_enum_variant,
    reason = "events are written once and read once"
)]
pub enum LeagueEvent {
    /// The first event of every log.
    LeagueCreated {
        /// For the whole life of the league.
        settings: LeagueSettings,
    },
    /// A new player; or a known one under its old id with a new token, before the start or because its answer was lost.
    PlayerRegistered {
        /// Assigned by the manager.
        player_id: PlayerId,
        /// As the registration gave it.
        meta: PlayerMeta,
        /// Only the hash is stored: a log that leaks lets nobody in.
        token: TokenHash,
        /// The dialect in which the manager calls it.
        dialect: Dialect,
        /// What it is recognised by when it registers again.
        request: RegistrationRecord,
    },
    /// A referee, as [`Self::PlayerRegistered`] for a player.
    RefereeRegistered {
        /// Assigned by the manager.
        referee_id: RefereeId,
        /// As the registration gave it.
        meta: RefereeMeta,
        /// Only the hash is stored.
        token: TokenHash,
        /// The dialect in which the manager calls it.
        dialect: Dialect,
        /// What it is recognised by when it registers again.
        request: RegistrationRecord,
    },
    /// Registered again with its earlier token or registration key, and keeps its token.
    PlayerRejoined {
        /// The id of the earlier registration.
        player_id: PlayerId,
        /// Replaces what the earlier registration gave.
        meta: PlayerMeta,
        /// Replaces the earlier one.
        dialect: Dialect,
        /// What it is recognised by when it registers again.
        request: RegistrationRecord,
    },
    /// A referee, as [`Self::PlayerRejoined`] for a player.
    RefereeRejoined {
        /// The id of the earlier registration.
        referee_id: RefereeId,
        /// Replaces what the earlier registration gave.
        meta: RefereeMeta,
        /// Replaces the earlier one.
        dialect: Dialect,
        /// What it is recognised by when it registers again.
        request: RegistrationRecord,
    },
    /// A player of the season's previous league takes part in this one under the same id and token, without having asked.
    PlayerCarriedOver {
        /// As in that league.
        player_id: PlayerId,
        /// As it registered there.
        meta: PlayerMeta,
        /// Only the hash is stored.
        token: TokenHash,
        /// The dialect in which the manager calls it.
        dialect: Dialect,
        /// What it was recognised by there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request: Option<RegistrationRecord>,
        /// The previous league.
        from: LeagueId,
    },
    /// An agent without a registration key has shown its token: it gets no other token without proof.
    TokenShown {
        /// A player or a referee.
        agent: Sender,
    },
    /// Registration is closed; the rounds that do not depend on results are fixed.
    LeagueStarted {
        /// In order; empty in a format that draws every round by results.
        rounds: Vec<Pairings>,
        /// What further rounds, or lots, are drawn from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        draw: Option<DrawnFrom>,
        /// Whether matches in which a player has a key need a referee that proves, from now on.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        proofs_required: bool,
    },
    /// A round that depends on earlier results.
    RoundDrawn {
        /// One more than the last round.
        round_id: RoundId,
        /// The pairs and the title of the round.
        #[serde(flatten)]
        drawn: Arc<DrawnRound>,
    },
    /// A level knockout tie was decided by lot.
    LotDrawn {
        /// Who goes on, and who is out.
        #[serde(flatten)]
        lot: Lot,
    },
    /// The agents are told the matches of a round; their referees are assigned next.
    RoundAnnounced {
        /// Rounds are announced in order.
        round_id: RoundId,
        /// No match of the round begins before.
        #[serde(with = "exact")]
        starts_at: Timestamp,
        /// The planned referee of each match.
        plan: Vec<(MatchId, RefereeId)>,
    },
    /// A match is assigned to a referee; from the second attempt on, because the earlier one was lost.
    MatchAssigned {
        /// A match of an announced round.
        match_id: MatchId,
        /// CountedMatch from 1; each attempt has its own secret and its own tokens.
        attempt: Attempt,
        /// The referee that runs this attempt.
        referee_id: RefereeId,
        /// Players that forfeit, and why: then the referee only tells both players the result.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        forfeits: Vec<(PlayerId, Cause)>,
    },
    /// An attempt at a match ended without a result and without fault of its players: the match is reassigned.
    AttemptLost {
        /// The match to be reassigned.
        match_id: MatchId,
        /// The lost attempt.
        attempt: Attempt,
        /// The referee that ran the attempt.
        referee_id: RefereeId,
        /// Whose fault it was.
        culprit: Culprit,
        /// For people.
        reason: UntrustedText,
        /// It decides whether the loss counts against the referee.
        cause: LossCause,
    },
    /// A match has its result, which stands unless the operator voids it.
    MatchDecided {
        /// A match of an announced round.
        match_id: MatchId,
        /// The attempt that gave the result.
        attempt: Attempt,
        /// Win, draw or technical loss.
        status: GameStatus,
        /// As it is told to everyone, with the draw's reveal.
        result: Arc<MatchResult>,
        /// The referee of the attempt, or the manager.
        by: DecidedBy,
        /// Whether it is more than the referee's word.
        #[serde(default, skip_serializing_if = "ResultProof::is_unprovable")]
        proof: ResultProof,
    },
    /// Every match of the round has its result.
    RoundCompleted {
        /// The round that was under way.
        round_id: RoundId,
    },
    /// No more matches are played, unless a result is voided.
    LeagueCompleted {
        /// First in the standings.
        champion: PlayerId,
        /// Whether the operator ended the league early.
        by_order: bool,
    },
    /// By order of the operator, as are the next events.
    LeaguePaused,
    /// A paused league goes on.
    LeagueResumed,
    /// Referees that do not prove are given every match from now on, and their results count.
    UnprovenAllowed,
    /// The player is out for good: it forfeits its matches from now on.
    PlayerWithdrawn {
        /// A registered player.
        player_id: PlayerId,
    },
    /// A player of a ladder has left it, and is not paired again before it registers again.
    PlayerLeft {
        /// A registered player.
        player_id: PlayerId,
    },
    /// The operator has issued a new token. The old one and its registration key are invalid.
    TokenRotated {
        /// A player or a referee.
        agent: Sender,
        /// The hash of the new one.
        token: TokenHash,
    },
    /// The operator has revoked an agent's token: it is excluded until it gets another.
    TokenRevoked {
        /// A player or a referee.
        agent: Sender,
    },
    /// The operator's own token was replaced.
    OperatorTokenRotated {
        /// The hash of the new one.
        token: TokenHash,
    },
    /// The manager's new checkpoint key, signed by its predecessor unless that was lost.
    ManagerKeyAnnounced {
        /// Verifies checkpoints from now on.
        public_key: PublicKey,
        /// By the previous key; absent for the first key, and if the previous one was lost.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<Signature>,
    },
    /// A signed checkpoint of the hash chain, as of some events earlier.
    CheckpointSigned {
        /// The text that [`crate::signed_note`] reads.
        note: Arc<str>,
    },
    /// The operator has issued a join code: a new code for a roster slot, or a new slot.
    JoinCodeIssued {
        /// Replaces the slot's earlier code, if there is one.
        #[serde(flatten)]
        invitation: Invitation,
    },
    /// A result is voided, and its match will be replayed.
    MatchVoided {
        /// The match whose result no longer counts.
        match_id: MatchId,
    },
    /// An agent does not answer.
    AgentSuspended {
        /// A player or a referee.
        agent: Sender,
        /// The reason for the suspicion.
        cause: Suspicion,
    },
    /// It answers again.
    AgentRecovered {
        /// A suspended player or referee.
        agent: Sender,
    },
    /// The agent uses another dialect than assumed.
    DialectLearned {
        /// A player or a referee.
        agent: Sender,
        /// The dialect that the agent understood.
        dialect: Dialect,
    },
    /// Deviations from the protocol that lenient decoding accepted, each as kind and path.
    DeviationsNoted {
        /// Whose messages deviate.
        agent: Sender,
        /// The deviations of one message.
        deviations: Vec<String>,
    },
}

/// The input of a draw besides settings and results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrawnFrom {
    /// From the manager's entropy at the start. Public once it is in the log.
    pub seed: u64,
    /// The participants in the order of registration.
    pub entrants: Vec<PlayerId>,
}

/// What a registration is recognised by when it is received again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegistrationRecord {
    /// As a hash, so that the log lets nobody in.
    pub proof: Proof,
    /// By the agent's clock, but not later than ours. An older registration is an outdated copy.
    #[serde(with = "exact")]
    pub sent_at: Timestamp,
    /// The client's IP address; absent if it came from within this process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<IpAddr>,
    /// How the agent was recognised, if it was registered before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renewed_by: Option<RenewedBy>,
}

/// How an agent that registers again was recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RenewedBy {
    /// Its earlier token, which it keeps.
    Token,
    /// Its registration key.
    Key,
    /// A join code that the operator issued for it.
    JoinCode,
    /// Only the IP address of its earlier registration.
    Address,
}

impl RenewedBy {
    /// For people, after "known by".
    pub fn name(self) -> &'static str {
        match self {
            Self::Token => "its token",
            Self::Key => "its registration key",
            Self::JoinCode => "its join code",
            Self::Address => "its address alone",
        }
    }
}

/// A registration of an agent that was registered before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Renewal<'a> {
    /// Of a player or a referee.
    pub id: &'a str,
    /// How the manager recognised it.
    pub by: RenewedBy,
    /// The address that the registration came from; absent if that was this process.
    pub client: Option<IpAddr>,
}

impl LeagueEvent {
    /// Whether this is a registration of an agent that was registered before.
    pub fn renewal(&self) -> Option<Renewal<'_>> {
        let (id, request) = match self {
            Self::PlayerRegistered {
                player_id, request, ..
            }
            | Self::PlayerRejoined {
                player_id, request, ..
            } => (player_id.as_str(), request),
            Self::RefereeRegistered {
                referee_id,
                request,
                ..
            }
            | Self::RefereeRejoined {
                referee_id,
                request,
                ..
            } => (referee_id.as_str(), request),
            _ => return None,
        };
        Some(Renewal {
            id,
            by: request.renewed_by?,
            client: request.client,
        })
    }
}

/// What only the agent that registered can show again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// Its registration key.
    Key(TokenHash),
    /// Its conversation id: a weak secret, valid for a short time only.
    Conversation(TokenHash),
}
