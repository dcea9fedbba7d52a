//! The pages of the dashboard: pure functions of a league, of stored records, and of statistics.
//!
//! - `league`: progress of the league, with `next_steps`; `standings`: the table; `cross_table`: who beat whom
//! - `rounds`: all rounds, and one with its matches; `one_match`: a match as a line, and as a page, with its
//!   `positions`
//! - `player`, `answer_times`, `losses`: one player; `referees`: the referees and their load
//! - `featured`: the boards of the front page, with what is at `stakes`; `ticker`: what has just happened; `race`: points by round; `latency`: answer times of all; `awards`

pub(super) mod answer_times;
pub(super) mod awards;
pub(super) mod cross_table;
pub(super) mod featured;
pub(super) mod latency;
pub(super) mod league;
pub(super) mod losses;
pub(super) mod next_steps;
pub(super) mod one_match;
pub(super) mod player;
mod positions;
pub(super) mod race;
pub(super) mod referees;
pub(super) mod rounds;
mod stakes;
pub(super) mod standings;
#[cfg(test)]
mod tests;
mod ticker;

use serde::Serialize;

/// A page with the version of the snapshot that it shows.
#[derive(Debug, Serialize)]
pub(super) struct Versioned<T> {
    pub(super) version: u64,
    #[serde(flatten)]
    pub(super) page: T,
}
