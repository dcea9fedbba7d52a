//! How a player chooses, as its strategy was named: one that is built in, or a mind outside with one to fall back on.

use super::command::{PREFIX, Program};
use crate::shell::Mind;
use matchday_core::player::strategy::{self, StrategyEntry};
use matchday_core::player::{Player, Settings, THINK_TIME};
use smol_str::{SmolStr, format_smolstr};
use std::sync::Arc;
use std::time::Duration;

/// The name under which a language model plays.
pub const LLM: &str = "llm";

#[derive(Debug, Clone)]
pub enum Chooser {
    BuiltIn(&'static StrategyEntry),
    Outside(Outside),
}

/// A mind, and what happens without it.
#[derive(Debug, Clone)]
pub struct Outside {
    pub name: SmolStr,
    pub mind: Arc<dyn Mind>,
    pub fallback: &'static StrategyEntry,
    pub think_time: Duration,
}

/// A strategy by name alone, as far as a name is enough: `pattern`, `command:./my_program`.
pub fn named(name: &str) -> Result<Chooser, String> {
    if let Some(program) = name.strip_prefix(PREFIX) {
        return Ok(Chooser::Outside(Outside::program(program, &strategy::RANDOM, THINK_TIME)?));
    }
    if name == LLM {
        return Err(format!(
            "{LLM} needs settings of its own: play it with `matchday player --strategy {LLM}`"
        ));
    }
    let entry = strategy::named(name).map_err(|error| format!("{error}; or {PREFIX}PROGRAM"))?;
    Ok(Chooser::BuiltIn(entry))
}

impl Outside {
    /// A program of one's own, as it stands after `command:`.
    pub fn program(
        command: &str,
        fallback: &'static StrategyEntry,
        think_time: Duration,
    ) -> Result<Self, String> {
        let program: Program =
            command.parse().map_err(|error: super::command::NoProgram| error.to_string())?;
        Ok(Self { name: format_smolstr!("{program}"), mind: Arc::new(program), fallback, think_time })
    }
}

impl Chooser {
    pub fn name(&self) -> SmolStr {
        match self {
            Self::BuiltIn(entry) => SmolStr::new_static(entry.name),
            Self::Outside(outside) => outside.name.clone(),
        }
    }

    pub fn player(&self, settings: Settings) -> Player {
        match self {
            Self::BuiltIn(entry) => Player::new(settings, entry.build()),
            Self::Outside(Outside { fallback, think_time, .. }) => {
                Player::with_outside_mind(settings, fallback.build(), *think_time)
            }
        }
    }

    pub fn mind(&self) -> Option<Arc<dyn Mind>> {
        match self {
            Self::BuiltIn(_) => None,
            Self::Outside(outside) => Some(Arc::clone(&outside.mind)),
        }
    }
}
