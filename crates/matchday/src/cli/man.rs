//! `matchday man`: the manual pages, made from the help.

use super::{Usage, help};
use anyhow::{Context, Result};
use clap::Command;
use clap_mangen::Man;
use matchday_terminal::suggest::hint;
use matchday_terminal::write_bytes;
use std::path::PathBuf;
use std::process::ExitCode;

pub(super) const EXAMPLE: &str = "\
Example:
  matchday man | man -l -
  matchday man run | man -l -
  matchday man --out /usr/local/share/man/man1   (a page for each command)";

#[derive(Debug, clap::Args)]
pub(super) struct ManArgs {
    /// The command whose page is printed [default: the program's]
    command: Option<String>,
    /// Write the pages of all commands into this folder, which is made if it does not exist
    #[arg(long, value_name = "FOLDER", conflicts_with = "command")]
    out: Option<PathBuf>,
}

pub(super) fn execute(args: &ManArgs) -> Result<ExitCode> {
    let mut program = help::complete();
    program.build();
    if let Some(folder) = &args.out {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("{} cannot be made", folder.display()))?;
        let commands = program
            .get_subcommands()
            .filter(|command| command.get_name() != "help");
        for command in std::iter::once(&program).chain(commands) {
            let path = folder.join(format!("{}.1", page_name(command)));
            std::fs::write(&path, page(command)?)
                .with_context(|| format!("{} cannot be written", path.display()))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let command = match &args.command {
        None => &program,
        Some(name) => program.find_subcommand(name).ok_or_else(|| {
            let known: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
            Usage(format!(
                "there is no command {name:?}{}",
                hint(name, known.iter().copied())
            ))
        })?,
    };
    write_bytes(&page(command)?)?;
    Ok(ExitCode::SUCCESS)
}

/// `matchday-run`
fn page_name(command: &Command) -> String {
    match command.get_name() {
        "matchday" => "matchday".to_owned(),
        name => format!("matchday-{name}"),
    }
}

fn page(command: &Command) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    Man::new(command.clone().name(page_name(command))).render(&mut text)?;
    Ok(text)
}
