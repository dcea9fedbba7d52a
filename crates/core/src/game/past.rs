//! Games that a player has finished: the values on which strategies and external deciders base a move. Bounded.

use crate::protocol::messages::{Parity, Record};
use crate::protocol::{GameType, MatchId, PlayerId, RoundId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::VecDeque;
use std::sync::Arc;

/// How many games are kept one by one, with each opponent and altogether. The records count on beyond it.
pub const GAMES_MAX: usize = 1_000;

/// One game that is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastGame {
    /// By which a repeated GAME_OVER is recognised.
    pub match_id: MatchId,
    /// Unknown where no message told it.
    pub round_id: Option<RoundId>,
    /// Games of several types may follow each other in a player's memory.
    pub game_type: GameType,
    /// Unknown only where nobody ever told us.
    pub opponent_id: Option<PlayerId>,
    /// The choice that counted for us; none if we forfeited, or if the game is not one of parity.
    pub own_choice: Option<Parity>,
    /// The choice that counted for the opponent; none as above.
    pub opponent_choice: Option<Parity>,
    /// The parity of the drawn number; none if nothing was drawn, or if the game is not one of parity.
    pub drawn_parity: Option<Parity>,
    /// The result for us.
    pub outcome: Outcome,
    /// Whether somebody forfeited.
    pub technical: bool,
    /// What we found when we checked the referee's reveal.
    pub draw: DrawCheck,
    /// Kept for an external decider only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Box<GameSummary>>,
}

/// What the referee told of a game beyond its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GameSummary {
    /// The points that the match gave us and the opponent.
    pub score: [u32; 2],
    /// Why it ended so, in the referee's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The moves and the final position, in the game's own form.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
}

/// How a game ended for us.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// We have won, be it because the opponent forfeited.
    Win,
    /// Nobody has won.
    Draw,
    /// We have lost, be it because we forfeited.
    Loss,
}

/// Whether the number was drawn as the referee had promised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DrawCheck {
    /// Nothing was promised, or nothing was drawn.
    NotPromised,
    /// We have recomputed the draw.
    Proven,
    /// The referee promised and drew, and revealed nothing that we could check.
    Unproven,
    /// What the referee revealed is not what it promised.
    Broken,
}

/// A run of games, oldest first, and the record of all, those no longer kept included.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Past {
    /// Shared, because a game is one of all games and one of those with its opponent.
    games: VecDeque<Arc<PastGame>>,
    record: Record,
}

impl Past {
    /// No games at all.
    pub const NONE: &'static Self = &Self {
        games: VecDeque::new(),
        record: Record {
            wins: 0,
            losses: 0,
            draws: 0,
        },
    };

    /// The games that are still kept, oldest first.
    pub fn games(&self) -> impl DoubleEndedIterator<Item = &PastGame> + ExactSizeIterator {
        self.games.iter().map(Arc::as_ref)
    }

    /// Over all games, those no longer kept included.
    pub fn record(&self) -> Record {
        self.record
    }

    /// How many games there were, those no longer kept included.
    pub fn played(&self) -> u32 {
        let Record {
            wins,
            losses,
            draws,
        } = self.record;
        wins.saturating_add(losses).saturating_add(draws)
    }

    /// Takes in one more game; beyond [`GAMES_MAX`] the oldest is no longer kept.
    pub fn push(&mut self, game: Arc<PastGame>) {
        let count = match game.outcome {
            Outcome::Win => &mut self.record.wins,
            Outcome::Draw => &mut self.record.draws,
            Outcome::Loss => &mut self.record.losses,
        };
        *count = count.saturating_add(1);
        if self.games.is_empty() {
            // With most opponents there is one game.
            self.games.reserve_exact(1);
        }
        self.games.push_back(game);
        if self.games.len() > GAMES_MAX {
            self.games.pop_front();
        }
    }
}

impl FromIterator<PastGame> for Past {
    fn from_iter<I: IntoIterator<Item = PastGame>>(games: I) -> Self {
        let mut past = Self::default();
        games.into_iter().for_each(|game| past.push(Arc::new(game)));
        past
    }
}
