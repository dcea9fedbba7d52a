//! The entrants of a simulation by their names: built-in strategies, programs as `command:PROGRAM`.

use super::program_strategy::ProgramStrategy;
use crate::{Entrant, StrategySource};
use matchday_core::game::{GameEntry, strategy};
use matchday_net::client::Client;
use matchday_runtime::deciders::command::PREFIX;
use matchday_runtime::deciders::player_strategy::{self, ExternalDecider, PlayerStrategy};
use matchday_terminal::suggest::nearest;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;

/// What external strategies need.
#[derive(Debug, Clone)]
pub struct Externals {
    /// For a move.
    pub think_time: Duration,
    /// Where programs and calls run.
    pub runtime: Handle,
    /// For the servers of models.
    pub client: Client,
    /// Whether models are not asked, but play by their recorded replies.
    pub replays: bool,
}

#[derive(Debug, Default)]
pub struct Entrants {
    pub entrants: Vec<Entrant>,
    /// By name.
    pub programs: Vec<(String, Arc<ProgramStrategy>)>,
}

impl Entrants {
    /// All strategies that the game has, if none are named.
    pub fn named(
        game: &GameEntry,
        names: &[String],
        externals: &Externals,
    ) -> Result<Self, String> {
        let mut all = Self::of(game, names, externals)?;
        if names.is_empty() {
            all.entrants = strategy::of(game).map(Entrant::built_in).collect();
        }
        if all.entrants.len() < 2 {
            return Err("expected two or more, as in random,pattern".to_owned());
        }
        Ok(all)
    }

    pub(crate) fn of(
        game: &GameEntry,
        names: &[String],
        externals: &Externals,
    ) -> Result<Self, String> {
        let mut all = Self::default();
        for name in names
            .iter()
            .map(|name| name.trim())
            .filter(|name| !name.is_empty())
        {
            match externals.strategy(name)? {
                PlayerStrategy::BuiltIn(entry) => {
                    knows(game, entry.name)?;
                    all.entrants.push(Entrant::built_in(entry));
                }
                PlayerStrategy::External(external) => {
                    all.add_program(&external.name, &external, externals);
                }
            }
        }
        all.entrants = Entrant::with_unique_names(all.entrants);
        Ok(all)
    }

    pub(crate) fn add_program(
        &mut self,
        name: &str,
        external: &ExternalDecider,
        externals: &Externals,
    ) {
        let program = Arc::new(ProgramStrategy::new(external, externals.runtime.clone()));
        self.programs.push((name.to_owned(), Arc::clone(&program)));
        self.entrants.push(Entrant {
            name: name.to_owned(),
            strategy: StrategySource::External(program),
        });
    }
}

impl Externals {
    fn strategy(&self, name: &str) -> Result<PlayerStrategy, String> {
        if let Some(program) = name.strip_prefix(PREFIX) {
            return Ok(PlayerStrategy::External(ExternalDecider::program(
                program,
                None,
                self.think_time,
            )?));
        }
        if name.starts_with("llm") {
            return Err(format!(
                "{name:?}: a model is a [[player]] of `matchday experiment`"
            ));
        }
        player_strategy::named(name)
    }
}

/// Whether a strategy means something in a game; if not, which do.
pub fn knows(game: &GameEntry, strategy: &str) -> Result<(), String> {
    let named = strategy::find(strategy).map(|entry| entry.name);
    if strategy::of(game).any(|entry| Some(entry.name) == named) {
        return Ok(());
    }
    let known: Vec<_> = strategy::of(game).map(|entry| entry.name).collect();
    let hint = nearest(strategy, known.iter().copied());
    let hint = hint.map_or_else(String::new, |name| format!(" - did you mean {name:?}?"));
    let known = known.join(", ");
    Err(format!(
        "{} does not know the strategy {strategy}; choose one of: {known}{hint}",
        game.name
    ))
}
