//! A stored league as a report: for whoever ran it, for whoever took part, and for whoever has to give grades.
//!
//! # Layout
//! - here: what a report says, as plain data; [`gather`](Report::gather) reads it from stores, once
//! - `league`, `players`: how it is gathered; `faults`: what went wrong, by kind
//! - `plots`: what is drawn, whatever the format; `words`: sentences that several formats share
//! - [`html`], [`markdown`], [`grades`]: from the report to a page, to Markdown, to a row for each player; pure. The data
//!   itself is the JSON.
//!
//! Nothing here asks for the time: the same stores give the same report, to the byte.

mod faults;
pub(crate) mod grades;
pub(crate) mod html;
mod league;
pub(crate) mod markdown;
mod players;
mod plots;
#[cfg(test)]
pub(crate) mod sample;
mod words;

use crate::store::fallbacks::Fallbacks;
use crate::store::verify::Verification;
use matchday_core::protocol::Timestamp;
use matchday_core::protocol::messages::Phase;
use matchday_stats::LeagueStatistics;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Report {
    pub(crate) league_id: String,
    pub(crate) game: String,
    /// Who meets whom: `round_robin`, `swiss`.
    pub(crate) format: &'static str,
    pub(crate) phase: Phase,
    /// If the league is not over: how far it is.
    pub(crate) unfinished: Option<String>,
    pub(crate) champion: Option<Named>,
    pub(crate) created_at: Option<Timestamp>,
    pub(crate) started_at: Option<Timestamp>,
    pub(crate) completed_at: Option<Timestamp>,
    /// When the last event was written down: the report is of this moment.
    pub(crate) as_of: Option<Timestamp>,
    pub(crate) matches: u32,
    pub(crate) matches_decided: u32,
    pub(crate) technical_matches: u32,
    /// How long a player may take for a choice or a move.
    pub(crate) deadline_ms: u64,
    pub(crate) tie_breaks: Vec<String>,
    /// In the order of the table.
    pub(crate) players: Vec<Player>,
    pub(crate) referees: Vec<Referee>,
    pub(crate) rounds: Vec<Round>,
    pub(crate) faults: Vec<Fault>,
    pub(crate) statistics: LeagueStatistics,
    pub(crate) verification: Verified,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Named {
    pub(crate) id: String,
    pub(crate) name: String,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Player {
    pub(crate) rank: u32,
    #[serde(flatten)]
    pub(crate) who: Named,
    pub(crate) version: String,
    /// `active`, `suspended`, `withdrawn`.
    pub(crate) state: &'static str,
    pub(crate) points: u32,
    pub(crate) played: u32,
    pub(crate) wins: u32,
    pub(crate) draws: u32,
    /// Of all kinds.
    pub(crate) losses: u32,
    /// Those of them that were lost in play.
    pub(crate) losses_in_play: u32,
    pub(crate) technical_losses: u32,
    /// Wins for which the opponent did not play.
    pub(crate) wins_by_default: u32,
    /// Why it stands ahead of the next.
    pub(crate) reason: Option<String>,
    /// After each round in which a match was decided.
    pub(crate) points_by_round: Vec<(u32, u32)>,
    pub(crate) against: Vec<Against>,
    pub(crate) choices: BTreeMap<String, u32>,
    pub(crate) answers: Answers,
    /// How its messages departed from the rules, by kind.
    pub(crate) deviations: BTreeMap<String, u32>,
    pub(crate) technical: Vec<Technical>,
    /// How often its own strategy failed, as far as its own events are at hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fallbacks: Option<Fallbacks>,
}

/// How a player did against another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Against {
    #[serde(flatten)]
    pub(crate) who: Named,
    pub(crate) wins: u32,
    pub(crate) draws: u32,
    pub(crate) losses: u32,
    /// Losses among them that were technical.
    pub(crate) technical: u32,
}

impl Against {
    pub(crate) fn met(&self) -> u32 {
        self.wins + self.draws + self.losses
    }

    pub(crate) fn points(&self) -> u32 {
        use matchday_core::league::standings::{POINTS_DRAW, POINTS_WIN};
        self.wins * POINTS_WIN + self.draws * POINTS_DRAW
    }
}

/// How long a player took, as its referees measured it: the mean of each match in which it moved.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Answers {
    /// In milliseconds, the shortest first.
    pub(crate) ms: Vec<u32>,
}

impl Answers {
    pub(crate) fn at_share(&self, share: f64) -> Option<u32> {
        let last = self.ms.len().checked_sub(1)?;
        self.ms.get((last as f64 * share).round() as usize).copied()
    }

    pub(crate) fn median(&self) -> Option<u32> {
        self.at_share(0.5)
    }

    pub(crate) fn longest(&self) -> Option<u32> {
        self.ms.last().copied()
    }
}

/// A match that a player lost without playing it, and what is known of why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Technical {
    pub(crate) match_id: String,
    pub(crate) round: u32,
    pub(crate) opponent: Named,
    /// Whose fault it was: `player`, `opponent`, `referee`, `infrastructure`.
    pub(crate) culprit: &'static str,
    /// `silent`, `unreachable`.
    pub(crate) cause: &'static str,
    /// The same as a sentence, with what was owed, how often it was asked for and how long.
    pub(crate) account: String,
    /// The last that went wrong, as it was seen.
    pub(crate) evidence: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Referee {
    #[serde(flatten)]
    pub(crate) who: Named,
    pub(crate) matches_decided: u32,
    /// Attempts at matches that it was given, and those that came to nothing after it had begun them.
    pub(crate) attempts: u32,
    pub(crate) attempts_lost: u32,
    pub(crate) deviations: BTreeMap<String, u32>,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Round {
    pub(crate) number: u32,
    /// What people call it, where it has a name of its own: `Semifinals`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    pub(crate) state: &'static str,
    pub(crate) starts_at: Option<Timestamp>,
    pub(crate) byes: Vec<Named>,
    pub(crate) matches: Vec<Match>,
}

impl Round {
    /// `Round 3`, `Round 3, Semifinals`.
    pub(crate) fn name(&self) -> String {
        match &self.title {
            Some(title) => format!("Round {}, {title}", self.number),
            None => format!("Round {}", self.number),
        }
    }
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Match {
    pub(crate) id: String,
    pub(crate) a: Named,
    pub(crate) b: Named,
    /// `decided`, `playing`, `to come`.
    pub(crate) state: &'static str,
    pub(crate) technical: bool,
    pub(crate) winner: Option<String>,
    pub(crate) score: Option<(u32, u32)>,
    /// Why it ended so.
    pub(crate) reason: String,
    /// Whether the draw is proven, in games that have one.
    pub(crate) draw: Option<String>,
    /// The referee, or the manager.
    pub(crate) decided_by: Option<String>,
    pub(crate) decided_at: Option<Timestamp>,
    pub(crate) attempts: usize,
}

/// Something that went wrong, and how often.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Fault {
    /// `technical loss`, `message`, `error`, `departure`, `strategy`.
    pub(crate) group: &'static str,
    pub(crate) kind: String,
    pub(crate) count: u32,
}

/// Whether what is reported can be believed.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Verified {
    pub(crate) passed: bool,
    /// The verdict for people.
    pub(crate) sentence: String,
    /// The last hash of the league's chain: two reports with the same one are of the same league at the same moment.
    pub(crate) head: Option<String>,
    pub(crate) files: Vec<String>,
    pub(crate) found: Verification,
}
