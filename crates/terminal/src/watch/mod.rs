//! The full-screen view of `matchday watch`. Pure: updates and keys in, frames out; the command polls the manager and
//! reads the keys.
//!
//! # Layout
//! - here: an update from the manager; [`app`]: the state of the screen; [`screen`]: draws it
//! - `exchanges`: rows of the message pane

pub mod app;
pub mod exchanges;
pub mod screen;
#[cfg(test)]
mod tests;

use exchanges::ExchangeRow;
use matchday_core::game::view::View;
use matchday_core::protocol::messages::query_data::{MatchProgress, ScheduledMatch, ScheduledRound};
use matchday_core::protocol::messages::{Phase, StandingRow};
use matchday_core::protocol::{MatchId, PlayerId};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone)]
pub struct Update {
    pub status: Status,
    /// Of all rounds.
    pub matches: usize,
    pub standings: Vec<StandingRow>,
    /// The selected round, if it exists.
    pub round: Option<ScheduledRound>,
    pub messages: Messages,
    /// A match of that round, as it stands.
    pub board: Option<Board>,
}

/// The position of a match, from the manager's dashboard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Board {
    pub match_id: MatchId,
    pub players: [PlayerId; 2],
    pub position: View,
}

/// The match whose board is shown: of those that are being played, or else of all that have begun, the n-th in turn.
pub fn featured(round: &ScheduledRound, number: usize) -> Option<&ScheduledMatch> {
    let in_state = |state| round.matches.iter().filter(move |game| game.state == state);
    let playing: Vec<_> = in_state(MatchProgress::Playing).collect();
    let shown = if playing.is_empty() { in_state(MatchProgress::Decided).collect() } else { playing };
    shown.get(number.checked_rem(shown.len())?).copied()
}

/// The fields of LEAGUE_STATUS that are shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    pub league_id: String,
    pub status: Phase,
    /// 0 before the first round is announced.
    pub current_round: u32,
    pub total_rounds: u32,
    /// The name of the round, if it has one.
    #[serde(default)]
    pub round_title: Option<String>,
    pub matches_completed: u32,
}

#[derive(Debug, Clone, Default)]
pub enum Messages {
    #[default]
    NotAsked,
    /// Newest first.
    Listed(Vec<ExchangeRow>),
    /// Why there are none, and how to get them.
    Withheld(String),
}

/// What the next update should contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UpdateRequest {
    /// `None` for the current round.
    pub round: Option<u32>,
    pub messages: bool,
    /// Which of the boards.
    pub board: usize,
}
