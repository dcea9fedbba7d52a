//! What is sent to the API of a service and answered by it: one type each for the service, the commands and the OpenAPI document.
//! Values only.

pub use crate::dashboard::Joining;
pub use crate::league::JoinCodeRow;
pub use crate::service::season::SeasonState;
use matchday_core::league::Format;
use matchday_core::protocol::messages::Phase;
use matchday_core::protocol::{GameType, LeagueId, PlayerId, Timestamp};
use matchday_stats::season::{CareerRow, SeasonRow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Why a request was refused.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Refusal {
    pub error: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct LeagueList {
    /// In the order of their names.
    pub leagues: Vec<ListedLeague>,
    /// How many there are, on all pages.
    pub total: usize,
    /// The last one here, if others follow: they are asked for with it as `after`.
    pub next: Option<LeagueId>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ListedLeague {
    #[serde(flatten)]
    pub summary: LeagueSummary,
    /// Unless its log cannot be read just now.
    #[serde(flatten)]
    pub progress: Option<Progress>,
    /// The season that it is of.
    pub season: Option<LeagueId>,
    /// When it, or its next round, starts, if that is known.
    pub starts_at: Option<Timestamp>,
    /// How agents join, while they can.
    pub join: Option<Joining>,
}

/// A league in a list.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct LeagueSummary {
    #[serde(flatten)]
    pub address: LeagueAddress,
    pub game_type: GameType,
    pub state: LeagueState,
    pub created_at: Timestamp,
    /// How much of its messages and answers is kept.
    pub exchange_bytes: u64,
}

/// Where a league is reached.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct LeagueAddress {
    pub league_id: LeagueId,
    /// For agents.
    pub url: String,
    /// For a browser.
    pub page: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LeagueState {
    Awake,
    Asleep,
    /// It cannot be loaded, or has failed.
    Quarantined,
    /// Another service has it.
    Elsewhere,
}

/// A league, with how far it has come.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct LeagueDetails {
    #[serde(flatten)]
    pub summary: LeagueSummary,
    /// Unless its log cannot be read.
    #[serde(flatten)]
    pub progress: Option<Progress>,
    /// Why its log cannot be read.
    pub fault: Option<String>,
    /// Those that were given, but for secrets.
    pub settings: BTreeMap<String, String>,
}

/// How far a league is.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Progress {
    pub phase: Phase,
    #[schemars(with = "String")]
    pub format: Format,
    pub players: usize,
    pub referees: usize,
    pub round: u32,
    /// How many there will be, as far as that is known; a ladder has no last one.
    pub rounds: Option<u32>,
    pub matches: usize,
    pub matches_playing: usize,
    pub matches_decided: u32,
    pub champion: Option<PlayerId>,
    /// The first of the table, once a match is decided; several if they are level.
    pub leaders: Vec<Leader>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Leader {
    pub player_id: PlayerId,
    pub display_name: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateLeagues {
    #[schemars(length(min = 1))]
    pub leagues: Vec<LeagueSpec>,
}

/// A league to be created, as its creator describes it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeagueSpec {
    #[schemars(regex(pattern = "^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,63}$"))]
    pub league_id: String,
    /// Settings by their keys, as in the section `[league]` of a configuration file: docs/settings.md.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// Who may register: CSV with name, role, mail.
    pub roster: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct CreatedLeagues {
    pub leagues: Vec<CreatedLeague>,
}

/// A new league, with its secrets.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct CreatedLeague {
    #[serde(flatten)]
    pub address: LeagueAddress,
    #[serde(flatten)]
    pub secrets: Secrets,
}

/// The secrets of a new league or season, which are not shown again.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Secrets {
    /// Unless the creator gave one among the settings.
    pub operator_token: Option<String>,
    /// The code that third-party referees share.
    pub referee_code: Option<String>,
    /// The code that clients of seats show, if one was made.
    pub seat_code: Option<String>,
    pub join_codes: Vec<JoinCodeRow>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfigureLeague {
    /// Settings by their keys, as in the section `[league]` of a configuration file.
    pub settings: BTreeMap<String, String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ConfiguredLeague {
    pub league_id: LeagueId,
    /// The code that clients of seats show from now on, if one was made.
    pub seat_code: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct DeletedLeague {
    pub league_id: LeagueId,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ArchivedLeague {
    pub league_id: LeagueId,
    /// Of the machine that the service runs on.
    pub file: String,
    /// Which machine that is, if several services share the store: that of the one that had the league.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportLeague {
    /// A file of the machine that the service runs on.
    pub file: PathBuf,
    /// Of a file with several leagues: which one.
    pub league_id: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct SeasonList {
    pub seasons: Vec<SeasonSummary>,
}

/// A season in a list.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct SeasonSummary {
    #[serde(flatten)]
    pub address: SeasonAddress,
    pub game_type: GameType,
    pub state: SeasonState,
    /// None if leagues start on demand alone.
    pub schedule: Option<String>,
    pub time_zone: String,
    /// When the current league starts.
    pub starts_at: Option<Timestamp>,
    /// Why the last start was skipped.
    pub skipped: Option<String>,
    pub current_league: Option<LeagueId>,
    /// Whether the current league has started.
    pub is_playing: bool,
    pub leagues_played: usize,
    /// How many are in the table.
    pub players: usize,
    /// The first of the table, once a league is over.
    pub leader: Option<String>,
    /// How agents join: they play in every league from the next on.
    pub join: Option<Joining>,
}

/// Where a season is reached.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct SeasonAddress {
    pub name: LeagueId,
    /// For agents, whichever league is the current one.
    pub url: String,
    /// For a browser.
    pub page: String,
}

/// A season, with its leagues and its table.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct SeasonDetails {
    #[serde(flatten)]
    pub summary: SeasonSummary,
    pub leagues: Vec<LeagueOfSeason>,
    pub table: Vec<SeasonRow>,
}

/// What a player has done in a season.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct SeasonPlayer {
    #[serde(flatten)]
    pub row: SeasonRow,
    /// Its rank in the season.
    pub rank: usize,
    pub career: Vec<CareerRow>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct LeagueOfSeason {
    pub league_id: LeagueId,
    pub page: String,
    pub ended: bool,
}

/// A season to be created, as its creator describes it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateSeason {
    #[schemars(regex(pattern = "^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,63}$"))]
    pub name: String,
    /// Minute, hour, day, month and weekday as in a crontab, or local times such as 2026-03-02T20:00 with spaces between them; null
    /// to start leagues on demand alone.
    pub schedule: Option<String>,
    /// Such as Europe/Berlin; UTC unless it is given.
    pub time_zone: Option<String>,
    /// Settings of every league by their keys, as in the section `[league]` of a configuration file.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// Who may register: CSV with name, role, mail.
    pub roster: Option<String>,
}

/// What is to change of a season: what is left out stays. It holds for the leagues that follow; the schedule holds at once.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfigureSeason {
    /// As for a new season.
    pub schedule: Option<String>,
    pub time_zone: Option<String>,
    /// All settings of the leagues, but for secrets.
    pub settings: Option<BTreeMap<String, String>>,
    /// Which players may register: CSV with name, role, mail, join_code. Those who are on it no more are not taken over into the next
    /// league.
    pub roster: Option<String>,
}

/// A new season, with the secrets of its leagues.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct CreatedSeason {
    #[serde(flatten)]
    pub address: SeasonAddress,
    #[serde(flatten)]
    pub secrets: Secrets,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct StartedLeague {
    /// The season.
    pub name: LeagueId,
    pub league_id: LeagueId,
    /// When the schedule would have started it.
    pub scheduled_at: Option<Timestamp>,
}

/// The services that share a store; none if it is a file.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ClusterStatus {
    pub processes: Vec<ClusterProcess>,
    pub this_process: Option<ProcessFigures>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ClusterProcess {
    pub id: String,
    pub name: String,
    pub url: String,
    pub version: String,
    /// The form of the events that it writes.
    pub event_form: u32,
    pub started_at: Timestamp,
    pub lease_left_s: f64,
    pub leagues: u32,
    pub weight: u64,
    pub takeovers: u64,
    /// Whether it is the one that answers.
    pub answers: bool,
}

/// What the service that answers has counted since it started.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ProcessFigures {
    pub id: String,
    pub forwards: u64,
    pub forwards_failed: u64,
    pub held_requests: u64,
    pub takeovers: u64,
    pub lost_leagues: u64,
    /// How far its clock is ahead of the database's.
    pub clock_offset_us: i64,
    pub lease_left_s: f64,
}
