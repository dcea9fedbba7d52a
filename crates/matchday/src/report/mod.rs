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
pub(crate) mod grades;
pub(crate) mod html;
mod league;
pub(crate) mod markdown;
mod players;
mod plots;
#[cfg(test)]
pub(crate) mod sample;
mod sentences;

use league::ReportError;
use matchday_core::game::view::Grid;
use matchday_core::protocol::LeagueId;
use matchday_core::protocol::Timestamp;
use matchday_core::protocol::messages::Phase;
use matchday_stats::quantile::quantile;
use matchday_stats::{LeagueStatistics, Resampling};
use matchday_store::fallbacks::Fallbacks;
use matchday_store::llm_usage::LlmUsage;
use matchday_store::verify::Verification;
use matchday_store::{StoreError, StoreUrl};
use serde::Serialize;
use std::collections::BTreeMap;

/// The report of a league as an HTML page. Reads the stores.
pub(crate) fn html_page(stores: &[StoreUrl], league_id: &LeagueId) -> Result<String, StoreError> {
    match Report::gather(stores, Some(league_id), &Resampling::default()) {
        Ok(report) => Ok(html::page(&report)),
        Err(ReportError::Store(error)) => Err(error),
        Err(ReportError::NoLeague(_)) => {
            Err(StoreError::NoLeague(stores.first().map_or(StoreUrl::Memory, StoreUrl::clone)))
        }
    }
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Report {
    pub(crate) league_id: String,
    pub(crate) game: String,
    /// `round_robin`, `swiss`.
    pub(crate) format: &'static str,
    pub(crate) phase: Phase,
    /// If the league is not over, how far it is.
    pub(crate) unfinished: Option<String>,
    pub(crate) champion: Option<PlayerName>,
    /// All who share the title, if more than one does.
    pub(crate) joint_champions: Vec<PlayerName>,
    pub(crate) created_at: Option<Timestamp>,
    pub(crate) started_at: Option<Timestamp>,
    pub(crate) completed_at: Option<Timestamp>,
    /// The time of the last event.
    pub(crate) as_of: Option<Timestamp>,
    pub(crate) matches: u32,
    pub(crate) matches_decided: u32,
    pub(crate) technical_matches: u32,
    /// The timeout of a choice or move.
    pub(crate) deadline_ms: u64,
    /// Who is on one side in all matches, where that matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sides: Option<String>,
    pub(crate) tie_breaks: Vec<String>,
    /// In the order of the standings.
    pub(crate) players: Vec<Player>,
    pub(crate) referees: Vec<Referee>,
    pub(crate) rounds: Vec<Round>,
    pub(crate) faults: Vec<Fault>,
    pub(crate) statistics: LeagueStatistics,
    pub(crate) verification: VerificationSummary,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct PlayerName {
    pub(crate) id: String,
    pub(crate) name: String,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Player {
    pub(crate) rank: u32,
    #[serde(flatten)]
    pub(crate) who: PlayerName,
    pub(crate) version: String,
    /// `active`, `suspended`, `withdrawn`.
    pub(crate) state: &'static str,
    pub(crate) points: u32,
    pub(crate) played: u32,
    pub(crate) wins: u32,
    pub(crate) draws: u32,
    /// All losses, technical ones included.
    pub(crate) losses: u32,
    pub(crate) losses_in_play: u32,
    pub(crate) technical_losses: u32,
    /// Wins by the opponent's technical loss.
    pub(crate) wins_by_default: u32,
    /// The tie-break that ranks it ahead of the next player.
    pub(crate) reason: Option<String>,
    /// The points after each round with a decided match.
    pub(crate) points_by_round: Vec<(u32, u32)>,
    pub(crate) against: Vec<HeadToHead>,
    pub(crate) choices: BTreeMap<String, u32>,
    pub(crate) answers: Answers,
    /// Deviations from the protocol, by kind.
    pub(crate) deviations: BTreeMap<String, u32>,
    pub(crate) technical: Vec<TechnicalLoss>,
    /// How often its strategy failed, if the player's own store was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fallbacks: Option<Fallbacks>,
    /// What its language model used, if the player's own store was read and tells it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) llm_usage: Option<LlmUsage>,
}

/// The record against one opponent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct HeadToHead {
    #[serde(flatten)]
    pub(crate) who: PlayerName,
    pub(crate) wins: u32,
    pub(crate) draws: u32,
    pub(crate) losses: u32,
    /// Those of the losses that were technical.
    pub(crate) technical: u32,
}

impl HeadToHead {
    pub(crate) fn met(&self) -> u32 {
        self.wins + self.draws + self.losses
    }

    pub(crate) fn points(&self) -> u32 {
        use matchday_core::league::standings::{POINTS_DRAW, POINTS_WIN};
        self.wins * POINTS_WIN + self.draws * POINTS_DRAW
    }
}

/// Response times as the referees measured them: the mean for each match with a move.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Answers {
    /// In milliseconds, sorted.
    pub(crate) ms: Vec<u32>,
}

impl Answers {
    /// Rounded to a millisecond.
    pub(crate) fn quantile(&self, share: f64) -> Option<u32> {
        quantile(&self.ms, share).map(|ms| ms.round() as u32)
    }

    pub(crate) fn median(&self) -> Option<u32> {
        self.quantile(0.5)
    }

    pub(crate) fn longest(&self) -> Option<u32> {
        self.ms.last().copied()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct TechnicalLoss {
    pub(crate) match_id: String,
    pub(crate) round: u32,
    pub(crate) opponent: PlayerName,
    /// Who is to blame: `player`, `opponent`, `referee`, `infrastructure`.
    pub(crate) culprit: &'static str,
    /// `silent`, `unreachable`.
    pub(crate) cause: &'static str,
    /// A sentence with the owed message, the number of tries and the time waited.
    pub(crate) account: String,
    /// The last error, as it was observed.
    pub(crate) evidence: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Referee {
    #[serde(flatten)]
    pub(crate) who: PlayerName,
    pub(crate) matches_decided: u32,
    /// Attempts that were assigned, and those of them that were lost after they had begun.
    pub(crate) attempts: u32,
    pub(crate) attempts_lost: u32,
    pub(crate) deviations: BTreeMap<String, u32>,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Round {
    pub(crate) number: u32,
    /// The name of the round, if it has one: `Semifinals`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    pub(crate) state: &'static str,
    pub(crate) starts_at: Option<Timestamp>,
    pub(crate) byes: Vec<PlayerName>,
    pub(crate) matches: Vec<Match>,
}

impl Round {
    /// `Round 3`, `Round 3, Semifinals`.
    pub(crate) fn name(&self) -> String {
        match &self.title {
            Some(title) if *title != format!("Round {}", self.number) => {
                format!("Round {}, {title}", self.number)
            }
            _ => format!("Round {}", self.number),
        }
    }
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Match {
    pub(crate) id: String,
    pub(crate) a: PlayerName,
    pub(crate) b: PlayerName,
    /// `decided`, `playing`, `to come`.
    pub(crate) state: &'static str,
    pub(crate) technical: bool,
    pub(crate) winner: Option<String>,
    pub(crate) score: Option<(u32, u32)>,
    pub(crate) reason: String,
    /// Whether the draw is proven, in games that have one.
    pub(crate) draw: Option<String>,
    /// The referee's id, or `manager`.
    pub(crate) decided_by: Option<String>,
    pub(crate) decided_at: Option<Timestamp>,
    pub(crate) attempts: usize,
    /// The last position, in games with a board.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) position: Option<Grid>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Fault {
    /// `technical loss`, `message`, `error`, `departure`, `strategy`.
    pub(crate) group: &'static str,
    pub(crate) kind: String,
    pub(crate) count: u32,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct VerificationSummary {
    pub(crate) passed: bool,
    pub(crate) sentence: String,
    /// The last hash of the league's hash chain: it identifies the state of the league.
    pub(crate) head: Option<String>,
    pub(crate) files: Vec<String>,
    pub(crate) found: Verification,
}
