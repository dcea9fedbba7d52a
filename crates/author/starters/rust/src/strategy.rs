//! How this player chooses. This is the file to change.

use serde_json::{Map, Value};

/// A match that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Past {
    pub match_id: String,
    pub opponent_id: String,
    /// None where nothing was chosen.
    pub mine: Option<String>,
    pub theirs: Option<String>,
    /// None where no number was drawn.
    pub number: Option<i64>,
}

/// What is known when a choice is due.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    pub match_id: String,
    pub opponent_id: String,
    pub round_id: Option<i64>,
    /// Oldest first.
    pub history: Vec<Past>,
    /// Every legal move; never empty.
    pub options: Vec<Value>,
    /// What the referee shows: `board::rows(&turn.context)` is the board, in games that have one.
    pub context: Map<String, Value>,
}

/// Returns one of `turn.options`. Called once for each turn, in a thread of its own. It has `agent::THINKING`; if it panics,
/// takes longer or returns anything else, the choice is left to chance.
pub fn choose(turn: &Turn) -> Value {
    by_chance(&turn.options)
}

pub fn by_chance(options: &[Value]) -> Value {
    let number = rand::random::<u32>() as usize % options.len().max(1);
    options.get(number).cloned().unwrap_or_default()
}
