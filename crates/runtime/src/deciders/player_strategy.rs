//! The strategy of a player by its name: one that is built in, or an external decider with a fallback.

use super::command::{PREFIX, ProgramError};
use super::llm::Llm;
use super::program_decider::ProgramDecider;
use crate::Decider;
use matchday_core::game::strategy;
use matchday_core::game::strategy::StrategyEntry;
use matchday_core::player::{Player, PlayerSettings, THINK_TIME};
use matchday_core::protocol::messages::PlayerMeta;
use matchday_core::protocol::{DisplayName, NAME_CHARS_MAX};
use smol_str::{SmolStr, format_smolstr};
use std::sync::Arc;
use std::time::Duration;

/// The name under which a language model plays.
pub const LLM: &str = "llm";

#[derive(Debug, Clone)]
pub enum PlayerStrategy {
    BuiltIn(&'static StrategyEntry),
    External(ExternalDecider),
}

/// The setting of those who fall back on nothing.
pub const NO_FALLBACK: &str = "none";

/// The built-in strategy of a setting, or `None` for [`NO_FALLBACK`].
pub fn fallback(name: &str) -> Result<Option<&'static StrategyEntry>, String> {
    if name == NO_FALLBACK {
        return Ok(None);
    }
    let entry = strategy::named(name);
    entry
        .map(Some)
        .map_err(|error| format!("{error}, or {NO_FALLBACK}"))
}

/// An external decider, and the strategy to fall back on.
#[derive(Debug, Clone)]
pub struct ExternalDecider {
    pub name: SmolStr,
    pub decider: Arc<dyn Decider>,
    /// `None`: who does not decide forfeits.
    pub fallback: Option<&'static StrategyEntry>,
    pub think_time: Duration,
}

/// A strategy that needs no more than its name: `pattern`, `command:./my_program`.
pub fn named(name: &str) -> Result<PlayerStrategy, String> {
    if let Some(program) = name.strip_prefix(PREFIX) {
        return Ok(PlayerStrategy::External(ExternalDecider::program(
            program,
            Some(&strategy::RANDOM),
            THINK_TIME,
        )?));
    }
    if name == LLM {
        return Err(format!(
            "{LLM} needs settings of its own: name a plan with a [[player]] by --plan, or use `matchday player --strategy {LLM}`"
        ));
    }
    let entry = strategy::named(name).map_err(|error| format!("{error}; or {PREFIX}PROGRAM"))?;
    Ok(PlayerStrategy::BuiltIn(entry))
}

impl ExternalDecider {
    /// A language model under the name of the model.
    pub fn model(
        model: &str,
        llm: Llm,
        fallback: Option<&'static StrategyEntry>,
        think_time: Duration,
    ) -> Self {
        Self {
            name: format_smolstr!("{}{model}", PlayerMeta::MODEL_PREFIX),
            decider: Arc::new(llm),
            fallback,
            think_time,
        }
    }

    /// A program, as it is written after `command:`.
    pub fn program(
        command: &str,
        fallback: Option<&'static StrategyEntry>,
        think_time: Duration,
    ) -> Result<Self, String> {
        let program: ProgramDecider = command
            .parse()
            .map_err(|error: ProgramError| error.to_string())?;
        Ok(Self {
            name: format_smolstr!("{program}"),
            decider: Arc::new(program),
            fallback,
            think_time,
        })
    }
}

impl PlayerStrategy {
    pub fn name(&self) -> SmolStr {
        match self {
            Self::BuiltIn(entry) => SmolStr::new_static(entry.name),
            Self::External(external) => external.name.clone(),
        }
    }

    /// What it says of itself in a league: a name that is built in, or its model. The words of a command are nobody's business.
    pub fn announced(&self) -> Option<DisplayName> {
        let name = self.name();
        let is_told = match self {
            Self::BuiltIn(_) => true,
            Self::External(_) => name.starts_with(PlayerMeta::MODEL_PREFIX),
        };
        let name: String = name.chars().take(NAME_CHARS_MAX).collect();
        DisplayName::parse(&name).ok().filter(|_| is_told)
    }

    pub fn player(&self, settings: PlayerSettings) -> Player {
        match self {
            Self::BuiltIn(entry) => Player::new(settings, entry.build()),
            Self::External(ExternalDecider {
                fallback,
                think_time,
                ..
            }) => {
                let standby = fallback.unwrap_or(&strategy::RANDOM).build();
                let player = Player::with_external_decider(settings, standby, *think_time);
                if fallback.is_some() {
                    player
                } else {
                    player.without_fallback()
                }
            }
        }
    }

    pub fn decider(&self) -> Option<Arc<dyn Decider>> {
        match self {
            Self::BuiltIn(_) => None,
            Self::External(external) => Some(Arc::clone(&external.decider)),
        }
    }
}
