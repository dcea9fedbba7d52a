//! `matchday new`: a starter agent in a folder of its own.

use super::Usage;
use crate::starter::{File, Language};
use crate::view::say;
use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use matchday_core::protocol::DisplayName;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(super) const EXAMPLE: &str = "\
Example:
  matchday new player --lang python ada --name Ada
  cd ada && python3 agent.py";

#[derive(Debug, Args)]
pub(super) struct NewArgs {
    #[command(subcommand)]
    role: Role,
}

#[derive(Debug, Subcommand)]
enum Role {
    /// Write a player: complete, with a strategy to fill in, a test and a README
    #[command(after_help = EXAMPLE)]
    Player(PlayerArgs),
}

#[derive(Debug, Args)]
struct PlayerArgs {
    /// In which language
    #[arg(long, value_enum, value_name = "LANGUAGE")]
    lang: Language,
    /// The folder to write it to; it must be empty, or not be there yet
    dir: PathBuf,
    /// What the player is called in the table, 1 to 50 characters
    #[arg(long, value_name = "NAME")]
    name: String,
}

pub(super) fn execute(args: NewArgs) -> Result<ExitCode> {
    let Role::Player(PlayerArgs { lang, dir, name }) = args.role;
    let name =
        DisplayName::parse(&name).map_err(|broken| Usage(format!("--name: {broken}, got {name:?}")))?;
    make_room(&dir)?;
    write(&dir, &lang.player(&name))?;
    let ((run, test), strategy, dir) = (lang.commands(), lang.strategy(), dir.display());
    say(format!(
        "A player in {dir}. Next:
  cd {dir}
  {test:<28} runs its tests
  matchday check player --wait waits for it to be started, and checks it
  {run:<28} starts it
What to change first: {strategy}. The rest is in README.md."
    ));
    Ok(ExitCode::SUCCESS)
}

/// The folder, if it can be written to without losing anything.
fn make_room(dir: &Path) -> Result<()> {
    let cannot = || format!("cannot use {}", dir.display());
    match fs::read_dir(dir) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => {
                let why = "it is not empty, and nothing in it will be overwritten: name another folder";
                Err(Usage(format!("{}: {why}", cannot())).into())
            }
        },
        Err(error) if error.kind() == ErrorKind::NotFound => fs::create_dir_all(dir).with_context(cannot),
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            Err(Usage(format!("{}: it is a file: name a folder", cannot())).into())
        }
        Err(error) => Err(error).with_context(cannot),
    }
}

fn write(dir: &Path, files: &[File]) -> Result<()> {
    for File { path, text } in files {
        let path = dir.join(path);
        let write = || {
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::write(&path, text)
        };
        write().with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}
