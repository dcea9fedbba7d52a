//! Everything that has ever happened to a league. The state is a fold over these, and nothing else is remembered.
//!
//! Stored events must stay readable for ever: a variant or a field is never renamed or removed, and a new field has a
//! default. What cannot be done that way needs a new version in [`crate::log`].

use super::format::{Drawn, Lot};
use super::roster::Invitation;
use super::schedule::Pairings;
use super::settings::Settings;
use crate::protocol::dialect::Dialect;
use crate::protocol::ids::{Attempt, MatchId, PlayerId, RefereeId, RoundId};
use crate::protocol::messages::{Cause, Culprit, GameStatus, MatchResult, PlayerMeta, RefereeMeta};
use crate::protocol::time::exact;
use crate::protocol::token::TokenHash;
use crate::protocol::{Sender, Timestamp, UntrustedText};
use crate::signature::{PublicKey, Signature};
use core::net::IpAddr;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[allow(clippy::large_enum_variant, reason = "events are written once and read once")]
pub enum LeagueEvent {
    LeagueCreated {
        settings: Settings,
    },
    /// A new player; or one that came again before the start, or did not get its answer, under its old id with a fresh
    /// token.
    PlayerRegistered {
        player_id: PlayerId,
        meta: PlayerMeta,
        token: TokenHash,
        dialect: Dialect,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request: Option<Requested>,
    },
    RefereeRegistered {
        referee_id: RefereeId,
        meta: RefereeMeta,
        token: TokenHash,
        dialect: Dialect,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request: Option<Requested>,
    },
    /// It showed its earlier token or the key behind it, and keeps it.
    PlayerRejoined {
        player_id: PlayerId,
        meta: PlayerMeta,
        dialect: Dialect,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request: Option<Requested>,
    },
    RefereeRejoined {
        referee_id: RefereeId,
        meta: RefereeMeta,
        dialect: Dialect,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request: Option<Requested>,
    },
    /// An agent that has no key of its own has its token: it will not be given another one unasked.
    TokenShown {
        agent: Sender,
    },
    /// Registration is closed, and those rounds are drawn up that are the same whatever the results.
    LeagueStarted {
        rounds: Vec<Pairings>,
        /// What other rounds, or lots, are drawn from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        draw: Option<DrawnFrom>,
    },
    /// A round that follows from the results so far.
    RoundDrawn {
        round_id: RoundId,
        #[serde(flatten)]
        drawn: Arc<Drawn>,
    },
    /// A tie of a knockout that stayed level was decided by lot.
    LotDrawn {
        #[serde(flatten)]
        lot: Lot,
    },
    RoundAnnounced {
        round_id: RoundId,
        #[serde(with = "exact")]
        starts_at: Timestamp,
        /// Which referee is to have which match.
        plan: Vec<(MatchId, RefereeId)>,
    },
    /// A match is given to a referee; for the second time and later, because the one before did not report.
    MatchAssigned {
        match_id: MatchId,
        attempt: Attempt,
        referee_id: RefereeId,
        /// Who loses it without play, and why: then the referee only tells both players so.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        forfeits: Vec<(PlayerId, Cause)>,
    },
    /// An attempt at a match came to nothing, by no fault of its players: the match is given out again.
    AttemptLost {
        match_id: MatchId,
        attempt: Attempt,
        referee_id: RefereeId,
        culprit: Culprit,
        /// For people.
        reason: UntrustedText,
        /// How it came to nothing. Old logs do not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<LossCause>,
    },
    MatchDecided {
        match_id: MatchId,
        attempt: Attempt,
        status: GameStatus,
        result: Arc<MatchResult>,
        by: DecidedBy,
    },
    RoundCompleted {
        round_id: RoundId,
    },
    LeagueCompleted {
        champion: PlayerId,
        /// Whether the operator ended it before all was played.
        #[serde(default)]
        by_order: bool,
    },
    /// The operator has stepped in.
    LeaguePaused,
    LeagueResumed,
    PlayerWithdrawn {
        player_id: PlayerId,
    },
    /// The operator has made an agent a new token. The old one, and the key behind it, are worth nothing.
    TokenRotated {
        agent: Sender,
        token: TokenHash,
    },
    /// The operator has taken an agent's token away: it is out until it is given another.
    TokenRevoked {
        agent: Sender,
    },
    OperatorTokenRotated {
        token: TokenHash,
    },
    /// The key that the manager signs checkpoints with from now on. One that follows another is signed by it, unless that
    /// was lost.
    ManagerKeyAnnounced {
        public_key: PublicKey,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<Signature>,
    },
    /// The head of the hash chain as it stood some events before, signed.
    CheckpointSigned {
        note: Arc<str>,
    },
    /// The operator has made a join code: a new one for a place on the roster, or one for a new place.
    JoinCodeIssued {
        #[serde(flatten)]
        invitation: Invitation,
    },
    /// A result is struck, and its match will be played again.
    MatchVoided {
        match_id: MatchId,
    },
    /// An agent does not answer.
    AgentSuspended {
        agent: Sender,
        cause: Suspicion,
    },
    /// It answers again.
    AgentRecovered {
        agent: Sender,
    },
    /// It wraps its messages otherwise than we thought.
    DialectLearned {
        agent: Sender,
        dialect: Dialect,
    },
    /// It departs from the rules in ways that the lenient reading lets pass; each as kind and path.
    DeviationsNoted {
        agent: Sender,
        deviations: Vec<String>,
    },
}

/// What a draw depends on besides settings and results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrawnFrom {
    pub seed: u64,
    /// Who takes part, in the order of registration.
    pub entrants: Vec<PlayerId>,
}

/// A registration as it was asked for, so that it is known again when it arrives once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requested {
    pub proof: Proof,
    /// By the agent's clock, but never in the future of ours. What is older was on its way for too long.
    #[serde(with = "exact")]
    pub sent_at: Timestamp,
    /// The IP address that it came from. Those of old logs have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<IpAddr>,
    /// By what the agent was known again, if this was not its first registration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renewed_by: Option<RenewedBy>,
}

/// By what an agent that registers once more was known again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RenewedBy {
    Token,
    Key,
    /// A join code that the operator has given out for it.
    JoinCode,
    /// The IP address that it registered from before, and nothing else.
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
    pub id: &'a str,
    pub by: RenewedBy,
    pub client: Option<IpAddr>,
}

impl LeagueEvent {
    /// Whether this is a registration of an agent that was registered before.
    pub fn renewal(&self) -> Option<Renewal<'_>> {
        let (id, request) = match self {
            Self::PlayerRegistered { player_id, request, .. }
            | Self::PlayerRejoined { player_id, request, .. } => (player_id.as_str(), request),
            Self::RefereeRegistered { referee_id, request, .. }
            | Self::RefereeRejoined { referee_id, request, .. } => (referee_id.as_str(), request),
            _ => return None,
        };
        let request = request.as_ref()?;
        Some(Renewal { id, by: request.renewed_by?, client: request.client })
    }
}

/// What only the agent that registered can show again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// Its registration key.
    Key(TokenHash),
    /// Its conversation: not much of a secret, so it is good for a short time only.
    Conversation(TokenHash),
}

/// Who decided a match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecidedBy {
    Referee(RefereeId),
    /// Forfeited without play, because a player was suspended or taken out, where no referee could be told to decide so.
    Manager,
}

impl DecidedBy {
    /// The referee's id, or the manager's role.
    pub fn id(&self) -> &str {
        match self {
            Self::Referee(id) => id.as_str(),
            Self::Manager => "league_manager",
        }
    }
}

impl Suspicion {
    /// As it is stored and logged.
    pub fn name(self) -> &'static str {
        match self {
            Self::NeverAnswered => "never_answered",
            Self::TechnicalLosses => "technical_losses",
            Self::Unreachable => "unreachable",
            Self::Overdue => "overdue",
            Self::HandBacks => "hand_backs",
        }
    }
}

/// Why an agent was suspended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Suspicion {
    /// Its endpoint had not answered once when the league began.
    NeverAnswered,
    /// A player lost too many matches in a row without playing.
    TechnicalLosses,
    /// A referee could not be told of a match.
    Unreachable,
    /// A referee did not report a match in time.
    Overdue,
    /// A referee had too many attempts that came to nothing after it had begun them. No sign of life lifts this one: the
    /// operator does, by giving the referee a new token.
    HandBacks,
}

/// How an attempt at a match came to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LossCause {
    /// Its referee gave it back.
    HandedBack,
    /// Its referee did not report in time.
    Overdue,
    /// What its referee reported cannot be.
    Refused,
    /// Its referee could not be told of it.
    Unreachable,
    /// The operator took it from its referee.
    Revoked,
    /// The operator took a player of it out of the league.
    PlayerOut,
}

impl LossCause {
    /// Whether the referee may have seen the players' choices before the attempt was lost, so that losing it is a chance
    /// to draw again. Of old logs only what was handed back is known.
    pub fn counts(cause: Option<Self>, culprit: Culprit) -> bool {
        match cause {
            Some(cause) => matches!(cause, Self::HandedBack | Self::Overdue | Self::Refused),
            None => culprit == Culprit::Infrastructure,
        }
    }
}
