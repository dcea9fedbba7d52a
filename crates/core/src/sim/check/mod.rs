//! The rules a league is held to, written from the rule text and on plain values, so that they share no code, and no
//! mistake, with what they check.

pub mod blame;
pub mod conduct;
pub mod course;
pub mod draw;
pub mod fixtures;
pub mod ledger;
pub mod signed;
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
    pub course: Course,
}

/// What kind of league it is, and the rounds that were drawn from results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Course {
    pub kind: Kind,
    /// How many matches a pairing has.
    pub legs: usize,
    /// How often a level tie is played again.
    pub replays: usize,
    /// In their order.
    pub rounds: Vec<Drawn>,
    /// Winner and loser by lot.
    pub lots: Vec<(PlayerId, PlayerId)>,
    pub champion: Option<PlayerId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Everyone so often with everyone.
    All(usize),
    Swiss,
    Knockout,
    Groups,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawn {
    pub round: RoundId,
    /// Which pairing it belongs to.
    pub stage: u32,
    pub in_groups: bool,
    pub byes: Vec<PlayerId>,
    pub announced: bool,
}

impl Course {
    /// What leagues are unless someone says otherwise.
    pub fn usual() -> Self {
        let (rounds, lots, champion) = (Vec::new(), Vec::new(), None);
        Self { kind: Kind::All(1), legs: 1, replays: 0, rounds, lots, champion }
    }
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
    course::is_followed(facts)?;
    fixtures::at_most_one_match_per_round(facts)?;
    fixtures::a_completed_league_is_decided(facts)?;
    table::adds_up(facts)?;
    table::is_in_order(facts)
}
