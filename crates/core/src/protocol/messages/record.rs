//! A player's record.

use serde::{Deserialize, Serialize};

/// A player's record so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Record {
    /// Matches won, those that the opponent forfeited included.
    pub wins: u32,
    /// Matches lost, played out or forfeited.
    pub losses: u32,
    /// Matches that ended level.
    pub draws: u32,
}
