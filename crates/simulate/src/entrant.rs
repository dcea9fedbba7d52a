//! Who plays: a name, and how it chooses.

use matchday_core::player::TurnSheet;
use matchday_core::player::strategy::StrategyEntry;
use serde_json::Value;
use std::fmt::Debug;
use std::sync::Arc;

#[derive(Debug, Clone)]
pub struct Entrant {
    /// As it is shown; no two are alike.
    pub name: String,
    pub chooser: Chooser,
}

#[derive(Debug, Clone)]
pub enum Chooser {
    BuiltIn(&'static StrategyEntry),
    Outside(Arc<dyn Oracle>),
}

/// A mind outside. It may take its time: the thread that asks waits for it.
pub trait Oracle: Debug + Send + Sync {
    /// The move, or `None` if it did not decide in time or on no move at all. The sheet names no deadline that means
    /// anything: whoever asks a mind knows how long it may think.
    fn decide(&self, turn: TurnSheet) -> Option<Value>;
}

impl Entrant {
    pub fn built_in(entry: &'static StrategyEntry) -> Self {
        Self { name: entry.name.to_owned(), chooser: Chooser::BuiltIn(entry) }
    }

    /// Gives those of the same name a number each, from the second on.
    #[must_use]
    pub fn told_apart(entrants: Vec<Self>) -> Vec<Self> {
        let names: Vec<String> = entrants.iter().map(|entrant| entrant.name.clone()).collect();
        let numbered = entrants.into_iter().enumerate().map(|(place, entrant)| {
            let before = names.iter().take(place).filter(|name| **name == entrant.name).count();
            match before {
                0 => entrant,
                more => Self { name: format!("{} #{}", entrant.name, more + 1), ..entrant },
            }
        });
        numbered.collect()
    }
}
