//! `matchday verify`: does a stored league fit together? Reads stores, and changes nothing in them.

use super::league_arg::LeagueArg;
use super::store_arg::StoreArgs;
use anyhow::{Context, Result};
use clap::Args;
use matchday_audit::verify::{self as verifying, Verdict};
use matchday_core::signature::PublicKey;
use matchday_core::signed_note::key_of_verifier;
use matchday_terminal::say;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Verify stored leagues: the chain of events, every drawn number, every score, the standings.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  matchday verify league.db
  matchday verify course.db --all              (the leagues of a service, a line each)
  matchday verify weekend.db referee-8001.db   (also: did the referee decide what the manager recorded?)
  matchday verify weekend.db player-8101.db    (also: is this the log whose checkpoints the player was sent?)
  curl -s http://localhost:8000/checkpoint > monday.txt; matchday verify weekend.db --checkpoint monday.txt

Exit code 0: no contradictions. 1: a contradiction, or a file cannot be read. 2: the command is wrong. 3: no contradictions, but a result is unproven although a player had a key (the league was played without referees that \
prove, or with --proof optional), or something could not be checked. Players without a key alone give 0.")]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    stores: StoreArgs,
    #[command(flatten)]
    league: LeagueArg,
    /// Every league of the store in a line of its own, each with the agents that are stored beside it
    #[arg(long, conflicts_with = "league")]
    all: bool,
    /// A checkpoint that was kept elsewhere: does the store still begin with what it covers? May be given several times
    #[arg(long, value_name = "FILE")]
    checkpoint: Vec<PathBuf>,
    /// The manager's public key, if you have it from elsewhere: ed25519:..., or as verify prints it
    #[arg(long, value_name = "KEY", value_parser = manager_key)]
    key: Option<PublicKey>,
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
}

/// The exit code for what neither contradicts nor is proven.
const NOT_ALL_PROVEN: u8 = 3;

pub(crate) fn execute(args: VerifyArgs) -> Result<ExitCode> {
    let checkpoints = args
        .checkpoint
        .iter()
        .map(|file| kept_checkpoint(file))
        .collect::<Result<_>>()?;
    let evidence = verifying::Evidence {
        checkpoints,
        key: args.key,
    };
    let found =
        verifying::verify_league(&args.stores.urls(), args.league.id().as_ref(), &evidence)?;
    if args.json {
        say(serde_json::to_string_pretty(&found)?);
    } else if args.all {
        say(found.leagues_in_brief());
    } else {
        say(&found);
    }
    Ok(match found.verdict() {
        Verdict::Fits => ExitCode::SUCCESS,
        Verdict::Contradicted => ExitCode::FAILURE,
        Verdict::NotAllProven => ExitCode::from(NOT_ALL_PROVEN),
    })
}

fn manager_key(text: &str) -> Result<PublicKey, &'static str> {
    PublicKey::parse(text)
        .or_else(|| key_of_verifier(text))
        .ok_or("expected ed25519: and 64 hexadecimal digits, or name+id+key as verify prints it")
}

fn kept_checkpoint(file: &Path) -> Result<verifying::ExternalCheckpoint> {
    let name = file.display();
    let text = std::fs::read_to_string(file).with_context(|| format!("{name} cannot be read"))?;
    verifying::ExternalCheckpoint::parse(&name.to_string(), &text)
        .with_context(|| format!("{name} is not a checkpoint of a manager"))
}
