//! How this player chooses. This is the file to change.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Parity {
    Even,
    Odd,
}

/// A match that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Past {
    pub match_id: String,
    pub opponent_id: String,
    /// None where nothing was chosen.
    pub mine: Option<Parity>,
    pub theirs: Option<Parity>,
    /// None where no number was drawn.
    pub number: Option<i64>,
}

/// What is known when a choice is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    pub match_id: String,
    pub opponent_id: String,
    pub round_id: Option<i64>,
    /// Oldest first.
    pub history: Vec<Past>,
}

/// Called once for each match, in a thread of its own. It has `agent::THINKING`; if it panics or takes longer, the
/// choice is left to chance.
pub fn choose(_turn: &Turn) -> Parity {
    by_chance()
}

pub fn by_chance() -> Parity {
    if rand::random() {
        Parity::Even
    } else {
        Parity::Odd
    }
}
