//! What tells players with equal points apart.

use serde::{Deserialize, Serialize};

/// A tie-break between players with equal points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TieBreak {
    /// Points in the matches among the tied players.
    HeadToHead,
    /// Wins as a share of the matches played.
    WinPercentage,
    /// The number of wins.
    Wins,
    /// The lower number of draws.
    FewerDraws,
    /// The points of beaten opponents, and half the points of those drawn with.
    SonnebornBerger,
    /// The points of all opponents.
    Buchholz,
    /// By lot, from a seed in the log.
    Lots,
}

impl TieBreak {
    /// Players whom none of them separates share a rank.
    pub const DEFAULT: [Self; 4] = [
        Self::HeadToHead,
        Self::WinPercentage,
        Self::Wins,
        Self::FewerDraws,
    ];

    /// Every tie-break, the default ones first.
    pub const ALL: [Self; 7] = [
        Self::HeadToHead,
        Self::WinPercentage,
        Self::Wins,
        Self::FewerDraws,
        Self::SonnebornBerger,
        Self::Buchholz,
        Self::Lots,
    ];

    /// As the standings give the reason for a rank.
    pub fn name(self) -> &'static str {
        match self {
            Self::HeadToHead => "head-to-head",
            Self::WinPercentage => "win percentage",
            Self::Wins => "wins",
            Self::FewerDraws => "fewer draws",
            Self::SonnebornBerger => "Sonneborn-Berger",
            Self::Buchholz => "Buchholz",
            Self::Lots => "lots",
        }
    }
}
