//! The rules a league is held to, written from the rule text and on plain values, so that they share no code, and no
//! mistake, with what they check.

pub mod blame;
pub mod draw;
pub mod fixtures;
pub mod ledger;
pub mod table;

use super::failure::Fault;
use crate::protocol::{MatchId, PlayerId, RoundId};

/// What a league says of itself, in plain words.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    pub players: Vec<PlayerId>,
    /// All matches of the league, once it has begun.
    pub fixtures: Vec<Fixture>,
    /// Best first.
    pub table: Vec<Row>,
    pub completed: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Fixture {
    pub id: MatchId,
    pub round: RoundId,
    pub a: PlayerId,
    pub b: PlayerId,
    pub outcome: Option<Outcome>,
}

/// One line of the table, as the league shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub player: PlayerId,
    pub played: u32,
    pub wins: u32,
    pub draws: u32,
    pub losses: u32,
    pub technical_losses: u32,
    pub points: u32,
}

/// How a match ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Won(PlayerId),
    Drawn,
    /// The other player did not play.
    Forfeited {
        winner: PlayerId,
    },
    /// Neither player played.
    BothForfeited,
}

impl Fixture {
    pub fn has(&self, player: &PlayerId) -> bool {
        self.a == *player || self.b == *player
    }
}

/// Everything that must hold at any time.
pub fn always(facts: &Facts) -> Result<(), Fault> {
    fixtures::each_pair_meets_once(facts)?;
    fixtures::at_most_one_match_per_round(facts)?;
    fixtures::a_completed_league_is_decided(facts)?;
    table::adds_up(facts)?;
    table::is_in_order(facts)
}
