//! The full-screen view of `matchday watch`. Pure: updates and keys in, frames out; the command polls the manager and
//! reads the keys.
//!
//! # Layout
//! - here: an update from the manager; [`app`]: the state of the screen; [`screen`]: draws it
//! - `exchanges`: rows of the message pane

pub(crate) mod app;
pub(crate) mod exchanges;
pub(crate) mod screen;
#[cfg(test)]
mod tests;

use exchanges::ExchangeRow;
use matchday_core::protocol::messages::query_data::ScheduledRound;
use matchday_core::protocol::messages::{Phase, StandingRow};
use serde::Deserialize;

#[derive(Debug, Clone)]
pub(crate) struct Update {
    pub(crate) status: Status,
    /// Of all rounds.
    pub(crate) matches: usize,
    pub(crate) standings: Vec<StandingRow>,
    /// The selected round, if it exists.
    pub(crate) round: Option<ScheduledRound>,
    pub(crate) messages: Messages,
}

/// The fields of LEAGUE_STATUS that are shown.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Status {
    pub(crate) league_id: String,
    pub(crate) status: Phase,
    /// 0 before the first round is announced.
    pub(crate) current_round: u32,
    pub(crate) total_rounds: u32,
    /// The name of the round, if it has one.
    #[serde(default)]
    pub(crate) round_title: Option<String>,
    pub(crate) matches_completed: u32,
}

#[derive(Debug, Clone, Default)]
pub(crate) enum Messages {
    #[default]
    NotAsked,
    /// Newest first.
    Listed(Vec<ExchangeRow>),
    /// Why there are none, and how to get them.
    Withheld(String),
}

/// What the next update should contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct UpdateRequest {
    /// `None` for the current round.
    pub(crate) round: Option<u32>,
    pub(crate) messages: bool,
}
