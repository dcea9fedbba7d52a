//! How a league is set going, and how far it has come.

use crate::protocol::ids::LeagueId;
use serde::{Deserialize, Serialize};

/// START_LEAGUE: the launcher closes registration and begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StartLeague {
    pub league_id: LeagueId,
}

/// LEAGUE_STATUS: how far the league has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeagueStatus {
    pub league_id: LeagueId,
    pub status: Phase,
    /// 0 before the first round is announced.
    pub current_round: u32,
    pub total_rounds: u32,
    pub matches_completed: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    Registration,
    Running,
    Paused,
    Completed,
}
