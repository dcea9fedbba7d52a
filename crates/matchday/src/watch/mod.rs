//! A league on a whole terminal: what `matchday watch` shows, and what its keys do. Pure: news and keys in, frames out. Who
//! asks the manager and reads the keys is `cli::follow`.
//!
//! # Layout
//! - here: the news that a manager has; [`app`]: what is being looked at; [`screen`]: how it is drawn
//! - `heard`: messages, as the manager's dashboard tells them

pub(crate) mod app;
pub(crate) mod heard;
pub(crate) mod screen;
#[cfg(test)]
mod tests;

use heard::Heard;
use matchday_core::protocol::messages::query::ScheduledRound;
use matchday_core::protocol::messages::{Phase, StandingRow};
use serde::Deserialize;

/// How a league stands, by its manager's answers.
#[derive(Debug, Clone)]
pub(crate) struct News {
    pub(crate) status: Status,
    /// Of all rounds.
    pub(crate) matches: usize,
    pub(crate) standings: Vec<StandingRow>,
    /// The round that is looked at, once there is one.
    pub(crate) round: Option<ScheduledRound>,
    pub(crate) messages: Messages,
}

/// LEAGUE_STATUS, as it is read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Status {
    pub(crate) league_id: String,
    pub(crate) status: Phase,
    /// 0 before the first round is announced.
    pub(crate) current_round: u32,
    pub(crate) total_rounds: u32,
    /// What people call the round, where it has a name of its own.
    #[serde(default)]
    pub(crate) round_title: Option<String>,
    pub(crate) matches_completed: u32,
}

#[derive(Debug, Clone, Default)]
pub(crate) enum Messages {
    /// Nobody has asked for them yet.
    #[default]
    NotAsked,
    /// The newest first.
    Heard(Vec<Heard>),
    /// Why there are none, and what to do about it.
    Withheld(String),
}

/// What is worth asking for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Wanted {
    /// The current one if it is not named.
    pub(crate) round: Option<u32>,
    pub(crate) messages: bool,
}
