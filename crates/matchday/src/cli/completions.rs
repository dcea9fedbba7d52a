//! `matchday completions`: what a shell needs to complete commands and options.

use super::help;
use clap_complete::Shell;
use matchday_terminal::write_bytes;
use std::process::ExitCode;

pub(super) const EXAMPLE: &str = "\
Example:
  matchday completions bash > ~/.local/share/bash-completion/completions/matchday
  matchday completions zsh > ~/.zfunc/_matchday
  matchday completions fish > ~/.config/fish/completions/matchday.fish
  matchday completions powershell >> $PROFILE";

#[derive(Debug, clap::Args)]
pub(super) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(super) fn execute(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut help::complete(), "matchday", &mut script);
    write_bytes(&script)?;
    Ok(ExitCode::SUCCESS)
}
