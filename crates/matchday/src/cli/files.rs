//! `matchday verify`, `replay`, `export`: what can be made of stores. Reads them, and changes nothing in them.

use super::against::{self, Against};
use super::tls::TlsArgs;
use crate::store::chronicle::Chronicle;
use crate::store::{export as exporting, timeline, verify as verifying};
use crate::view::say;
use anyhow::{Context, Result};
use clap::Args;
use matchday_core::protocol::{LeagueId, MatchId};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Check stored leagues: the chain of events, every draw, every score, the table.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  matchday verify league.db
  matchday verify weekend.db referee-8001.db   (also: did the referee decide what the manager recorded?)
  curl -s http://localhost:8000/checkpoint > monday.txt; matchday verify weekend.db --checkpoint monday.txt

Exit code 0 only if everything fits.")]
pub(crate) struct VerifyArgs {
    /// The store of the league, or of a referee or a player; of several, whether they agree
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    league: LeagueArg,
    /// A checkpoint that was kept elsewhere: does the store still begin with what it covers?
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
}

/// Print a stored league or one match as a timeline.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  matchday replay league.db --match R1M1
  matchday replay weekend.db referee-8001.db player-8101.db --match R1M1
  matchday replay league.db --match R1M1 --against http://localhost:8101/mcp

Each agent's store tells what that agent sent and received; those of several are put together by time.")]
pub(crate) struct ReplayArgs {
    /// The store of the league, of a referee or of a player, or several of them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    league: LeagueArg,
    /// The match to show, message by message [default: everything in brief]
    #[arg(long = "match", value_name = "MATCH")]
    match_id: Option<String>,
    /// Print all that is known of the match as JSON; with --against, the answers
    #[arg(long, requires = "match_id")]
    json: bool,
    /// Send the requests that a player was sent in the match to this agent, and show both answers
    #[arg(long, value_name = "URL", requires = "match_id")]
    against: Option<String>,
    /// With --against: whose requests to send [default: the first player's of whom they are known]
    #[arg(long = "as", value_name = "PLAYER", requires = "against")]
    player: Option<String>,
    /// With --against: how long each answer may take [default: what the rules allow, 5 to 30 seconds]
    #[arg(long, value_name = "SECONDS", requires = "against", value_parser = super::run::in_seconds)]
    timeout: Option<Duration>,
    #[command(flatten)]
    tls: TlsArgs,
}

/// Write what stores hold as files: events as JSONL, matches and standings as CSV, a record of each match.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  matchday export league.db --out league
  matchday export weekend.db referee-8001.db referee-8002.db --out weekend

Matches and standings as CSV are written if the manager's store is among them.")]
pub(crate) struct ExportArgs {
    /// The store of the league, of a referee or of a player, or several of them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    league: LeagueArg,
    /// The directory to write, which must be new or empty
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// Which of a store's leagues is meant.
#[derive(Debug, Args)]
pub(super) struct LeagueArg {
    /// Of a store that holds several leagues: which one [default: the latest]
    #[arg(long, value_name = "ID")]
    league: Option<String>,
}

impl LeagueArg {
    pub(super) fn id(&self) -> Option<LeagueId> {
        self.league.as_deref().map(LeagueId::new)
    }
}

pub(crate) fn verify(args: VerifyArgs) -> Result<ExitCode> {
    let kept = args.checkpoint.as_deref().map(kept_checkpoint).transpose()?;
    let found = verifying::verify_league(&args.files, args.league.id().as_ref(), kept.as_ref())?;
    if args.json {
        say(serde_json::to_string_pretty(&found)?);
    } else {
        say(&found);
    }
    Ok(if found.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn kept_checkpoint(file: &Path) -> Result<verifying::Kept> {
    let name = file.display();
    let text = std::fs::read_to_string(file).with_context(|| format!("{name} cannot be read"))?;
    verifying::Kept::parse(&text).with_context(|| format!("{name} is not a checkpoint of a manager"))
}

pub(crate) async fn replay(args: ReplayArgs) -> Result<ExitCode> {
    let chronicle = Chronicle::open_league(&args.files, args.league.id().as_ref())?;
    let match_id = args.match_id.map(|id| MatchId::new(id.to_ascii_uppercase()));
    match (&match_id, &args.against) {
        (Some(match_id), Some(url)) => {
            let (player, timeout, json) = (args.player.as_deref(), args.timeout, args.json);
            return against::execute(
                &chronicle,
                match_id,
                &Against { url, player, timeout, json, client: &args.tls.client()? },
            )
            .await;
        }
        (Some(match_id), None) if args.json => {
            timeline::replay(&chronicle, Some(match_id))?;
            say(serde_json::to_string_pretty(&exporting::record(&chronicle, match_id)?)?);
        }
        _ => say(timeline::replay(&chronicle, match_id.as_ref())?.trim_end()),
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn export(args: ExportArgs) -> Result<ExitCode> {
    let chronicle = Chronicle::open_league(&args.files, args.league.id().as_ref())?;
    let written = exporting::export(&chronicle, &args.out)?;
    let (events, matches, out) = (written.events, written.matches, args.out.display());
    let no_league = if written.league { "" } else { "; no table, for that is in the manager's store" };
    say(format!("{events} events and {matches} matches written to {out}{no_league}"));
    Ok(ExitCode::SUCCESS)
}
