//! The command line as a whole: the page of all commands in groups, `--help-all`, `help TOPIC`, and errors in one line.

use super::{Cli, manual, notice};
use clap::error::ErrorKind;
use clap::{Arg, Command, CommandFactory, FromArgMatches};
use std::ffi::OsString;
use std::process::ExitCode;

/// Shows every option of a command, not only those of every day.
const HELP_ALL: &str = "--help-all";

/// The width of a terminal that nobody has made wider.
const COLUMNS: usize = 80;

/// The command line of this process, or the exit code of a process that has shown its help or its error.
pub(super) fn parse() -> Result<Cli, ExitCode> {
    let given: Vec<OsString> = std::env::args_os().collect();
    if let Some(code) = manual_page(&given) {
        return Err(code);
    }
    let wants_all = given.iter().any(|argument| argument == HELP_ALL);
    let given = given.into_iter().map(|argument| {
        if argument == HELP_ALL {
            "--help".into()
        } else {
            argument
        }
    });
    let command = if wants_all {
        complete()
    } else {
        everyday(Cli::command())
    };
    let parsed = command.try_get_matches_from(given);
    parsed
        .and_then(|matches| Cli::from_arg_matches(&matches))
        .map_err(|error| refuse(&error))
}

/// Shows the page of the manual, or the list of topics, if the words ask for that. `help COMMAND` is not this.
fn manual_page(given: &[OsString]) -> Option<ExitCode> {
    let commands: Vec<&str> = GROUPS
        .iter()
        .flat_map(|(_, names)| names.iter().copied())
        .collect();
    match given {
        [_, help] if help == "help" => {
            let topics = grouped(&manual::topics(&commands));
            matchday_terminal::say(format!(
                "Usage: matchday help TOPIC\n\n{topics}\n\n`matchday help COMMAND` is the help of a command, `matchday --help` lists them."
            ));
            Some(ExitCode::SUCCESS)
        }
        [_, help, topic] if help == "help" => {
            let topic = topic.to_string_lossy();
            let is_other = topic.starts_with('-') || commands.contains(&topic.as_ref());
            (!is_other).then(|| manual::show(&topic, &commands))
        }
        _ => None,
    }
}

/// The commands by what a person wants to do.
const GROUPS: [(&str, &[&str]); 7] = [
    ("Try", &["run", "watch", "games"]),
    (
        "Write an agent",
        &["new", "check", "practice", "connect", "seat"],
    ),
    (
        "Run a league",
        &[
            "manager",
            "referee",
            "player",
            "start",
            "status",
            "standings",
            "schedule",
            "stats",
            "admin",
            "roster",
        ],
    ),
    (
        "Many leagues",
        &["serve", "league", "season", "course", "cluster"],
    ),
    (
        "Afterwards",
        &["verify", "replay", "report", "export", "dashboard"],
    ),
    ("Research", &["simulate", "experiment"]),
    (
        "Set-up",
        &[
            "doctor",
            "config",
            "backup",
            "health",
            "schema",
            "completions",
            "man",
        ],
    ),
];

/// Shown by `--help` of the program, and on its manual page.
pub(super) const EXAMPLES: &str = "\
Examples:
  matchday run                                play a whole league here
  matchday new player --lang python my_agent  write an agent to begin with
  matchday check player --wait                check the agent against the rules";

/// A line for each group, or a few, so that all fit on a screen.
fn grouped(groups: &[(&str, Vec<String>)]) -> String {
    let width = groups
        .iter()
        .map(|(group, _)| group.len())
        .max()
        .unwrap_or_default();
    let groups = groups.iter().flat_map(|(group, names)| {
        let mut lines = vec![format!("  {group:width$}  ")];
        for (place, name) in names.iter().enumerate() {
            let comma = if place + 1 < names.len() { ", " } else { "" };
            let word = format!("{name}{comma}");
            match lines.last_mut() {
                Some(line) if line.len() + word.trim_end().len() <= COLUMNS => line.push_str(&word),
                _ => lines.push(format!("{:indent$}{word}", "", indent = width + 4)),
            }
        }
        lines.into_iter().map(|line| line.trim_end().to_owned())
    });
    groups.collect::<Vec<_>>().join("\n")
}

/// The names of the commands alone.
fn short_page() -> String {
    let about = Cli::command()
        .get_about()
        .map(ToString::to_string)
        .unwrap_or_default();
    let groups = GROUPS.map(|(group, names)| {
        (
            group,
            names.iter().map(ToString::to_string).collect::<Vec<_>>(),
        )
    });
    let groups = grouped(&groups);
    format!(
        "{about}\n\nUsage: matchday COMMAND [OPTIONS]\n\n{groups}\n\n{EXAMPLES}\n\n\
         `matchday COMMAND --help` explains one command, `matchday {HELP_ALL}` lists all.\n\
         `matchday help` lists the pages of the manual.\n"
    )
}

/// The same with a line for each command.
fn full_page(command: &Command) -> String {
    let about = command
        .get_about()
        .map(ToString::to_string)
        .unwrap_or_default();
    let names = GROUPS.iter().flat_map(|(_, names)| names.iter());
    let width = names.map(|name| name.len()).max().unwrap_or_default();
    let mut page = format!("{about}\n\nUsage: matchday COMMAND [OPTIONS]\n");
    for (group, names) in GROUPS {
        page.push_str(&format!("\n{group}:\n"));
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            page.push_str(&format!("  {name:width$}  {about}\n"));
        }
    }
    page.push_str("\nOptions:\n  -h, --help     Print help\n  -V, --version  Print version\n");
    page.push_str(&format!("\n{EXAMPLES}\n"));
    page
}

/// The program with every option shown.
pub(super) fn complete() -> Command {
    let command = reveal(Cli::command());
    let page = full_page(&command);
    command.override_help(page)
}

fn reveal(command: Command) -> Command {
    let shown = |arg: Arg| {
        let is_of_a_group = arg.get_help_heading().is_some();
        let arg = if is_of_a_group { arg.hide(false) } else { arg };
        match arg.get_long_help().cloned() {
            Some(full) => arg.help(full).long_help(None::<&str>),
            None => arg,
        }
    };
    command.mut_args(shown).mut_subcommands(reveal)
}

/// The program with the options of every day.
fn everyday(command: Command) -> Command {
    command
        .mut_subcommands(with_hint)
        .override_help(short_page())
}

/// Says below the help of a command that it has more options.
fn with_hint(command: Command) -> Command {
    let command = command
        .mut_subcommands(with_hint)
        .mut_args(|arg| arg.long_help(None::<&str>));
    if !command
        .get_arguments()
        .any(|arg| arg.get_help_heading().is_some() && arg.is_hide_set())
    {
        return command;
    }
    let example = command
        .get_after_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    command.after_help(format!(
        "{example}\n\nCommon options; {HELP_ALL} lists all."
    ))
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
    notice(&format!("{said}; see `{} --help`", called(&text)));
    ExitCode::from(2)
}

/// The command that was called, as its usage names it.
fn called(text: &str) -> String {
    let usage = text
        .lines()
        .find_map(|line| line.strip_prefix("Usage: "))
        .unwrap_or("matchday");
    let words = usage
        .split(' ')
        .take_while(|word| word.chars().all(|c| c.is_ascii_lowercase()));
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_stands_in_one_group() {
        let mut grouped: Vec<_> = GROUPS
            .iter()
            .flat_map(|(_, names)| names.iter().copied())
            .collect();
        let command = Cli::command();
        let mut all: Vec<_> = command.get_subcommands().map(Command::get_name).collect();
        grouped.sort_unstable();
        all.sort_unstable();
        assert_eq!(grouped, all);
    }

    #[test]
    fn the_page_of_the_program_fits_on_a_screen() {
        let page = short_page();
        assert!(page.lines().count() <= 24, "{page}");
        assert!(page.lines().all(|line| line.len() <= COLUMNS), "{page}");
    }
}
