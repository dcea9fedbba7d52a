//! Blame: whose fault it is that a match was not played out, and the evidence.

#[cfg(feature = "schema")]
use crate::protocol::schema_words::Word;
use crate::protocol::time::Timestamp;
use crate::protocol::untrusted::UntrustedText;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

/// Why a player lost a match that was not played out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Blame {
    /// In a result always `player`: if another is at fault, the match is played again.
    pub culprit: Culprit,
    /// What the player did, or failed to do.
    pub cause: Cause,
    /// The message that was owed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Word>"))]
    pub owed: Option<SmolStr>,
    /// How often it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tries: Option<u32>,
    /// When it was first asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// When it was waited for no longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// The last that went wrong, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<UntrustedText>,
}

impl Blame {
    /// On the player itself, as a player's loss always is.
    pub fn on_player(cause: Cause) -> Self {
        let culprit = Culprit::Player;
        Self {
            culprit,
            cause,
            owed: None,
            tries: None,
            since: None,
            until: None,
            evidence: None,
        }
    }
}

/// Who is at fault, as the player sees it whose match it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Culprit {
    /// The player that lost the match.
    Player,
    /// The other player of the match.
    Opponent,
    /// The referee that had the match: it could not be reached, was overdue, or sent an invalid report.
    Referee,
    /// The machine or the network of the referee or of the manager.
    Infrastructure,
}

impl Culprit {
    /// As it is written on the wire and in logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Player => "player",
            Self::Opponent => "opponent",
            Self::Referee => "referee",
            Self::Infrastructure => "infrastructure",
        }
    }
}

/// What a player did, or had done, that it lost without playing the match out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Nothing came in time.
    Silent,
    /// No connection to it could be made, though to others it could.
    Unreachable,
    /// It did not want to play.
    Declined,
    /// What came was no answer.
    Invalid,
    /// It was suspended, and the match decided without play.
    Suspended,
    /// The operator had taken it out of the league.
    Withdrawn,
    /// The operator had revoked its token.
    Revoked,
    /// The referee, of another make than ours, does not say.
    Unstated,
}

impl Cause {
    /// As it is written on the wire and in logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Silent => "silent",
            Self::Unreachable => "unreachable",
            Self::Declined => "declined",
            Self::Invalid => "invalid",
            Self::Suspended => "suspended",
            Self::Withdrawn => "withdrawn",
            Self::Revoked => "revoked",
            Self::Unstated => "unstated",
        }
    }

    /// What the player did, as the middle of a sentence.
    pub fn words(self) -> &'static str {
        match self {
            Self::Silent => "failed to respond within timeout",
            Self::Unreachable => "could not be reached",
            Self::Declined => "declined the invitation",
            Self::Invalid => "gave no valid answer within timeout",
            Self::Suspended => "is suspended",
            Self::Withdrawn => "is withdrawn",
            Self::Revoked => "has had its token revoked",
            Self::Unstated => "did not play",
        }
    }
}
