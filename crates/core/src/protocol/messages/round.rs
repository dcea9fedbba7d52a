//! How the manager opens and closes rounds, and ends the league.

use super::blame::Cause;
use super::by_player::ByPlayer;
use super::result::Record;
use super::shared::Shared;
use super::timeouts::Timeouts;
use crate::protocol::dialect::Dialect;
use crate::protocol::ids::{ConversationId, GameType, LeagueId, MatchId, PlayerId, RefereeId, RoundId};
use crate::protocol::schema::conditions;
use crate::protocol::text::{DisplayName, Endpoint};
use crate::protocol::time::Timestamp;
use crate::protocol::token::Token;
use crate::signature::PublicKey;
use schemars::JsonSchema;
use serde::Serialize;

/// ROUND_ANNOUNCEMENT: who meets whom, under which referee.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RoundAnnouncement {
    pub league_id: LeagueId,
    pub round_id: RoundId,
    /// At least one.
    // Shared, because the same list goes to every player.
    #[schemars(length(min = 1))]
    pub matches: Shared<AnnouncedMatch>,
    /// When the first invitations may go out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starts_at: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(transform = conditions::both_endpoints)]
pub struct AnnouncedMatch {
    pub match_id: MatchId,
    pub game_type: GameType,
    #[serde(rename = "player_A_id")]
    pub player_a_id: PlayerId,
    #[serde(rename = "player_B_id")]
    pub player_b_id: PlayerId,
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
        Self { conversation_id: None, match_tokens, replay: None, ..self.clone() }
    }
}

/// What the assigned referee must know to invite the players; no other copy of the announcement carries it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Briefing {
    /// To the assigned referee alone, as are the fields that follow.
    #[serde(rename = "player_A_endpoint")]
    #[schemars(with = "Option<Endpoint>")]
    pub player_a_endpoint: Endpoint,
    /// As for player A.
    #[serde(rename = "player_B_endpoint")]
    #[schemars(with = "Option<Endpoint>")]
    pub player_b_endpoint: Endpoint,
    #[serde(rename = "player_A_record")]
    #[schemars(with = "Option<Record>")]
    pub player_a_record: Record,
    #[serde(rename = "player_B_record")]
    #[schemars(with = "Option<Record>")]
    pub player_b_record: Record,
    #[serde(rename = "player_A_dialect", skip_serializing_if = "Option::is_none")]
    pub player_a_dialect: Option<Dialect>,
    #[serde(rename = "player_B_dialect", skip_serializing_if = "Option::is_none")]
    pub player_b_dialect: Option<Dialect>,
    #[serde(rename = "player_A_tokens", skip_serializing_if = "Option::is_none")]
    pub player_a_tokens: Option<MatchTokens>,
    #[serde(rename = "player_B_tokens", skip_serializing_if = "Option::is_none")]
    pub player_b_tokens: Option<MatchTokens>,
    /// The windows and the retry policy that the match is played by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeouts: Option<Timeouts>,
    /// Who loses this match without play, and why: the referee decides it at once and tells both players.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forfeits: Option<ByPlayer<Cause>>,
    /// The key by which the moves of a player that signs are checked.
    #[serde(rename = "player_A_public_key", skip_serializing_if = "Option::is_none")]
    pub player_a_public_key: Option<PublicKey>,
    #[serde(rename = "player_B_public_key", skip_serializing_if = "Option::is_none")]
    pub player_b_public_key: Option<PublicKey>,
}

/// The two tokens of one player in one attempt at a match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize, JsonSchema)]
pub struct MatchTokens {
    /// The referee shows it to the player.
    pub to_player: Token,
    /// The player shows it to the referee.
    pub from_player: Token,
}

/// ROUND_COMPLETED: every match of the round has a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RoundCompleted {
    pub league_id: LeagueId,
    pub round_id: RoundId,
    pub matches_completed: u32,
    /// The same number under the name that another source gives it; we always send it.
    #[schemars(with = "Option<u32>")]
    pub matches_played: u32,
    /// Null after the last round.
    pub next_round_id: Option<RoundId>,
    pub summary: RoundSummary,
}

/// How a round's matches ended; the three kinds add up to `total_matches`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RoundSummary {
    pub total_matches: u32,
    pub wins: u32,
    pub draws: u32,
    pub technical_losses: u32,
}

/// LEAGUE_COMPLETED: the last word of a league. The champion is the first of the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeagueCompleted {
    pub league_id: LeagueId,
    pub total_rounds: u32,
    pub total_matches: u32,
    pub champion: Champion,
    pub final_standings: Shared<FinalStanding>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Champion {
    pub player_id: PlayerId,
    pub display_name: DisplayName,
    pub points: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FinalStanding {
    #[schemars(range(min = 1))]
    pub rank: u32,
    pub player_id: PlayerId,
    /// We always send it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<DisplayName>,
    pub points: u32,
}
