//! The results of a league, as far as statistics need them. Values only.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A league as it stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Results {
    pub game: String,
    /// In the order of the table, first place first.
    pub players: Vec<Entrant>,
    /// The matches that have a result, in any order.
    pub matches: Vec<Played>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entrant {
    pub id: String,
    pub name: String,
    /// What the player called, in games where there is something to call.
    pub calls: Option<Calls>,
}

/// How often a player called each parity, over all its matches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calls {
    pub even: u32,
    pub odd: u32,
}

impl Calls {
    pub fn total(self) -> u32 {
        self.even.saturating_add(self.odd)
    }
}

/// A match with a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Played {
    pub round: u32,
    /// Who had the first seat.
    pub a: String,
    pub b: String,
    pub outcome: Outcome,
    /// Whether somebody lost without playing. That tells of punctuality and not of strength, so such matches are counted
    /// and otherwise left out.
    pub forfeited: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    WonByA,
    WonByB,
    Drawn,
    /// Neither player showed up.
    LostByBoth,
}

/// A match that was played out, between places in the list of players.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Game {
    pub round: u32,
    pub a: usize,
    pub b: usize,
    pub verdict: Verdict,
}

/// How a match that was played out can end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    A,
    B,
    Draw,
}

impl Verdict {
    /// Points of both sides: 3 for a win, 1 for a draw.
    pub fn points(self) -> [u32; 2] {
        match self {
            Self::A => [POINTS_WIN, 0],
            Self::B => [0, POINTS_WIN],
            Self::Draw => [POINTS_DRAW; 2],
        }
    }

    /// What the first side has of the match: 1, 1/2 or 0.
    pub fn score(self) -> f64 {
        match self {
            Self::A => 1.0,
            Self::B => 0.0,
            Self::Draw => 0.5,
        }
    }
}

pub const POINTS_WIN: u32 = 3;
pub const POINTS_DRAW: u32 = 1;

/// Wins, draws and losses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wdl {
    pub wins: u64,
    pub draws: u64,
    pub losses: u64,
}

impl Wdl {
    pub fn total(self) -> u64 {
        self.wins.saturating_add(self.draws).saturating_add(self.losses)
    }

    pub fn points(self) -> u64 {
        self.wins
            .saturating_mul(POINTS_WIN.into())
            .saturating_add(self.draws.saturating_mul(POINTS_DRAW.into()))
    }

    /// Takes in one match, seen from the first side.
    pub fn count(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::A => self.wins += 1,
            Verdict::Draw => self.draws += 1,
            Verdict::B => self.losses += 1,
        }
    }

    #[must_use]
    pub fn seen_from_the_other_side(self) -> Self {
        Self { wins: self.losses, draws: self.draws, losses: self.wins }
    }
}

impl Results {
    /// The matches that were played out, of players who are in the list, against somebody else.
    pub fn games(&self) -> Vec<Game> {
        let numbered = self.players.iter().enumerate();
        let places: BTreeMap<&str, usize> =
            numbered.map(|(place, player)| (player.id.as_str(), place)).collect();
        let place = |id: &str| places.get(id).copied();
        let played = self.matches.iter().filter(|played| !played.forfeited);
        let games = played.filter_map(|played| {
            let verdict = match played.outcome {
                Outcome::WonByA => Verdict::A,
                Outcome::WonByB => Verdict::B,
                Outcome::Drawn => Verdict::Draw,
                Outcome::LostByBoth => return None,
            };
            Some(Game { round: played.round, a: place(&played.a)?, b: place(&played.b)?, verdict })
        });
        games.filter(|game| game.a != game.b).collect()
    }
}
