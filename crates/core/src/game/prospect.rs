//! How good a move is, where a game can be solved or searched.

use serde::Serialize;

/// What a move leads to for the player who makes it, if both play as well as one can from then on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Prospect {
    /// The opponent can force a win.
    Lost,
    /// The search ended before it was decided.
    Open,
    /// Neither can force a win.
    Drawn,
    /// The player can force a win.
    Won,
}
