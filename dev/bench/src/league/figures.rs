//! The measured figures, as they are printed, saved and compared. Pure.

use crate::quantiles::{Quantiles, median};
use crate::size::Size;
use serde::{Deserialize, Serialize};

/// The version of the saved format.
pub(crate) const FORMAT: u32 = 2;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct LeagueFigures {
    pub(crate) format: u32,
    pub(crate) leagues: Vec<League>,
    pub(crate) queries: Option<Queries>,
    pub(crate) core: Vec<Core>,
    /// Empty without the feature `count-allocations`.
    pub(crate) allocations: Vec<Allocations>,
    /// From process start to the first match, for each run.
    pub(crate) first_match_ms: Vec<f64>,
    /// Memory of a player process at rest: its own, and its part of what such processes share (PSS).
    pub(crate) player_bytes: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct League {
    pub(crate) size: Size,
    pub(crate) kind: Kind,
    pub(crate) runs: Vec<Run>,
    /// From the first byte sent to the answer, by message type, over all runs.
    pub(crate) answers: Vec<Answers>,
    /// From a report's arrival to the updated standings being sent to each player, over all runs.
    pub(crate) standings: Option<Quantiles>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    OneProcess,
    OutsidePlayers,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::OneProcess => "one process",
            Self::OutsidePlayers => "outside players",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) matches: usize,
    pub(crate) technical_losses: usize,
    pub(crate) exchanges: usize,
    pub(crate) seconds: f64,
    /// Exchanges per second of the raw ceiling, averaged over the measurements just before and after.
    pub(crate) ceiling_per_s: f64,
    pub(crate) ceiling_cpu_us_per_exchange: Option<f64>,
    pub(crate) cpu_us_per_match: Option<f64>,
    pub(crate) memory: Option<Memory>,
    pub(crate) log_bytes_per_match: f64,
}

/// Resident memory of all processes of a league.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Memory {
    pub(crate) start_bytes: u64,
    /// At the end of each quarter of the run, or only at its end.
    pub(crate) quarters_bytes: Vec<u64>,
    pub(crate) most_bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Answers {
    pub(crate) message_type: String,
    pub(crate) per_match: f64,
    pub(crate) took: Quantiles,
}

/// LEAGUE_QUERY, sent one at a time while a league runs at full speed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Queries {
    pub(crate) size: Size,
    /// By query type.
    pub(crate) took: Vec<(String, Quantiles)>,
}

/// The state machines alone, without network, disk or JSON, on one core.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Core {
    pub(crate) size: Size,
    pub(crate) matches_per_s: Vec<f64>,
}

/// Allocations per match of a league in one process, HTTP and store included.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Allocations {
    pub(crate) size: Size,
    pub(crate) per_match: f64,
}

impl Run {
    pub(crate) fn exchanges_per_s(&self) -> f64 {
        self.exchanges as f64 / self.seconds
    }

    pub(crate) fn matches_per_s(&self) -> f64 {
        self.matches as f64 / self.seconds
    }

    pub(crate) fn us_per_match(&self) -> f64 {
        self.seconds * 1e6 / self.matches.max(1) as f64
    }

    /// Throughput as a share of the raw ceiling.
    pub(crate) fn ratio(&self) -> f64 {
        self.exchanges_per_s() / self.ceiling_per_s
    }

    /// The same ratio in CPU time per exchange. Independent of other load on the machine, and blind to waiting for
    /// the disk.
    pub(crate) fn cpu_ratio(&self) -> Option<f64> {
        let exchanges_per_match = self.exchanges as f64 / self.matches.max(1) as f64;
        Some(self.ceiling_cpu_us_per_exchange? * exchanges_per_match / self.cpu_us_per_match?)
    }
}

impl League {
    pub(crate) fn median(&self, figure: impl Fn(&Run) -> f64) -> Option<f64> {
        median(self.runs.iter().map(figure))
    }

    pub(crate) fn median_of(&self, figure: impl Fn(&Run) -> Option<f64>) -> Option<f64> {
        median(self.runs.iter().filter_map(figure))
    }
}
