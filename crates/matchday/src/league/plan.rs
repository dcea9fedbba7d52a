//! What a service knows of a league beyond its log: the settings it begins with, and what the service adds to it. Values only.

use crate::deciders::game_program::{GameProgram, ResourceLimits};
use crate::seat::Authorization;
use anyhow::{Result, anyhow};
use matchday_core::game::strategy::{self, StrategyEntry};
use matchday_core::league::LeagueSettings;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// How many bytes of exchanges a league keeps, if nobody says.
const EXCHANGES_BYTES_MAX: u64 = 1 << 30;

/// A league to be created, as its creator describes it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LeagueSpec {
    pub(crate) league_id: String,
    /// Settings by their keys, as in the section `[league]` of a configuration file.
    #[serde(default)]
    pub(crate) settings: BTreeMap<String, String>,
    /// Who may register: CSV with name, role, mail.
    #[serde(default)]
    pub(crate) roster: Option<String>,
}

/// A league as the service keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct LeaguePlan {
    pub(crate) league: LeagueSettings,
    /// The settings that were given, but for secrets.
    #[serde(default)]
    pub(crate) given: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) start_when: Option<StartCounts>,
    /// What the built-in referees register with, one for each: a join code, or in an imported league a token.
    #[serde(default)]
    pub(crate) built_in_codes: Vec<Option<String>>,
    #[serde(default)]
    pub(crate) seats: Option<SeatsPlan>,
    pub(crate) dashboard: bool,
    pub(crate) exchanges: bool,
    pub(crate) exchanges_bytes_max: u64,
    #[serde(default)]
    pub(crate) program: Option<ProgramPlan>,
}

impl LeaguePlan {
    /// A league of these settings alone: with its messages recorded, and nothing beside its manager.
    pub(crate) fn of(league: LeagueSettings) -> Self {
        Self {
            league,
            given: BTreeMap::new(),
            start_when: None,
            built_in_codes: Vec::new(),
            seats: None,
            dashboard: false,
            exchanges: true,
            exchanges_bytes_max: EXCHANGES_BYTES_MAX,
            program: None,
        }
    }

    /// Runs the program that knows the rules, if there is one, for what it says of its game.
    pub(crate) async fn describe_program(&mut self) -> Result<()> {
        let Some(program) = &self.program else { return Ok(()) };
        let game = program.program()?.describe().await.map_err(anyhow::Error::msg)?;
        self.league.game_type = game.game_type.clone();
        self.league.external_game = Some(game);
        Ok(())
    }
}

/// How many must have registered for the league to start by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StartCounts {
    pub(crate) players: usize,
    pub(crate) referees: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SeatsPlan {
    pub(crate) seats_max: usize,
    pub(crate) seats_per_address: Option<usize>,
    /// The name of a strategy.
    pub(crate) fallback: Option<String>,
    pub(crate) authorization: Authorization,
}

impl SeatsPlan {
    pub(crate) fn fallback(&self) -> Result<Option<&'static StrategyEntry>> {
        self.fallback.as_deref().map(strategy::named).transpose().map_err(|error| anyhow!("{error}"))
    }
}

/// A program that knows the rules of the game.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProgramPlan {
    pub(crate) command: String,
    pub(crate) time: Duration,
    pub(crate) memory_bytes: u64,
}

impl ProgramPlan {
    pub(crate) fn program(&self) -> Result<GameProgram> {
        let limits = ResourceLimits { time: self.time, memory_bytes: self.memory_bytes };
        GameProgram::named(&self.command, limits).map_err(|error| anyhow!("{error}"))
    }
}

/// A plan, with the secrets that its creator is shown once.
#[derive(Debug)]
pub(crate) struct NewLeague {
    pub(crate) plan: LeaguePlan,
    /// The operator token, if the creator did not give one.
    pub(crate) operator_token: Option<String>,
    pub(crate) join_codes: Vec<JoinCodeRow>,
    /// The code that referees of others share.
    pub(crate) referee_code: Option<String>,
    /// The code that clients of seats show, if one was made.
    pub(crate) seat_code: Option<String>,
}

/// A join code for one place on the roster.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct JoinCodeRow {
    pub(crate) name: String,
    pub(crate) role: String,
    pub(crate) mail: String,
    pub(crate) join_code: String,
    #[serde(default)]
    pub(crate) url: String,
}
