//! The results of a league, as input of the statistics. Values only.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Results {
    pub game: String,
    /// In the order of the standings.
    pub players: Vec<Entrant>,
    /// The decided matches, in any order.
    pub matches: Vec<Played>,
    /// Of a ladder, whose players have pairing ratings besides.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ladder: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entrant {
    /// In the standings, from 1: level players share it.
    pub rank: u32,
    pub id: String,
    pub name: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Played {
    pub round: u32,
    /// The player in the first seat.
    pub a: String,
    pub b: String,
    pub outcome: MatchOutcome,
    /// Forfeited matches are counted, and otherwise left out: they say nothing about strength.
    pub forfeited: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MatchOutcome {
    WonByA,
    WonByB,
    Drawn,
    LostByBoth,
}

/// A match that was not forfeited, between indices into the list of players.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Game {
    pub round: u32,
    pub a: usize,
    pub b: usize,
    pub verdict: Verdict,
}

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

    /// The score of the first side: 1, 1/2 or 0.
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

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wdl {
    pub wins: u64,
    pub draws: u64,
    pub losses: u64,
}

impl Wdl {
    pub fn total(self) -> u64 {
        self.wins
            .saturating_add(self.draws)
            .saturating_add(self.losses)
    }

    pub fn points(self) -> u64 {
        self.wins
            .saturating_mul(POINTS_WIN.into())
            .saturating_add(self.draws.saturating_mul(POINTS_DRAW.into()))
    }

    /// Counts a match from the first side's point of view.
    pub fn count(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::A => self.wins += 1,
            Verdict::Draw => self.draws += 1,
            Verdict::B => self.losses += 1,
        }
    }

    #[must_use]
    pub fn reversed(self) -> Self {
        Self {
            wins: self.losses,
            draws: self.draws,
            losses: self.wins,
        }
    }
}

impl Results {
    /// The matches that were not forfeited, between different players of the list.
    pub fn games(&self) -> Vec<Game> {
        let numbered = self.players.iter().enumerate();
        let places: BTreeMap<&str, usize> = numbered
            .map(|(place, player)| (player.id.as_str(), place))
            .collect();
        let place = |id: &str| places.get(id).copied();
        let played = self.matches.iter().filter(|played| !played.forfeited);
        let games = played.filter_map(|played| {
            let verdict = match played.outcome {
                MatchOutcome::WonByA => Verdict::A,
                MatchOutcome::WonByB => Verdict::B,
                MatchOutcome::Drawn => Verdict::Draw,
                MatchOutcome::LostByBoth => return None,
            };
            Some(Game {
                round: played.round,
                a: place(&played.a)?,
                b: place(&played.b)?,
                verdict,
            })
        });
        games.filter(|game| game.a != game.b).collect()
    }
}
