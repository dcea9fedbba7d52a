//! Questions to the manager and their answers.

use super::by_player::ByPlayer;
use super::game::GameStatus;
use super::result::{Record, StandingRow};
use super::shared::Shared;
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{GameType, LeagueId, MatchId, PlayerId, RefereeId, RoundId};
use crate::protocol::schema::conditions;
use crate::protocol::text::{DisplayName, Endpoint};
use crate::protocol::untrusted::UntrustedText;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// LEAGUE_QUERY: an agent asks the manager.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeagueQuery {
    pub league_id: LeagueId,
    pub query_type: QueryType,
    /// May be left out.
    #[schemars(with = "Option<QueryParams>")]
    pub query_params: QueryParams,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum QueryType {
    GetStandings,
    GetSchedule,
    GetNextMatch,
    GetPlayerStats,
    GetPlayers,
    GetReferees,
    GetGames,
}

impl QueryType {
    pub const ALL: [Self; 7] = [
        Self::GetStandings,
        Self::GetSchedule,
        Self::GetNextMatch,
        Self::GetPlayerStats,
        Self::GetPlayers,
        Self::GetReferees,
        Self::GetGames,
    ];

    /// As it is written on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::GetStandings => "GET_STANDINGS",
            Self::GetSchedule => "GET_SCHEDULE",
            Self::GetNextMatch => "GET_NEXT_MATCH",
            Self::GetPlayerStats => "GET_PLAYER_STATS",
            Self::GetPlayers => "GET_PLAYERS",
            Self::GetReferees => "GET_REFEREES",
            Self::GetGames => "GET_GAMES",
        }
    }
}

/// What a question is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QueryParams {
    /// GET_NEXT_MATCH and GET_PLAYER_STATS: whom they are about. Left out, it is the player that asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player_id: Option<PlayerId>,
    /// GET_SCHEDULE: this round only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_id: Option<RoundId>,
    /// GET_GAMES: this game only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game_type: Option<GameType>,
    /// GET_STANDINGS: true to be told our additions to each row also where they make the answer larger than 10 KB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<bool>,
}

/// LEAGUE_QUERY_RESPONSE: what the manager knows, or why it cannot say.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(transform = conditions::data_or_error)]
pub struct LeagueQueryResponse {
    pub query_type: QueryType,
    pub success: bool,
    /// By the kind of question. It is kept as it came, since other managers answer with less or more than ours; ours
    /// answers with the types below.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(
        description = "Required on success. What is in it depends on `query_type`: see the schemas of the data of each query."
    )]
    pub data: Option<Map<String, Value>>,
    /// For GET_STANDINGS the table once more, where another source looks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standings: Option<Shared<StandingRow>>,
    /// Required if there is no success.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<QueryError>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QueryError {
    pub error_code: ErrorCode,
    pub error_name: UntrustedText,
    /// Prose, here alone: LEAGUE_ERROR's field of this name holds the name.
    pub error_description: UntrustedText,
}

/// `data` of GET_STANDINGS.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StandingsData {
    #[schemars(with = "Vec<StandingData>")]
    pub standings: Shared<StandingRow>,
}

/// A row of `data` of GET_STANDINGS. Where the whole answer would be larger than 10 KB it has the first three fields alone,
/// and the others stand in the table beside `data`; all are there for who asks with `query_params.detail`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StandingData {
    #[schemars(range(min = 1))]
    pub rank: u32,
    pub player_id: PlayerId,
    pub points: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<DisplayName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub played: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wins: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draws: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub losses: Option<u32>,
    /// Losses that were never played out; they count among `losses`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub technical_losses: Option<u32>,
    /// Why this row stands where it does: "ahead of P03 on head-to-head".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank_reason: Option<String>,
}

impl StandingData {
    /// What the source that names `data` asks of a row.
    pub fn short(row: &StandingRow) -> Self {
        Self {
            rank: row.rank,
            player_id: row.player_id.clone(),
            points: row.points,
            display_name: None,
            played: None,
            wins: None,
            draws: None,
            losses: None,
            technical_losses: None,
            rank_reason: None,
        }
    }
}

/// `data` of GET_SCHEDULE.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScheduleData {
    pub rounds: Vec<ScheduledRound>,
    /// How many rounds are still to be drawn at least, where they follow from results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds_to_come: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScheduledRound {
    pub round_id: RoundId,
    /// What people call it, where it has a name of its own: `Semifinals`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<UntrustedText>,
    pub matches: Vec<ScheduledMatch>,
    /// Who sits this round out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bye: Option<PlayerId>,
    /// Where more than one does, all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub byes: Vec<PlayerId>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScheduledMatch {
    pub match_id: MatchId,
    pub game_type: GameType,
    #[serde(rename = "player_A_id")]
    pub player_a_id: PlayerId,
    #[serde(rename = "player_B_id")]
    pub player_b_id: PlayerId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub referee_id: Option<RefereeId>,
    pub state: MatchProgress,
    /// Only once the match is decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<ScheduledResult>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MatchProgress {
    Scheduled,
    Playing,
    Decided,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScheduledResult {
    pub status: GameStatus,
    pub winner: Option<PlayerId>,
    pub score: ByPlayer<u32>,
    pub reason: UntrustedText,
}

/// `data` of GET_NEXT_MATCH.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NextMatchData {
    /// Null when the player has no match to come.
    pub next_match: Option<NextMatch>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NextMatch {
    pub match_id: MatchId,
    pub round_id: RoundId,
    pub opponent_id: PlayerId,
    /// Of the referee that is planned for the match, which may change; null if no referee is left.
    pub referee_endpoint: Option<Endpoint>,
}

/// `data` of GET_PLAYER_STATS.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlayerStatsData {
    pub player_id: PlayerId,
    pub display_name: DisplayName,
    /// Managers of earlier versions do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<Lifecycle>,
    /// True of one that was suspended when the league ended: it never came back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left: bool,
    pub stats: PlayerStats,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlayerStats {
    #[schemars(range(min = 1))]
    pub rank: u32,
    pub played: u32,
    pub wins: u32,
    pub draws: u32,
    pub losses: u32,
    pub technical_losses: u32,
    /// Why it lost those, each cause with how often.
    #[serde(default)]
    pub technical_causes: BTreeMap<String, u32>,
    pub points: u32,
    /// Shares of the matches played, 0 to 1; null before the first.
    pub win_rate: Option<f64>,
    pub draw_rate: Option<f64>,
    pub loss_rate: Option<f64>,
    /// Over all matches in which the player made a move.
    pub mean_answer_ms: Option<u32>,
    /// How often each choice was made, in games of choice.
    pub choices: BTreeMap<String, u32>,
    /// The record against each opponent.
    pub against: BTreeMap<PlayerId, Record>,
    /// How often the player's messages departed from the rules, by kind.
    pub deviations: BTreeMap<String, u32>,
}

/// `data` of GET_PLAYERS.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlayersData {
    pub players: Vec<PlayerListing>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlayerListing {
    pub player_id: PlayerId,
    pub display_name: DisplayName,
    pub version: String,
    pub state: Lifecycle,
    /// True of one that was suspended when the league ended: it never came back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left: bool,
    /// Shown to referees only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact_endpoint: Option<Endpoint>,
}

/// `data` of GET_REFEREES.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RefereesData {
    pub referees: Vec<RefereeListing>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RefereeListing {
    pub referee_id: RefereeId,
    pub display_name: DisplayName,
    pub version: String,
    pub state: Lifecycle,
    /// True of one that was suspended when the league ended: it never came back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left: bool,
    /// Matches whose result stands by its report.
    pub matches_decided: u32,
    /// How often the referee's messages departed from the rules, by kind.
    pub deviations: BTreeMap<String, u32>,
    /// Attempts at matches that it was given.
    #[serde(default)]
    #[schemars(with = "Option<u32>")]
    pub attempts: u32,
    /// Those of them that came to nothing after it had begun: handed back, overdue, or reported so that it could not be.
    #[serde(default)]
    #[schemars(with = "Option<u32>")]
    pub attempts_lost: u32,
    /// How players fared in the matches that it lost an attempt of, and decided in the end.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub redrawn: BTreeMap<PlayerId, Record>,
}

/// `data` of GET_GAMES.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GamesData {
    pub games: Vec<GameListing>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GameListing {
    pub game_type: GameType,
    /// What it is, in one line.
    pub about: String,
    /// How it is played, asked and judged, in Markdown.
    pub rules: String,
    /// The most turns that a match can have; a turn of both at once counts as one.
    pub turns_max: u32,
    /// The strategies that a player of Matchday has for it.
    pub strategies: Vec<String>,
    /// Whether this league plays it.
    pub played_here: bool,
}

/// Where an agent is in its life with the league.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Lifecycle {
    /// Running, not yet registered.
    Init,
    Registered,
    Active,
    /// Not answering: its matches are forfeited without waiting, until it answers again.
    Suspended,
    Shutdown,
}
