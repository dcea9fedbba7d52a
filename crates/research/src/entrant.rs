//! The entrants of a simulation: a name and a strategy.

use matchday_core::game::Game;
use matchday_core::game::strategy::StrategyEntry;
use matchday_core::game::turn::TurnSheet;
use matchday_core::protocol::MatchId;
use matchday_runtime::decider::FailureKind;
use serde_json::Value;
use std::fmt::Debug;
use std::sync::Arc;

#[derive(Debug, Clone)]
pub struct Entrant {
    /// Unique among the entrants.
    pub name: String,
    pub strategy: StrategySource,
}

#[derive(Debug, Clone)]
pub enum StrategySource {
    BuiltIn(&'static StrategyEntry),
    External(Arc<dyn ExternalStrategy>),
}

/// A strategy outside this process. It may block the calling thread.
pub trait ExternalStrategy: Debug + Send + Sync {
    /// The move, or why there is no legal one in time. The turn's deadline is not set: the implementation knows its own timeout.
    fn decide(&self, turn: TurnSheet, place: Place) -> Result<Value, FailureKind>;

    /// Of a strategy that is asked many turns at once and remembers by itself: the number of its process, which begins without a
    /// memory.
    fn remembers(&self) -> Option<u64> {
        None
    }
}

/// Which decision it is. With the player it is known again when the same is played once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Counted from 1, within the unit of work.
    pub number: u32,
    /// Counted from 1: an attempt that a model's server failed is followed by another.
    pub attempt: u32,
    /// Counted from 1, within the match.
    pub turn: u32,
}

/// The rules of a game outside this process. They may block the calling thread.
pub trait ExternalRules: Debug + Send + Sync {
    /// Tells a game where its moves lead. Returns whether it can go on; if not, the run is to be stopped.
    fn rule(&self, match_id: &MatchId, game: &mut dyn Game) -> bool;
}

impl Entrant {
    /// Whether many series at once are played sooner than one after the other.
    pub fn takes_batches(&self) -> bool {
        matches!(&self.strategy, StrategySource::External(strategy) if strategy.remembers().is_some())
    }

    pub fn built_in(entry: &'static StrategyEntry) -> Self {
        Self {
            name: entry.name.to_owned(),
            strategy: StrategySource::BuiltIn(entry),
        }
    }

    /// Numbers entrants of the same name, from the second on.
    #[must_use]
    pub fn with_unique_names(entrants: Vec<Self>) -> Vec<Self> {
        let names: Vec<String> = entrants
            .iter()
            .map(|entrant| entrant.name.clone())
            .collect();
        let numbered = entrants.into_iter().enumerate().map(|(place, entrant)| {
            let before = names
                .iter()
                .take(place)
                .filter(|name| **name == entrant.name)
                .count();
            match before {
                0 => entrant,
                more => Self {
                    name: format!("{} #{}", entrant.name, more + 1),
                    ..entrant
                },
            }
        });
        numbered.collect()
    }
}
