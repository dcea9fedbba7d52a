//! A report on a stored league, for its organisers, its participants, and for grading.
//!
//! # Layout
//! - here: the data of a report; [`gather`](Report::gather) reads it from stores
//! - `league`, `players`, `faults`: how it is gathered
//! - `plots`: plots for every format; `sentences`: sentences for every format
//! - [`html`], [`markdown`], [`grades`]: the formats; pure. The JSON format is the data itself.
//!
//! Nothing here reads the clock: the same stores give the same report, byte for byte.

mod faults;
pub mod grades;
pub mod html;
mod league;
pub mod markdown;
mod players;
mod plots;
#[cfg(test)]
pub mod sample;
mod sentences;

use crate::fallbacks::Fallbacks;
use crate::llm_usage::LlmUsage;
use crate::verify::Verification;
use league::ReportError;
use matchday_core::game::view::Grid;
use matchday_core::protocol::LeagueId;
use matchday_core::protocol::Timestamp;
use matchday_core::protocol::messages::Phase;
use matchday_stats::quantile::quantile;
use matchday_stats::{LeagueStatistics, Resampling};
use matchday_store::StoreError;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The report of a league as an HTML page. Reads the stores.
pub fn html_page(files: &[PathBuf], league_id: &LeagueId) -> Result<String, StoreError> {
    match Report::gather(files, Some(league_id), &Resampling::default()) {
        Ok(report) => Ok(html::page(&report)),
        Err(ReportError::Store(error)) => Err(error),
        Err(ReportError::NoLeague(_)) => {
            Err(StoreError::NoLeague(files.first().cloned().unwrap_or_default()))
        }
    }
}

#[derive(Debug, Clone, Serialize)]
pub struct Report {
    pub league_id: String,
    pub game: String,
    /// `round_robin`, `swiss`.
    pub format: &'static str,
    pub phase: Phase,
    /// If the league is not over, how far it is.
    pub unfinished: Option<String>,
    pub champion: Option<PlayerName>,
    /// All who share the title, if more than one does.
    pub joint_champions: Vec<PlayerName>,
    pub created_at: Option<Timestamp>,
    pub started_at: Option<Timestamp>,
    pub completed_at: Option<Timestamp>,
    /// The time of the last event.
    pub as_of: Option<Timestamp>,
    pub matches: u32,
    pub matches_decided: u32,
    pub technical_matches: u32,
    /// The timeout of a choice or move.
    pub deadline_ms: u64,
    /// Who is on one side in all matches, where that matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sides: Option<String>,
    pub tie_breaks: Vec<String>,
    /// In the order of the standings.
    pub players: Vec<Player>,
    pub referees: Vec<Referee>,
    pub rounds: Vec<Round>,
    pub faults: Vec<Fault>,
    pub statistics: LeagueStatistics,
    pub verification: VerificationSummary,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlayerName {
    pub id: String,
    pub name: String,
}

#[derive(Debug, Clone, Serialize)]
pub struct Player {
    pub rank: u32,
    #[serde(flatten)]
    pub who: PlayerName,
    pub version: String,
    /// `active`, `suspended`, `withdrawn`.
    pub state: &'static str,
    pub points: u32,
    pub played: u32,
    pub wins: u32,
    pub draws: u32,
    /// All losses, technical ones included.
    pub losses: u32,
    pub losses_in_play: u32,
    pub technical_losses: u32,
    /// Wins by the opponent's technical loss.
    pub wins_by_default: u32,
    /// The tie-break that ranks it ahead of the next player.
    pub reason: Option<String>,
    /// The points after each round with a decided match.
    pub points_by_round: Vec<(u32, u32)>,
    pub against: Vec<HeadToHead>,
    pub choices: BTreeMap<String, u32>,
    pub answers: Answers,
    /// Deviations from the protocol, by kind.
    pub deviations: BTreeMap<String, u32>,
    pub technical: Vec<TechnicalLoss>,
    /// How often its strategy failed, if the player's own store was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallbacks: Option<Fallbacks>,
    /// What its language model used, if the player's own store was read and tells it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub llm_usage: Option<LlmUsage>,
}

/// The record against one opponent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HeadToHead {
    #[serde(flatten)]
    pub who: PlayerName,
    pub wins: u32,
    pub draws: u32,
    pub losses: u32,
    /// Those of the losses that were technical.
    pub technical: u32,
}

impl HeadToHead {
    pub fn met(&self) -> u32 {
        self.wins + self.draws + self.losses
    }

    pub fn points(&self) -> u32 {
        use matchday_core::league::standings::{POINTS_DRAW, POINTS_WIN};
        self.wins * POINTS_WIN + self.draws * POINTS_DRAW
    }
}

/// Response times as the referees measured them: the mean for each match with a move.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Answers {
    /// In milliseconds, sorted.
    pub ms: Vec<u32>,
}

impl Answers {
    /// Rounded to a millisecond.
    pub fn quantile(&self, share: f64) -> Option<u32> {
        quantile(&self.ms, share).map(|ms| ms.round() as u32)
    }

    pub fn median(&self) -> Option<u32> {
        self.quantile(0.5)
    }

    pub fn longest(&self) -> Option<u32> {
        self.ms.last().copied()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TechnicalLoss {
    pub match_id: String,
    pub round: u32,
    pub opponent: PlayerName,
    /// Who is to blame: `player`, `opponent`, `referee`, `infrastructure`.
    pub culprit: &'static str,
    /// `silent`, `unreachable`.
    pub cause: &'static str,
    /// A sentence with the owed message, the number of tries and the time waited.
    pub account: String,
    /// The last error, as it was observed.
    pub evidence: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Referee {
    #[serde(flatten)]
    pub who: PlayerName,
    pub matches_decided: u32,
    /// Attempts that were assigned, and those of them that were lost after they had begun.
    pub attempts: u32,
    pub attempts_lost: u32,
    pub deviations: BTreeMap<String, u32>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Round {
    pub number: u32,
    /// The name of the round, if it has one: `Semifinals`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    pub state: &'static str,
    pub starts_at: Option<Timestamp>,
    pub byes: Vec<PlayerName>,
    pub matches: Vec<Match>,
}

impl Round {
    /// `Round 3`, `Round 3, Semifinals`.
    pub fn name(&self) -> String {
        match &self.title {
            Some(title) if *title != format!("Round {}", self.number) => {
                format!("Round {}, {title}", self.number)
            }
            _ => format!("Round {}", self.number),
        }
    }
}

#[derive(Debug, Clone, Serialize)]
pub struct Match {
    pub id: String,
    pub a: PlayerName,
    pub b: PlayerName,
    /// `decided`, `playing`, `to come`.
    pub state: &'static str,
    pub technical: bool,
    pub winner: Option<String>,
    pub score: Option<(u32, u32)>,
    pub reason: String,
    /// Whether the draw is proven, in games that have one.
    pub draw: Option<String>,
    /// The referee's id, or `manager`.
    pub decided_by: Option<String>,
    pub decided_at: Option<Timestamp>,
    pub attempts: usize,
    /// The last position, in games with a board.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<Grid>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// `technical loss`, `message`, `error`, `departure`, `strategy`.
    pub group: &'static str,
    pub kind: String,
    pub count: u32,
}

#[derive(Debug, Clone, Serialize)]
pub struct VerificationSummary {
    pub passed: bool,
    pub sentence: String,
    /// The last hash of the league's hash chain: it identifies the state of the league.
    pub head: Option<String>,
    pub files: Vec<String>,
    pub found: Verification,
}
