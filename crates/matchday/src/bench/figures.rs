//! What was measured, as it is printed, saved and compared. Values only.

use super::size::Size;
use super::spread::{Spread, median};
use serde::{Deserialize, Serialize};

/// What a saved file says of itself. Another number means that the figures mean something else.
pub(crate) const FORMAT: u32 = 1;

/// All that one run of the bench has found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Figures {
    pub(crate) format: u32,
    pub(crate) made_by: String,
    pub(crate) cores: usize,
    /// Whether the program was built for speed. If not, its figures say nothing about it.
    pub(crate) optimised: bool,
    pub(crate) leagues: Vec<League>,
    pub(crate) queries: Option<Queries>,
    pub(crate) core: Vec<Core>,
    /// Empty unless the program was built to count them.
    pub(crate) allocations: Vec<Allocations>,
    /// From the start of a process to its first match, each time it was tried.
    pub(crate) first_match_ms: Vec<f64>,
}

/// Leagues of one size and kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct League {
    pub(crate) size: Size,
    pub(crate) kind: Kind,
    pub(crate) runs: Vec<Run>,
    /// From the first byte out to the answer, by type of message, in all runs.
    pub(crate) answers: Vec<Answers>,
    /// From a report's arrival to the table with its result on its way to each player, in all runs.
    pub(crate) standings: Option<Spread>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    OneProcess,
    SeparateProcesses,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::OneProcess => "one process",
            Self::SeparateProcesses => "separate processes",
        }
    }
}

/// One league, played.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) matches: usize,
    pub(crate) technical_losses: usize,
    pub(crate) exchanges: usize,
    pub(crate) seconds: f64,
    /// Exchanges a second without a league, measured just before and just after.
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
    /// After each quarter of the time, or at the end alone.
    pub(crate) quarters_bytes: Vec<u64>,
    pub(crate) most_bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Answers {
    pub(crate) message_type: String,
    pub(crate) per_match: f64,
    pub(crate) took: Spread,
}

/// LEAGUE_QUERY, asked one after the other while a league runs flat out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Queries {
    pub(crate) size: Size,
    /// By type of query.
    pub(crate) took: Vec<(String, Spread)>,
}

/// The machines alone, without network, disk or JSON, on one core.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Core {
    pub(crate) size: Size,
    pub(crate) matches_per_s: Vec<f64>,
}

/// How often a league in one process asks for memory, HTTP and store included.
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

    /// The part of what HTTP can do that the league does.
    pub(crate) fn ratio(&self) -> f64 {
        self.exchanges_per_s() / self.ceiling_per_s
    }

    /// The same by processor time alone: what a bare exchange takes, to what one of the league takes with all that stands
    /// behind it. It does not mind who else is busy on the machine, nor does it see who waits for the disk.
    pub(crate) fn cpu_ratio(&self) -> Option<f64> {
        let exchanges_per_match = self.exchanges as f64 / self.matches.max(1) as f64;
        Some(self.ceiling_cpu_us_per_exchange? * exchanges_per_match / self.cpu_us_per_match?)
    }
}

impl League {
    /// The median of a figure over all runs.
    pub(crate) fn median(&self, figure: impl Fn(&Run) -> f64) -> Option<f64> {
        median(self.runs.iter().map(figure))
    }

    pub(crate) fn median_of(&self, figure: impl Fn(&Run) -> Option<f64>) -> Option<f64> {
        median(self.runs.iter().filter_map(figure))
    }
}
