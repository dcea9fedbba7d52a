//! `matchday games`: what can be played, by which rules, and which strategies are built in. Also how the other commands
//! read the name of a game.

use super::Usage;
use super::program_env_arg::ProgramEnvArg;
use anyhow::Result;
use clap::Args;
use matchday_core::game::prospect::Prospect;
use matchday_core::game::{self, GAMES, GameEntry, Seat, Turn, strategy};
use matchday_core::protocol::GameType;
pub(super) use matchday_research::simulate::entrants::knows;
use matchday_runtime::deciders::game_program::{GameProgram, ResourceLimits};
use matchday_terminal::suggest::nearest;
use matchday_terminal::{headed, say, table};
use serde::Serialize;
use serde_json::{Value, json};
use std::process::ExitCode;

pub(super) const EXAMPLE: &str = "\
Example:
  matchday games
  matchday games connect_four
  matchday games connect_four --solve 3342      (what each move leads to, after these columns)
  matchday games nim --solve '[{\"heap\":3,\"take\":7}]'
  matchday games --json | jq '.games[].game_type'";

#[derive(Debug, Args)]
pub(super) struct GamesArgs {
    /// The game whose rules are to be shown [default: list all games]
    #[arg(value_name = "GAME")]
    name: Option<String>,
    /// Show what each move leads to after these moves: digits, or a JSON array of moves
    #[arg(long, value_name = "POSITION", requires = "name")]
    solve: Option<String>,
    /// Print as JSON, rules included
    #[arg(long)]
    json: bool,
}

pub(super) fn execute(args: GamesArgs) -> Result<ExitCode> {
    let one = args.name.as_deref().map(known).transpose().map_err(Usage)?;
    if let (Some(game), Some(position)) = (one, &args.solve) {
        let solved = solved(game, position).map_err(|why| Usage(format!("--solve: {why}")))?;
        say(if args.json {
            serde_json::to_string_pretty(&solved)?
        } else {
            solved.for_people()
        });
        return Ok(ExitCode::SUCCESS);
    }
    let shown: Vec<&GameEntry> = match one {
        Some(game) => vec![game],
        None => GAMES.iter().collect(),
    };
    say(match (args.json, one) {
        (true, _) => {
            let games: Vec<Value> = shown.into_iter().map(in_json).collect();
            serde_json::to_string_pretty(&json!({ "games": games }))?
        }
        (false, Some(game)) => format!("{}\n{}", game.rules_with_messages(), strategies_of(game)),
        (false, None) => list(&shown),
    });
    Ok(ExitCode::SUCCESS)
}

/// What each move leads to, as the page of a player has it that tells why it lost.
#[derive(Debug, Serialize)]
struct Solved {
    to_move: &'static str,
    moves: Vec<SolvedMove>,
}

#[derive(Debug, Serialize)]
struct SolvedMove {
    #[serde(rename = "move")]
    made: Value,
    leads_to: Prospect,
}

fn solved(game: &GameEntry, position: &str) -> Result<Solved, String> {
    let moves: Vec<Value> = if position.bytes().all(|letter| letter.is_ascii_digit()) {
        let digits = position.bytes().map(|digit| json!(digit - b'0'));
        digits.collect()
    } else {
        serde_json::from_str(position)
            .map_err(|_| format!("expected digits or a JSON array of moves, got {position:?}"))?
    };
    let mut play = (game.new)();
    for (number, made) in (1..).zip(moves) {
        let Turn::One(seat) = play.turn() else {
            return Err(format!(
                "there is no move {number}: {}",
                over(game, play.turn())
            ));
        };
        play.play(seat, &made)
            .map_err(|illegal| format!("move {number}: {illegal}"))?;
    }
    let prospects = play.prospects();
    let (Turn::One(seat), false) = (play.turn(), prospects.is_empty()) else {
        return Err(over(game, play.turn()));
    };
    let moves = prospects
        .into_iter()
        .map(|(made, leads_to)| SolvedMove { made, leads_to });
    Ok(Solved {
        to_move: match seat {
            Seat::A => "A",
            Seat::B => "B",
        },
        moves: moves.collect(),
    })
}

fn over(game: &GameEntry, turn: Turn) -> String {
    match turn {
        Turn::Over => "the game is over".to_owned(),
        _ => format!("{} cannot be solved", game.name),
    }
}

impl Solved {
    fn for_people(&self) -> String {
        let rows: Vec<Vec<String>> = self
            .moves
            .iter()
            .map(|solved| {
                let leads_to = match solved.leads_to {
                    Prospect::Won => "wins",
                    Prospect::Drawn => "holds the draw",
                    Prospect::Lost => "loses",
                    Prospect::Open => "not decided, as far as the search reaches",
                };
                vec![solved.made.to_string(), leads_to.to_owned()]
            })
            .collect();
        let best = self.moves.iter().map(|solved| solved.leads_to).max();
        let outlook = match best {
            Some(Prospect::Won) => "can force a win",
            Some(Prospect::Drawn) => "can hold the draw",
            Some(Prospect::Lost) => "is lost if the opponent makes no mistake",
            Some(Prospect::Open) | None => "may still get anything, as far as the search reaches",
        };
        format!(
            "{}\n\nPlayer {}, who is to move, {outlook}.",
            headed(&table(&["MOVE", "WITH BEST PLAY IT"], &rows)),
            self.to_move
        )
    }
}

fn list(games: &[&GameEntry]) -> String {
    let width = games.iter().map(|game| game.name.len()).max().unwrap_or(0);
    let lines = games
        .iter()
        .map(|game| format!("{:width$}  {}", game.name, game.about));
    let lines: Vec<_> = lines.collect();
    format!(
        "{}\n\n`matchday games NAME` shows the rules of one.",
        lines.join("\n")
    )
}

fn strategies_of(game: &GameEntry) -> String {
    let width = strategy::of(game)
        .map(|entry| entry.name.len())
        .max()
        .unwrap_or(0);
    let lines = strategy::of(game).map(|entry| format!("  {:width$}  {}", entry.name, entry.about));
    format!(
        "Built-in strategies:\n{}",
        lines.collect::<Vec<_>>().join("\n")
    )
}

fn in_json(game: &GameEntry) -> Value {
    let strategies =
        strategy::of(game).map(|entry| json!({ "name": entry.name, "about": entry.about }));
    json!({
        "game_type": game.name,
        "about": game.about,
        "rules": game.rules_with_messages(),
        "turns_max": game.turns_max,
        "strategies": strategies.collect::<Vec<_>>(),
    })
}

fn names() -> String {
    GAMES
        .iter()
        .map(|game| game.name)
        .collect::<Vec<_>>()
        .join(", ")
}

/// The game of commands that have no configuration file.
#[derive(Debug, Args)]
pub(super) struct GameArgs {
    #[arg(long, default_value = "even_odd", value_name = "NAME", value_parser = known, help = help())]
    game: &'static GameEntry,
    /// A program of yours that knows the rules of the game, in the place of --game
    #[arg(long, value_name = "PROGRAM", conflicts_with = "game")]
    game_command: Option<String>,
    #[command(flatten)]
    program_env: ProgramEnvArg,
}

impl GameArgs {
    /// The game, and the program that knows its rules if they are not built in.
    pub(super) async fn game(&self) -> Result<(&'static GameEntry, Option<GameProgram>)> {
        self.program_env.apply()?;
        let Some(command) = &self.game_command else {
            return Ok((self.game, None));
        };
        let wrong = |why: String| Usage(format!("--game-command: {why}"));
        let program = GameProgram::named(command, ResourceLimits::default())
            .map_err(|error| wrong(error.to_string()))?;
        let game = program.describe().await.map_err(wrong)?;
        Ok((game.entry(), Some(program)))
    }
}

/// What `--game` says of itself.
pub(super) fn help() -> String {
    format!("The game that is played: {}", names())
}

/// The game of that name, or which there are.
pub(super) fn known(name: &str) -> Result<&'static GameEntry, String> {
    game::find(&GameType::new(name)).ok_or_else(|| {
        let hint = nearest(name, GAMES.iter().map(|game| game.name));
        let hint = hint.map_or_else(String::new, |name| format!(" - did you mean {name:?}?"));
        format!(
            "there is no game {name:?}; choose one of: {}{hint}",
            names()
        )
    })
}
