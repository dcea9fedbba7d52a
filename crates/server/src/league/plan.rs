//! What a service knows of a league beyond its log: the settings it begins with, and what the service adds to it. Values only.

use crate::seat::Authorization;
use anyhow::{Result, anyhow};
use matchday_core::game::observation::ObservationForm;
use matchday_core::game::strategy::{self, StrategyEntry};
use matchday_core::league::LeagueSettings;
use matchday_runtime::deciders::game_program::{GameProgram, ResourceLimits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// How many bytes of exchanges a league keeps, if nobody says.
const EXCHANGES_BYTES_MAX: u64 = 1 << 30;

/// A league as the service keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeaguePlan {
    pub league: LeagueSettings,
    /// The settings that were given, but for secrets.
    #[serde(default)]
    pub given: BTreeMap<String, String>,
    #[serde(default)]
    pub start_when: Option<StartCounts>,
    /// What the built-in referees register with, one for each: a join code, or in an imported league a token.
    #[serde(default)]
    pub built_in_codes: Vec<Option<String>>,
    #[serde(default)]
    pub seats: Option<SeatsPlan>,
    pub dashboard: bool,
    pub exchanges: bool,
    pub exchanges_bytes_max: u64,
    #[serde(default)]
    pub program: Option<ProgramPlan>,
}

impl LeaguePlan {
    /// A league of these settings alone: with its messages recorded, and nothing beside its manager.
    pub fn of(league: LeagueSettings) -> Self {
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
    pub async fn describe_program(&mut self) -> Result<()> {
        let Some(program) = &self.program else {
            return Ok(());
        };
        let game = program
            .program()?
            .describe()
            .await
            .map_err(anyhow::Error::msg)?;
        self.league.game_type = game.game_type.clone();
        self.league.external_game = Some(game);
        Ok(())
    }
}

/// How many must have registered for the league to start by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartCounts {
    pub players: usize,
    pub referees: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatsPlan {
    pub seats_max: usize,
    pub seats_per_address: Option<usize>,
    /// The name of a strategy.
    pub fallback: Option<String>,
    /// How a turn is shown.
    pub observation: ObservationForm,
    pub authorization: Authorization,
}

impl SeatsPlan {
    pub fn fallback(&self) -> Result<Option<&'static StrategyEntry>> {
        self.fallback
            .as_deref()
            .map(strategy::named)
            .transpose()
            .map_err(|error| anyhow!("{error}"))
    }
}

/// A program that knows the rules of the game.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramPlan {
    pub command: String,
    pub time: Duration,
    pub memory_bytes: u64,
}

impl ProgramPlan {
    pub fn program(&self) -> Result<GameProgram> {
        let limits = ResourceLimits {
            time: self.time,
            memory_bytes: self.memory_bytes,
        };
        GameProgram::named(&self.command, limits).map_err(|error| anyhow!("{error}"))
    }
}

/// A join code for one place on the roster.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct JoinCodeRow {
    pub name: String,
    pub role: String,
    pub mail: String,
    pub join_code: String,
    #[serde(default)]
    pub url: String,
}

/// A plan, with the secrets that its creator is shown once.
#[derive(Debug)]
pub struct NewLeague {
    pub plan: LeaguePlan,
    /// The operator token, if the creator did not give one.
    pub operator_token: Option<String>,
    pub join_codes: Vec<JoinCodeRow>,
    /// The code that referees of others share.
    pub referee_code: Option<String>,
    /// The code that clients of seats show, if one was made.
    pub seat_code: Option<String>,
}
