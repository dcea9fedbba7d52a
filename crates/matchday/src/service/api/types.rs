//! What is sent to the API of a service and answered by it: one type each for the service, the commands and the OpenAPI document.
//! Values only.

use crate::service::season::SeasonState;
use matchday_core::protocol::messages::Phase;
use matchday_core::protocol::{GameType, LeagueId, PlayerId, Timestamp};
use matchday_stats::season::SeasonRow;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Why a request was refused.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Refusal {
    pub(crate) error: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct LeagueList {
    pub(crate) leagues: Vec<LeagueSummary>,
}

/// A league in a list.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct LeagueSummary {
    #[serde(flatten)]
    pub(crate) address: LeagueAddress,
    pub(crate) game_type: GameType,
    pub(crate) state: LeagueState,
    pub(crate) created_at: Timestamp,
    /// How much of its messages and answers is kept.
    pub(crate) exchange_bytes: u64,
}

/// Where a league is reached.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct LeagueAddress {
    pub(crate) league_id: LeagueId,
    /// For agents.
    pub(crate) url: String,
    /// For a browser.
    pub(crate) page: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LeagueState {
    Awake,
    Asleep,
    /// It cannot be loaded, or has failed.
    Quarantined,
    /// Another service has it.
    Elsewhere,
}

/// A league, with how far it has come.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct LeagueDetails {
    #[serde(flatten)]
    pub(crate) summary: LeagueSummary,
    /// Unless its log cannot be read.
    #[serde(flatten)]
    pub(crate) progress: Option<Progress>,
    /// Why its log cannot be read.
    pub(crate) fault: Option<String>,
    /// Those that were given, but for secrets.
    pub(crate) settings: BTreeMap<String, String>,
}

/// How far a league is.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Progress {
    pub(crate) phase: Phase,
    pub(crate) players: usize,
    pub(crate) referees: usize,
    pub(crate) matches: usize,
    pub(crate) matches_decided: u32,
    pub(crate) champion: Option<PlayerId>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateLeagues {
    #[schemars(length(min = 1))]
    pub(crate) leagues: Vec<LeagueSpec>,
}

/// A league to be created, as its creator describes it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LeagueSpec {
    #[schemars(regex(pattern = "^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,63}$"))]
    pub(crate) league_id: String,
    /// Settings by their keys, as in the section `[league]` of a configuration file: docs/operating.md, "Every setting".
    #[serde(default)]
    pub(crate) settings: BTreeMap<String, String>,
    /// Who may register: CSV with name, role, mail.
    pub(crate) roster: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct CreatedLeagues {
    pub(crate) leagues: Vec<CreatedLeague>,
}

/// A new league, with its secrets.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct CreatedLeague {
    #[serde(flatten)]
    pub(crate) address: LeagueAddress,
    #[serde(flatten)]
    pub(crate) secrets: Secrets,
}

/// The secrets of a new league or season, which are not shown again.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Secrets {
    /// Unless the creator gave one among the settings.
    pub(crate) operator_token: Option<String>,
    /// The code that third-party referees share.
    pub(crate) referee_code: Option<String>,
    /// The code that clients of seats show, if one was made.
    pub(crate) seat_code: Option<String>,
    pub(crate) join_codes: Vec<JoinCodeRow>,
}

/// A join code for one place on the roster.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct JoinCodeRow {
    pub(crate) name: String,
    pub(crate) role: String,
    pub(crate) mail: String,
    pub(crate) join_code: String,
    #[serde(default)]
    pub(crate) url: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConfigureLeague {
    /// Settings by their keys, as in the section `[league]` of a configuration file.
    pub(crate) settings: BTreeMap<String, String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ConfiguredLeague {
    pub(crate) league_id: LeagueId,
    /// The code that clients of seats show from now on, if one was made.
    pub(crate) seat_code: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct DeletedLeague {
    pub(crate) league_id: LeagueId,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ArchivedLeague {
    pub(crate) league_id: LeagueId,
    /// Of the machine that the service runs on.
    pub(crate) file: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ImportLeague {
    /// A file of the machine that the service runs on.
    pub(crate) file: PathBuf,
    /// Of a file with several leagues: which one.
    pub(crate) league_id: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SeasonList {
    pub(crate) seasons: Vec<SeasonSummary>,
}

/// A season in a list.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SeasonSummary {
    #[serde(flatten)]
    pub(crate) address: SeasonAddress,
    pub(crate) game_type: GameType,
    pub(crate) state: SeasonState,
    /// None if leagues start on demand alone.
    pub(crate) schedule: Option<String>,
    pub(crate) time_zone: String,
    /// When the current league starts.
    pub(crate) starts_at: Option<Timestamp>,
    /// Why the last start was skipped.
    pub(crate) skipped: Option<String>,
    pub(crate) current_league: Option<LeagueId>,
    pub(crate) leagues_played: usize,
}

/// Where a season is reached.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SeasonAddress {
    pub(crate) name: LeagueId,
    /// For agents, whichever league is the current one.
    pub(crate) url: String,
    /// For a browser.
    pub(crate) page: String,
}

/// A season, with its leagues and its table.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SeasonDetails {
    #[serde(flatten)]
    pub(crate) summary: SeasonSummary,
    pub(crate) leagues: Vec<LeagueOfSeason>,
    pub(crate) table: Vec<SeasonRow>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct LeagueOfSeason {
    pub(crate) league_id: LeagueId,
    pub(crate) page: String,
    pub(crate) ended: bool,
}

/// A season to be created, as its creator describes it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateSeason {
    #[schemars(regex(pattern = "^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,63}$"))]
    pub(crate) name: String,
    /// Minute, hour, day, month and weekday as in a crontab; null to start leagues on demand alone.
    pub(crate) schedule: Option<String>,
    /// Such as Europe/Berlin; UTC unless it is given.
    pub(crate) time_zone: Option<String>,
    /// Settings of every league by their keys, as in the section `[league]` of a configuration file.
    #[serde(default)]
    pub(crate) settings: BTreeMap<String, String>,
    /// Who may register: CSV with name, role, mail.
    pub(crate) roster: Option<String>,
}

/// A new season, with the secrets of its leagues.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct CreatedSeason {
    #[serde(flatten)]
    pub(crate) address: SeasonAddress,
    #[serde(flatten)]
    pub(crate) secrets: Secrets,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct StartedLeague {
    /// The season.
    pub(crate) name: LeagueId,
    pub(crate) league_id: LeagueId,
}

/// The services that share a store; none if it is a file.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ClusterStatus {
    pub(crate) processes: Vec<ClusterProcess>,
    pub(crate) this_process: Option<ProcessFigures>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ClusterProcess {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) url: String,
    pub(crate) version: String,
    /// The form of the events that it writes.
    pub(crate) event_form: u32,
    pub(crate) started_at: Timestamp,
    pub(crate) lease_left_s: f64,
    pub(crate) leagues: u32,
    pub(crate) weight: u64,
    pub(crate) takeovers: u64,
    /// Whether it is the one that answers.
    pub(crate) answers: bool,
}

/// What the service that answers has counted since it started.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ProcessFigures {
    pub(crate) id: String,
    pub(crate) forwards: u64,
    pub(crate) forwards_failed: u64,
    pub(crate) held_requests: u64,
    pub(crate) takeovers: u64,
    pub(crate) lost_leagues: u64,
    /// How far its clock is ahead of the database's.
    pub(crate) clock_offset_us: i64,
    pub(crate) lease_left_s: f64,
}
