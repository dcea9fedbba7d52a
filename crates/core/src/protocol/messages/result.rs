//! MATCH_RESULT_REPORT, its acknowledgement, and the standings.

use super::blame::Blame;
#[cfg(feature = "schema")]
use super::conditions;
use super::game::{GameDetails, GameStatus};
pub use super::record::Record;
use super::shared::Shared;
use crate::protocol::by_player::ByPlayer;
use crate::protocol::draw::Reveal;
use crate::protocol::ids::{GameType, LeagueId, MatchId, PlayerId, RoundId};
#[cfg(feature = "schema")]
use crate::protocol::schema_words::Word;
use crate::protocol::text::DisplayName;
use crate::protocol::untrusted::UntrustedText;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use smol_str::SmolStr;
use std::sync::Arc;

/// MATCH_RESULT_REPORT: the referee tells the manager how a match ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = conditions::details_in_report))]
pub struct MatchResultReport {
    /// Must be the league of the manager, else E007.
    pub league_id: LeagueId,
    /// The round that the match belongs to.
    pub round_id: RoundId,
    /// The match that was played, as it was assigned.
    pub match_id: MatchId,
    /// The game that was played: it decides which fields the details must have.
    pub game_type: GameType,
    /// Who won, the points, and the evidence.
    // Shared, because the manager keeps what it is told.
    pub result: Arc<MatchResult>,
}

/// How a match ended, and what the players get for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MatchResult {
    /// Null for a draw, and when both players forfeited.
    pub winner: Option<PlayerId>,
    /// Points of both players: 3-0, 0-3, 1-1 or 0-0.
    pub score: ByPlayer<u32>,
    /// The game's own fields, and the evidence for the result.
    pub details: ResultDetails,
    /// Derived from the score and the choices where it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<GameStatus>,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub reason: Option<UntrustedText>,
}

/// The game's own details, and what only a referee of Matchday adds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResultDetails {
    /// The fields of the game itself, beside the others.
    #[serde(flatten)]
    pub game: GameDetails,
    /// Every move of the match in order, turn by turn: two in a turn of both players at once, otherwise one. With these the
    /// match can be played over. Not of even/odd, whose details hold its choices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_log: Option<Vec<ByPlayer<Value>>>,
    /// All that is needed to recompute the draw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fairness: Option<Reveal>,
    /// How long each player took for its moves on average, in milliseconds; null if it made none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_ms: Option<ByPlayer<Option<u32>>>,
    /// How each player's answers departed from the rules, where the lenient reading let it pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<ByPlayer<Vec<Word>>>"))]
    // In boxes, like the blame: few results have them, and the manager keeps every result.
    pub deviations: Option<Box<ByPlayer<Vec<SmolStr>>>>,
    /// Of a technical loss: why each player that lost has lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blame: Option<Box<ByPlayer<Blame>>>,
}

impl ResultDetails {
    /// The game's own details and no more.
    pub fn of(game: GameDetails) -> Self {
        Self {
            game,
            turn_log: None,
            fairness: None,
            answer_ms: None,
            deviations: None,
            blame: None,
        }
    }
}

/// MATCH_RESULT_ACK: the result is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MatchResultAck {
    /// The match whose report this answers.
    pub match_id: MatchId,
    /// Always `recorded`: a refused report is answered with LEAGUE_ERROR.
    pub status: AckStatus,
    /// True when the very same report had been recorded before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicate: Option<bool>,
}

/// What became of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AckStatus {
    /// The result is durable and counts.
    Recorded,
}

/// LEAGUE_STANDINGS_UPDATE: the table as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeagueStandingsUpdate {
    /// The league whose table this is.
    pub league_id: LeagueId,
    /// The round that is being played.
    pub round_id: RoundId,
    /// All players, first place first.
    // Shared, because the same table goes to every player.
    pub standings: Shared<StandingRow>,
}

/// A player's place in the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StandingRow {
    /// 1, 2, 3 and so on; of level players the one with the lower id comes first.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub rank: u32,
    /// The player of this row.
    pub player_id: PlayerId,
    /// What the player calls itself.
    pub display_name: DisplayName,
    /// Matches that are decided, forfeited ones and byes in a Swiss league included.
    pub played: u32,
    /// Matches won, those that the opponent forfeited and byes in a Swiss league included.
    pub wins: u32,
    /// Matches played out without a winner.
    pub draws: u32,
    /// Matches lost, forfeited ones included.
    pub losses: u32,
    /// 3 for a win, 1 for a draw.
    pub points: u32,
    /// Of a player that is level with another: the rank that they share, which is what people are shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_rank: Option<u32>,
    /// Losses that were never played out; they count among `losses`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub technical_losses: Option<u32>,
    /// Of a ladder: the pairing rating (Glicko-2), 1500 before the first match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rating: Option<u32>,
    /// Of a ladder: the deviation of the pairing rating, which tells how much it may still move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rating_deviation: Option<u32>,
    /// Why this row stands where it does: "ahead of P03 on head-to-head", "level with P03".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub rank_reason: Option<UntrustedText>,
}

impl StandingRow {
    /// The rank as people are shown it: level players share one.
    pub fn shown_rank(&self) -> u32 {
        self.shared_rank.unwrap_or(self.rank)
    }

    /// With the fields of the sources alone.
    #[must_use]
    pub fn without_additions(&self) -> Self {
        Self {
            shared_rank: None,
            technical_losses: None,
            rating: None,
            rating_deviation: None,
            rank_reason: None,
            ..self.clone()
        }
    }
}
