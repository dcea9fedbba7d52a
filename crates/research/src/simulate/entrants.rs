//! The entrants of a simulation by their names: built-in strategies, programs as `command:PROGRAM`, models as `llm:MODEL`.

use super::models::{self, Models};
use super::program_strategy::ProgramStrategy;
use crate::{Entrant, StrategySource};
use matchday_core::game::{GameEntry, strategy};
use matchday_runtime::deciders::command::PREFIX;
use matchday_runtime::deciders::player_strategy::{self, ExternalDecider, LLM, PlayerStrategy};
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
    pub models: Option<Models>,
}

#[derive(Debug, Default)]
pub struct Entrants {
    pub entrants: Vec<Entrant>,
    /// Programs and models, by name.
    pub programs: Vec<(String, Arc<ProgramStrategy>)>,
}

impl Entrants {
    /// All strategies that the game has, if none are named.
    pub fn named(
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
                    let program =
                        Arc::new(ProgramStrategy::new(&external, externals.runtime.clone()));
                    all.programs
                        .push((external.name.to_string(), Arc::clone(&program)));
                    let strategy = StrategySource::External(program);
                    all.entrants.push(Entrant {
                        name: external.name.to_string(),
                        strategy,
                    });
                }
            }
        }
        if names.is_empty() {
            all.entrants = strategy::of(game).map(Entrant::built_in).collect();
        }
        if all.entrants.len() < 2 {
            return Err("expected two or more, as in random,pattern".to_owned());
        }
        all.entrants = Entrant::with_unique_names(all.entrants);
        Ok(all)
    }
}

impl Externals {
    fn strategy(&self, name: &str) -> Result<PlayerStrategy, String> {
        let fallback = None;
        let think_time = self.think_time;
        if let Some(program) = name.strip_prefix(PREFIX) {
            return Ok(PlayerStrategy::External(ExternalDecider::program(
                program, fallback, think_time,
            )?));
        }
        if name == LLM {
            return Err("write llm:MODEL, with the name that its server knows".to_owned());
        }
        match (name.strip_prefix(models::PREFIX), &self.models) {
            (Some(model), Some(models)) => {
                let decider = models.decider(model);
                let name = name.into();
                Ok(PlayerStrategy::External(ExternalDecider {
                    name,
                    decider,
                    fallback,
                    think_time,
                }))
            }
            (Some(_), None) => Err(format!(
                "{name} needs --llm-url: the address of the model's server"
            )),
            (None, _) => player_strategy::named(name),
        }
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
