//! `matchday new`: writes a starter agent into a new folder.

use super::{Usage, games};
use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use matchday_author::starter::{Commands, File, Language, Options, System};
use matchday_core::protocol::{DisplayName, GameType};
use matchday_terminal::say;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(super) const EXAMPLE: &str = "\
Example:
  matchday new player --lang python ada --name Ada
  cd ada && python3 agent.py
  matchday new player --lang go bob --name Bob --game connect_four
  matchday new player --lang python eve --name Eve --game openspiel_chess --llm";

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
    /// The folder to write to; it must be empty or new
    dir: PathBuf,
    /// The player's name in the table, 1 to 50 characters
    #[arg(long, value_name = "NAME")]
    name: String,
    #[arg(long, default_value = "even_odd", value_name = "NAME", value_parser = game_type, help = game_help())]
    game: GameType,
    /// Let a language model choose the moves (Python only); the README says how to name its server
    #[arg(long)]
    llm: bool,
}

fn game_help() -> String {
    format!(
        "{}; or the name of any other game of your league",
        games::help()
    )
}

/// Any game: what its league's referees know is theirs to say.
fn game_type(name: &str) -> Result<GameType, String> {
    let is_plain =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
    if !name.is_empty() && name.len() <= 64 && name.chars().all(is_plain) {
        Ok(GameType::new(name))
    } else {
        Err("expected lower-case letters, digits and _, up to 64 of them".to_owned())
    }
}

pub(super) fn execute(args: NewArgs) -> Result<ExitCode> {
    let Role::Player(PlayerArgs {
        lang,
        dir,
        name,
        game,
        llm,
    }) = args.role;
    let name = DisplayName::parse(&name)
        .map_err(|broken| Usage(format!("--name: {broken}, got {name:?}")))?;
    if llm && !lang.has_model_strategy() {
        let why = "the starter that asks a model is written in Python: --lang python, or `matchday player --strategy llm`";
        return Err(Usage(format!("--llm: {why}")).into());
    }
    make_room(&dir)?;
    write(
        &dir,
        &lang.player(&Options {
            name: &name,
            game: &game,
            asks_model: llm,
            system: System::HERE,
        }),
    )?;
    let check = match games::known(game.as_str()) {
        Ok(known) if known.name == "even_odd" => "matchday check player --wait".to_owned(),
        Ok(known) => format!("matchday check player --wait --game {}", known.name),
        Err(_) => "matchday check player --wait (knows the built-in games only)".to_owned(),
    };
    let Commands { install, run, test } = lang.commands(System::HERE);
    let strategy = lang.strategy();
    let dir = dir.display();
    let install = install.map_or_else(String::new, |install| {
        format!("\n  {install:<28} fetches what it needs, once")
    });
    say(format!(
        "A player in {dir}. Next:
  cd {dir}{install}
  {test:<28} runs its tests
  {check:<28} waits for the player, and checks it
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
                let why =
                    "it is not empty, and nothing in it will be overwritten: name another folder";
                Err(Usage(format!("{}: {why}", cannot())).into())
            }
        },
        Err(error) if error.kind() == ErrorKind::NotFound => {
            fs::create_dir_all(dir).with_context(cannot)
        }
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
