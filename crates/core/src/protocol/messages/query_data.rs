//! What the `data` of a LEAGUE_QUERY_RESPONSE holds, by the kind of query.

use super::game::GameStatus;
use super::launch::is_zero;
use super::query::Lifecycle;
use super::result::{Record, StandingRow};
use super::shared::Shared;
use crate::protocol::by_player::ByPlayer;
use crate::protocol::ids::{GameType, MatchId, PlayerId, RefereeId, RoundId};
use crate::protocol::text::{DisplayName, Endpoint};
use crate::protocol::untrusted::UntrustedText;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `data` of GET_STANDINGS.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StandingsData {
    /// All players, first place first.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<StandingData>"))]
    pub standings: Shared<StandingRow>,
    /// Results that stand on a referee's word alone, although a player of the match had a key.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u32>"))]
    pub results_unproven: u32,
}

/// A row of `data` of GET_STANDINGS. Where the whole answer would be larger than 10 KB it has the first three fields alone,
/// and the others stand in the table beside `data`; all are there for who asks with `query_params.detail`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StandingData {
    /// 1, 2, 3 and so on; of level players the one with the lower id comes first.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub rank: u32,
    /// The player of this row.
    pub player_id: PlayerId,
    /// 3 for a win, 1 for a draw.
    pub points: u32,
    /// What the player calls itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<DisplayName>,
    /// Matches that are decided, forfeited ones and byes in a Swiss league included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub played: Option<u32>,
    /// Matches won, those that the opponent forfeited and byes in a Swiss league included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wins: Option<u32>,
    /// Matches played out without a winner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draws: Option<u32>,
    /// Matches lost, forfeited ones included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub losses: Option<u32>,
    /// Of a player that is level with another: the rank that they share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_rank: Option<u32>,
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
            shared_rank: None,
            technical_losses: None,
            rank_reason: None,
        }
    }
}

/// `data` of GET_SCHEDULE.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScheduleData {
    /// In the order of play; those that follow from results appear once they are drawn.
    pub rounds: Vec<ScheduledRound>,
    /// How many rounds are still to be drawn at least, where they follow from results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds_to_come: Option<u32>,
}

/// A round, with its matches and who sits it out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScheduledRound {
    /// Its place in the schedule, from 1.
    pub round_id: RoundId,
    /// What people call it, where it has a name of its own: `Semifinals`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<UntrustedText>,
    /// All matches of the round, decided or not.
    pub matches: Vec<ScheduledMatch>,
    /// Who sits this round out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bye: Option<PlayerId>,
    /// Where more than one does, all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub byes: Vec<PlayerId>,
}

/// A match in the schedule, with its result once it is decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScheduledMatch {
    /// Unique in the league.
    pub match_id: MatchId,
    /// The game that is played in it.
    pub game_type: GameType,
    /// The player in seat A, which begins in games of turns.
    #[serde(rename = "player_A_id")]
    pub player_a_id: PlayerId,
    /// The player in seat B.
    #[serde(rename = "player_B_id")]
    pub player_b_id: PlayerId,
    /// The referee that is planned for the match, which may change; absent before one is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub referee_id: Option<RefereeId>,
    /// Where that referee listens; absent as long as no referee is planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub referee_endpoint: Option<Endpoint>,
    /// How far the match has come.
    pub state: MatchProgress,
    /// Only once the match is decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<ScheduledResult>,
}

/// How far a match has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum MatchProgress {
    /// Not begun.
    Scheduled,
    /// A referee has it in hand.
    Playing,
    /// It has a result.
    Decided,
}

/// How a match in the schedule ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScheduledResult {
    /// Whether the match was won, drawn or forfeited.
    pub status: GameStatus,
    /// Null for a draw, and when both players forfeited.
    pub winner: Option<PlayerId>,
    /// Points of both players: 3-0, 0-3, 1-1 or 0-0.
    pub score: ByPlayer<u32>,
    /// For people; empty if the referee gave none.
    pub reason: UntrustedText,
}

/// `data` of GET_NEXT_MATCH.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NextMatchData {
    /// Null when the player has no match to come.
    pub next_match: Option<NextMatch>,
}

/// The first match of a player that is not decided; it may be in play.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NextMatch {
    /// The match as its invitation will name it.
    pub match_id: MatchId,
    /// The round that the match belongs to.
    pub round_id: RoundId,
    /// The other player of the match.
    pub opponent_id: PlayerId,
    /// Of the referee that is planned for the match, which may change; null if no referee is left.
    pub referee_endpoint: Option<Endpoint>,
}

/// `data` of GET_PLAYER_STATS.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlayerStatsData {
    /// Whom the statistics are about.
    pub player_id: PlayerId,
    /// What the player calls itself.
    pub display_name: DisplayName,
    /// Managers of other makes may not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<Lifecycle>,
    /// True of one that was suspended when the league ended: it never came back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left: bool,
    /// All of its matches so far, in numbers.
    pub stats: PlayerStats,
}

/// A player's record in numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlayerStats {
    /// The player's place in the table, from 1; level players share a rank.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub rank: u32,
    /// Matches that are decided, forfeited ones and byes in a Swiss league included.
    pub played: u32,
    /// Matches won, those that the opponent forfeited and byes in a Swiss league included.
    pub wins: u32,
    /// Matches played out without a winner.
    pub draws: u32,
    /// Matches lost, forfeited ones included.
    pub losses: u32,
    /// Losses that were never played out; they count among `losses`.
    pub technical_losses: u32,
    /// Why it lost those, each cause with how often.
    #[serde(default)]
    pub technical_causes: BTreeMap<String, u32>,
    /// 3 for a win, 1 for a draw.
    pub points: u32,
    /// Shares of the matches played, 0 to 1; null before the first.
    pub win_rate: Option<f64>,
    /// As `win_rate`, of draws.
    pub draw_rate: Option<f64>,
    /// As `win_rate`, of losses.
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlayersData {
    /// Every registered player, in the order of their ids.
    pub players: Vec<PlayerListing>,
}

/// A registered player.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlayerListing {
    /// As the manager assigned it.
    pub player_id: PlayerId,
    /// What the player calls itself.
    pub display_name: DisplayName,
    /// The version of the player's software, by its own word.
    pub version: String,
    /// Whether it can be expected to play.
    pub state: Lifecycle,
    /// True of one that was suspended when the league ended: it never came back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left: bool,
    /// Shown to referees only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact_endpoint: Option<Endpoint>,
}

/// `data` of GET_REFEREES.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RefereesData {
    /// Every registered referee, in the order of their ids.
    pub referees: Vec<RefereeListing>,
}

/// A registered referee, with what it has done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RefereeListing {
    /// As the manager assigned it.
    pub referee_id: RefereeId,
    /// What the referee calls itself.
    pub display_name: DisplayName,
    /// The version of the referee's software, by its own word.
    pub version: String,
    /// Whether it can be given matches.
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
    #[cfg_attr(feature = "schema", schemars(with = "Option<u32>"))]
    pub attempts: u32,
    /// Those of them that came to nothing after it had begun: handed back, overdue, or reported so that it could not be.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u32>"))]
    pub attempts_lost: u32,
    /// True of one that is given no match in which a player has a key, because it does not announce `draw-2`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_keyed_matches: bool,
}

/// `data` of GET_GAMES.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GamesData {
    /// Every game that the manager knows, or the one that was asked for.
    pub games: Vec<GameListing>,
}

/// A game, described for those who write a player.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GameListing {
    /// As messages name it.
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
