//! ROUND_ANNOUNCEMENT, ROUND_COMPLETED and LEAGUE_COMPLETED.

use super::blame::Cause;
#[cfg(feature = "schema")]
use super::conditions;
use super::result::Record;
use super::shared::Shared;
use super::timeouts::Timeouts;
use crate::protocol::by_player::ByPlayer;
use crate::protocol::conformance::Conformance;
use crate::protocol::dialect::Dialect;
use crate::protocol::ids::{
    ConversationId, GameType, LeagueId, MatchId, PlayerId, RefereeId, RoundId,
};
use crate::protocol::text::{DisplayName, Endpoint};
use crate::protocol::time::Timestamp;
use crate::protocol::token::MatchTokens;
use crate::protocol::untrusted::UntrustedText;
use crate::signature::PublicKey;
use serde::Serialize;
use std::sync::Arc;

/// ROUND_ANNOUNCEMENT: who meets whom, under which referee.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RoundAnnouncement {
    /// The league that plays the round.
    pub league_id: LeagueId,
    /// Its place in the schedule, from 1.
    pub round_id: RoundId,
    /// At least one.
    // Shared, because the same list goes to every player.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub matches: Shared<AnnouncedMatch>,
    /// When the first invitations may go out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starts_at: Option<Timestamp>,
    /// To a referee: why it is given fewer matches than others, or none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub remark: Option<UntrustedText>,
}

/// A match of a round, with its referee.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = conditions::both_endpoints))]
pub struct AnnouncedMatch {
    /// The match as its invitation will name it.
    pub match_id: MatchId,
    /// The game to play.
    pub game_type: GameType,
    /// The player in seat A, which begins in games of turns.
    #[serde(rename = "player_A_id")]
    pub player_a_id: PlayerId,
    /// The player in seat B.
    #[serde(rename = "player_B_id")]
    pub player_b_id: PlayerId,
    /// The referee that will invite the players; we always send it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub referee_id: Option<RefereeId>,
    /// Players need not call it.
    pub referee_endpoint: Endpoint,
    /// The conversation of this attempt at the match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<ConversationId>,
    /// Whether the referee will show each player the token made for this match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_tokens: Option<bool>,
    /// The key with which the referee signs its commitment and its result, if it has registered one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub referee_public_key: Option<PublicKey>,
    /// True when the match had a result that was struck: it is played again, though its round may be over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<bool>,
    /// What only the assigned referee is told.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub briefing: Option<Box<Briefing>>,
}

impl AnnouncedMatch {
    /// With the fields of the sources alone; but a player must know of a referee that has no token to show, since it
    /// would refuse to play otherwise.
    #[must_use]
    pub fn without_additions(&self) -> Self {
        let match_tokens = self.match_tokens.filter(|has_tokens| !has_tokens);
        Self {
            conversation_id: None,
            match_tokens,
            replay: None,
            ..self.without_key()
        }
    }

    /// Without the key of the referee.
    #[must_use]
    pub fn without_key(&self) -> Self {
        Self {
            referee_public_key: None,
            ..self.clone()
        }
    }
}

/// What the assigned referee must know to invite the players; no other copy of the announcement carries it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Briefing {
    /// To the assigned referee alone, as are the fields that follow.
    #[serde(rename = "player_A_endpoint")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Endpoint>"))]
    pub player_a_endpoint: Endpoint,
    /// As for player A.
    #[serde(rename = "player_B_endpoint")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Endpoint>"))]
    pub player_b_endpoint: Endpoint,
    /// Player A's record before this match, for the `context` of a call.
    #[serde(rename = "player_A_record")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Record>"))]
    pub player_a_record: Record,
    /// As for player A.
    #[serde(rename = "player_B_record")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Record>"))]
    pub player_b_record: Record,
    /// How player A wraps its messages, to try first when calling it.
    #[serde(rename = "player_A_dialect", skip_serializing_if = "Option::is_none")]
    pub player_a_dialect: Option<Dialect>,
    /// As for player A.
    #[serde(rename = "player_B_dialect", skip_serializing_if = "Option::is_none")]
    pub player_b_dialect: Option<Dialect>,
    /// Player A's tokens for this attempt; only for referees with the capability `match_tokens`.
    #[serde(rename = "player_A_tokens", skip_serializing_if = "Option::is_none")]
    pub player_a_tokens: Option<MatchTokens>,
    /// As for player A.
    #[serde(rename = "player_B_tokens", skip_serializing_if = "Option::is_none")]
    pub player_b_tokens: Option<MatchTokens>,
    /// The windows and the retry policy that the match is played by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeouts: Option<Timeouts>,
    /// Who loses this match without play, and why: the referee decides it at once and tells both players.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forfeits: Option<ByPlayer<Cause>>,
    /// The key by which the moves of a player that signs are checked.
    #[serde(
        rename = "player_A_public_key",
        skip_serializing_if = "Option::is_none"
    )]
    pub player_a_public_key: Option<PublicKey>,
    /// As for player A.
    #[serde(
        rename = "player_B_public_key",
        skip_serializing_if = "Option::is_none"
    )]
    pub player_b_public_key: Option<PublicKey>,
    /// How strictly the answers of the players are to be read: the league's own setting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conformance: Option<Conformance>,
}

/// ROUND_COMPLETED: every match of the round has a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RoundCompleted {
    /// The league that played the round.
    pub league_id: LeagueId,
    /// The round that is over.
    pub round_id: RoundId,
    /// All matches of the round.
    pub matches_completed: u32,
    /// The same number under the name that another source gives it; we always send it.
    #[cfg_attr(feature = "schema", schemars(with = "Option<u32>"))]
    pub matches_played: u32,
    /// Null after the last round.
    pub next_round_id: Option<RoundId>,
    /// How the matches ended, counted.
    pub summary: RoundSummary,
    /// The manager's latest checkpoint, a signed note: keep it, to hold the manager's log against.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub checkpoint: Option<Arc<str>>,
}

/// How a round's matches ended; the three kinds add up to `total_matches`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RoundSummary {
    /// All matches of the round.
    pub total_matches: u32,
    /// Played out, with a winner.
    pub wins: u32,
    /// Played out, without a winner.
    pub draws: u32,
    /// Forfeited by one player or both.
    pub technical_losses: u32,
}

/// LEAGUE_COMPLETED: the last word of a league. The champion is the first of the table; level players share the title.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeagueCompleted {
    /// The league that is over.
    pub league_id: LeagueId,
    /// Rounds that were drawn up, played or not.
    pub total_rounds: u32,
    /// Matches that have a result.
    pub total_matches: u32,
    /// The first of the final table; of those who share the title, the one with the lowest id.
    pub champion: Champion,
    /// All who share the title, in the order of the table: the champion alone, if nobody is level with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub champions: Vec<PlayerId>,
    /// All players, first place first.
    pub final_standings: Shared<FinalStanding>,
    /// The manager's latest checkpoint, as in ROUND_COMPLETED.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub checkpoint: Option<Arc<str>>,
}

/// The winner of the league.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Champion {
    /// As the manager assigned it.
    pub player_id: PlayerId,
    /// What the champion calls itself.
    pub display_name: DisplayName,
    /// 3 for a win, 1 for a draw, over the whole league.
    pub points: u32,
}

/// A player's place in the final table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FinalStanding {
    /// 1, 2, 3 and so on; of level players the one with the lower id comes first.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub rank: u32,
    /// The player of this row.
    pub player_id: PlayerId,
    /// We always send it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<DisplayName>,
    /// 3 for a win, 1 for a draw, over the whole league.
    pub points: u32,
}
