//! `matchday verify`, `replay`, `export`: what can be made of a stored league. Reads the store, and changes nothing in it.

use crate::store::{Store, export as exporting, timeline, verify as verifying};
use crate::view::say;
use anyhow::Result;
use clap::Args;
use matchday_core::protocol::MatchId;
use std::path::PathBuf;
use std::process::ExitCode;

/// Check a stored league: the chain of events, every draw, every score, the table.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  matchday verify league.db\n\nExit code 0 only if everything fits.")]
pub(crate) struct VerifyArgs {
    /// The store of the league
    file: PathBuf,
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
}

/// Print a stored league or one match as a timeline.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  matchday replay league.db --match R1M1")]
pub(crate) struct ReplayArgs {
    /// The store of the league
    file: PathBuf,
    /// The match to show, message by message [default: the whole league in brief]
    #[arg(long = "match", value_name = "MATCH")]
    match_id: Option<String>,
}

/// Write a stored league as files: events as JSONL, matches and standings as CSV, a record of each match.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  matchday export league.db --out league")]
pub(crate) struct ExportArgs {
    /// The store of the league
    file: PathBuf,
    /// The directory to write, which must be new or empty
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub(crate) fn verify(args: VerifyArgs) -> Result<ExitCode> {
    let found = verifying::verify_file(&args.file)?;
    if args.json {
        say(serde_json::to_string_pretty(&found)?);
    } else {
        say(&found);
    }
    Ok(if found.fault.is_none() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

pub(crate) fn replay(args: ReplayArgs) -> Result<ExitCode> {
    let reader = Store::open_read_only(&args.file)?;
    let match_id = args.match_id.map(|id| MatchId::new(id.to_ascii_uppercase()));
    say(timeline::replay(&reader, match_id.as_ref())?.trim_end());
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn export(args: ExportArgs) -> Result<ExitCode> {
    let reader = Store::open_read_only(&args.file)?;
    let written = exporting::export(&reader, &args.out)?;
    let (events, matches, out) = (written.events, written.matches, args.out.display());
    say(format!("{events} events and {matches} matches written to {out}"));
    Ok(ExitCode::SUCCESS)
}
