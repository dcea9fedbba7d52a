//! What a player remembers of the games it has played: with each opponent, and altogether. Pure values, all bounded.

use crate::protocol::messages::{Parity, Record};
use crate::protocol::{GameType, MatchId, PlayerId, RoundId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// How many games are kept one by one, with each opponent and altogether. The records count on beyond it.
pub const GAMES_MAX: usize = 1_000;
pub const OPPONENTS_MAX: usize = 1_000;
/// How many ids of finished matches are kept, so that a result told twice counts once.
const SEEN_MAX: usize = 10_000;

/// One game that is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastGame {
    pub match_id: MatchId,
    #[serde(default)]
    pub round_id: Option<RoundId>,
    pub game_type: GameType,
    /// Unknown only where nobody ever told us.
    #[serde(default)]
    pub opponent_id: Option<PlayerId>,
    /// The choice that counted for us; none if we forfeited, or if the game is not one of parity.
    #[serde(default)]
    pub own_choice: Option<Parity>,
    #[serde(default)]
    pub opponent_choice: Option<Parity>,
    #[serde(default)]
    pub drawn_parity: Option<Parity>,
    pub outcome: Outcome,
    /// Whether somebody forfeited.
    #[serde(default)]
    pub technical: bool,
    pub draw: DrawCheck,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Win,
    Draw,
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
    pub const NONE: &'static Self =
        &Self { games: VecDeque::new(), record: Record { wins: 0, losses: 0, draws: 0 } };

    pub fn games(&self) -> impl DoubleEndedIterator<Item = &PastGame> + ExactSizeIterator {
        self.games.iter().map(Arc::as_ref)
    }

    pub fn record(&self) -> Record {
        self.record
    }

    /// How many games there were, those no longer kept included.
    pub fn played(&self) -> u32 {
        let Record { wins, losses, draws } = self.record;
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

/// All that a player remembers of its games.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    overall: Past,
    opponents: BTreeMap<PlayerId, Past>,
    /// The matches of this league whose end has been told.
    seen: BTreeSet<MatchId>,
}

impl History {
    pub fn overall(&self) -> &Past {
        &self.overall
    }

    /// The games with one opponent of this league; empty if there were none.
    pub fn against(&self, opponent: &PlayerId) -> &Past {
        self.opponents.get(opponent).unwrap_or(Past::NONE)
    }

    pub fn opponents(&self) -> impl Iterator<Item = (&PlayerId, &Past)> {
        self.opponents.iter()
    }

    pub fn has_finished(&self, match_id: &MatchId) -> bool {
        self.seen.contains(match_id)
    }

    /// Takes a game in, unless it was told before.
    pub(super) fn remember(&mut self, game: &PastGame) {
        if !self.seen.insert(game.match_id.clone()) {
            return;
        }
        if self.seen.len() > SEEN_MAX {
            self.seen.pop_first();
        }
        let game = Arc::new(game.clone());
        if let Some(opponent) = &game.opponent_id {
            if !self.opponents.contains_key(opponent) && self.opponents.len() >= OPPONENTS_MAX {
                self.opponents.pop_first();
            }
            self.opponents.entry(opponent.clone()).or_default().push(Arc::clone(&game));
        }
        self.overall.push(game);
    }

    /// In another league the same ids name other agents and other matches; what was drawn stays worth knowing.
    pub(super) fn enter_league(&mut self) {
        self.opponents.clear();
        self.seen.clear();
    }
}
