//! `--program-env` of the commands that have no configuration file: which variables programs of others are given.

use super::Usage;
use super::settings::PROGRAM_ENV;
use clap::Args;
use matchday_runtime::deciders::command;

#[derive(Debug, Args)]
pub(super) struct ProgramEnvArg {
    /// Environment variables that programs of yours are given beyond PATH, HOME, LANG and the like, with commas
    #[arg(long, value_name = "NAMES", env = PROGRAM_ENV.variable())]
    program_env: Option<String>,
}

impl ProgramEnvArg {
    /// Has programs be given these variables from now on.
    pub(super) fn apply(&self) -> Result<(), Usage> {
        let Some(text) = self.program_env.as_deref().filter(|text| !text.is_empty()) else {
            return Ok(());
        };
        let names = PROGRAM_ENV.parse(text).ok_or_else(|| {
            let expected = PROGRAM_ENV.values.expected();
            Usage(format!(
                "--{}: expected {expected}, got {text:?}",
                PROGRAM_ENV.name()
            ))
        })?;
        command::hand_on(names);
        Ok(())
    }
}
