//! The rules a league is held to, written from the rule text and on plain values, so that they share no code, and no
//! mistake, with what they check.

pub mod blame;
pub mod conduct;
pub mod course;
pub mod draw;
pub mod fixtures;
pub mod ladder;
pub mod ledger;
pub mod ownership;
pub mod play_off;
pub mod signed;
pub mod table;

use super::failure::Fault;
use matchday_core::protocol::{MatchId, PlayerId, RoundId};

/// What a league says of itself, in plain words.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// All that have registered.
    pub players: Vec<PlayerId>,
    /// All matches of the league, once it has begun.
    pub fixtures: Vec<Fixture>,
    /// Best first.
    pub table: Vec<Row>,
    /// Whether the league says that it is over.
    pub completed: bool,
    /// What the fixtures must follow.
    pub course: Course,
}

/// What kind of league it is, and the rounds that were drawn from results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Course {
    /// By which the fixtures are checked.
    pub kind: Kind,
    /// How many matches a pairing has.
    pub legs: usize,
    /// How often a level tie is played again.
    pub replays: usize,
    /// In their order.
    pub rounds: Vec<Drawn>,
    /// Winner and loser by lot.
    pub lots: Vec<(PlayerId, PlayerId)>,
    /// As the league names it; `None` before its end.
    pub champion: Option<PlayerId>,
    /// Whether those who are level for the first place play it out.
    pub play_off: bool,
}

/// The format of a league, as far as the checks differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Everyone so often with everyone.
    All(usize),
    /// By points so far, never twice the same pair.
    Swiss,
    /// Losers are out.
    Knockout,
    /// Groups, and then a knockout of the best of each.
    Groups,
    /// By rating, without an end; `ladder` holds its log to the rules.
    Ladder,
}

/// A round that was drawn from results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawn {
    /// Counted from 1.
    pub round: RoundId,
    /// Which pairing it belongs to.
    pub stage: u32,
    /// Whether the round is part of the group stage.
    pub in_groups: bool,
    /// Who sits out.
    pub byes: Vec<PlayerId>,
    /// Whether the agents have been told.
    pub announced: bool,
}

impl Course {
    /// What leagues are unless someone says otherwise.
    pub fn usual() -> Self {
        let rounds = Vec::new();
        let lots = Vec::new();
        let champion = None;
        Self {
            kind: Kind::All(1),
            legs: 1,
            replays: 0,
            rounds,
            lots,
            champion,
            play_off: false,
        }
    }
}

/// A match as the league tells it.
#[derive(Debug, Clone, PartialEq)]
pub struct Fixture {
    /// As all agents name it.
    pub id: MatchId,
    /// The round in which the match is played.
    pub round: RoundId,
    /// PLAYER_A of the messages.
    pub a: PlayerId,
    /// PLAYER_B of the messages.
    pub b: PlayerId,
    /// `None` until it is decided.
    pub outcome: Option<Outcome>,
    /// The series of the play-off that it belongs to, if any.
    pub series: Option<u32>,
}

/// One line of the table, as the league shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// From 1.
    pub rank: u32,
    /// The player of this line.
    pub player: PlayerId,
    /// Decided matches.
    pub played: u32,
    /// Wins, including those by forfeit.
    pub wins: u32,
    /// Matches that nobody won, forfeits by both apart.
    pub draws: u32,
    /// Losses, including technical ones.
    pub losses: u32,
    /// How many of `losses` were forfeits.
    pub technical_losses: u32,
    /// 3 for a win, 1 for a draw.
    pub points: u32,
}

/// How a match ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// By this player, in play.
    Won(PlayerId),
    /// In play, by nobody.
    Drawn,
    /// The other player did not play.
    Forfeited {
        /// The player that did play.
        winner: PlayerId,
    },
    /// Neither player played.
    BothForfeited,
}

impl Fixture {
    /// Whether the player is A or B.
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
    table::is_in_order(facts)?;
    play_off::is_played(facts)
}
