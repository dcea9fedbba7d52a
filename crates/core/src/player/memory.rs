//! A player's finished games: per opponent, and in total. Bounded.

use crate::game::past::{Past, PastGame};
use crate::protocol::{MatchId, PlayerId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How many opponents are remembered one by one; the totals count on beyond it.
pub const OPPONENTS_MAX: usize = 1_000;
/// How many ids of finished matches are kept to deduplicate GAME_OVER.
const SEEN_MAX: usize = 10_000;

/// A player's finished games.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    overall: Past,
    opponents: BTreeMap<PlayerId, Past>,
    /// The finished matches of this league.
    seen: BTreeSet<MatchId>,
}

impl History {
    /// The games of all leagues of the log.
    pub fn overall(&self) -> &Past {
        &self.overall
    }

    /// The games against one opponent of this league.
    pub fn against(&self, opponent: &PlayerId) -> &Past {
        self.opponents.get(opponent).unwrap_or(Past::NONE)
    }

    /// The opponents of this league and the games against each.
    pub fn opponents(&self) -> impl Iterator<Item = (&PlayerId, &Past)> {
        self.opponents.iter()
    }

    /// Whether its result is known, so that a repeated GAME_OVER changes nothing.
    pub fn has_finished(&self, match_id: &MatchId) -> bool {
        self.seen.contains(match_id)
    }

    /// Adds a game. Idempotent.
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
            self.opponents
                .entry(opponent.clone())
                .or_default()
                .push(Arc::clone(&game));
        }
        self.overall.push(game);
    }

    /// In another league the same ids name other agents and matches; the total history stays.
    pub(super) fn enter_league(&mut self) {
        self.opponents.clear();
        self.seen.clear();
    }
}
