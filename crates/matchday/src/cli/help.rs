//! The command line as a whole: `--help-all`, and its errors in the words of the others.

use super::{Cli, notice};
use clap::error::ErrorKind;
use clap::{Arg, Command, CommandFactory, FromArgMatches};
use std::ffi::OsString;
use std::process::ExitCode;

/// Shows every option of a command, not only those of every day.
const HELP_ALL: &str = "--help-all";

/// The command line of this process, or the exit code of a process that has shown its help or its error.
pub(super) fn parse() -> Result<Cli, ExitCode> {
    let given: Vec<OsString> = std::env::args_os().collect();
    let wants_all = given.iter().any(|argument| argument == HELP_ALL);
    let given =
        given.into_iter().map(|argument| if argument == HELP_ALL { "--help".into() } else { argument });
    let command = if wants_all { complete() } else { with_hint(Cli::command()) };
    let parsed = command.try_get_matches_from(given);
    parsed.and_then(|matches| Cli::from_arg_matches(&matches)).map_err(|error| refuse(&error))
}

/// With every option shown.
pub(super) fn complete() -> Command {
    reveal(Cli::command())
}

fn reveal(command: Command) -> Command {
    let shown = |arg: Arg| match arg.get_help_heading() {
        Some(_) => arg.hide(false),
        None => arg,
    };
    command.mut_args(shown).mut_subcommands(reveal)
}

/// Says below the help of a command that it has more options.
fn with_hint(command: Command) -> Command {
    let command = command.mut_subcommands(with_hint);
    if !command.get_arguments().any(|arg| arg.get_help_heading().is_some() && arg.is_hide_set()) {
        return command;
    }
    let example = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    command
        .after_help(format!("{example}\n\nThese are the options of every day; {HELP_ALL} shows all of them."))
}

/// Prints the help that was asked for, or the error as one line: what is wrong, what was probably meant, what to do.
fn refuse(error: &clap::Error) -> ExitCode {
    let is_help = matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    if is_help {
        let _ = error.print();
        return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
    }
    let text = error.to_string();
    let mut said: Vec<&str> = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if line.starts_with("Usage:") || line.starts_with("For more information") {
            break;
        }
        said.push(line);
    }
    let said = said.join(" ").replace(" tip: ", " - ");
    let said = said.strip_prefix("error: ").unwrap_or(&said);
    notice(&format!("{said}; `{} --help` shows what there is", called(&text)));
    ExitCode::from(2)
}

/// The command that was called, as its usage names it.
fn called(text: &str) -> String {
    let usage = text.lines().find_map(|line| line.strip_prefix("Usage: ")).unwrap_or("matchday");
    let words = usage.split(' ').take_while(|word| word.chars().all(|c| c.is_ascii_lowercase()));
    words.collect::<Vec<_>>().join(" ")
}
