//! What the test for agreed calls finds. Values only.

use serde::{Deserialize, Serialize};

/// A pair of players that calls opposite parities significantly often.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    pub players: [String; 2],
    pub met: u32,
    pub opposite: u32,
    /// Opposite calls by the explanations that come closest.
    pub expected: f64,
    pub p: f64,
    pub p_corrected: f64,
    pub sentence: String,
}

/// Whether pairs of players call opposite parities more often than can be explained without an agreement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Complementary {
    /// How many pairs have met.
    pub pairs: u32,
    /// Whether any pair has met often enough for a significant result.
    pub can_be_told: bool,
    /// The most meetings of a pair, and how many it takes at least among so many pairs.
    pub meetings_most: u32,
    pub meetings_needed: u32,
    /// The smallest uncorrected p-value of all pairs.
    pub p_smallest: Option<f64>,
    /// Pairs with a significant result, smallest p-value first.
    pub questions: Vec<Question>,
    /// For people.
    pub sentence: String,
}
