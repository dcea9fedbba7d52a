//! `matchday export`: what stores hold as JSON and CSV files.

use super::league_arg::LeagueArg;
use super::store_arg::StoreArgs;
use anyhow::Result;
use clap::Args;
use matchday_audit::export as exporting;
use matchday_audit::log_set::LogSet;
use matchday_terminal::say;
use std::path::PathBuf;
use std::process::ExitCode;

/// Write what stores hold as files: events as JSONL, matches and standings as CSV, a record of each match.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  matchday export league.db --out league
  matchday export weekend.db referee-8001.db referee-8002.db --out weekend

Matches and standings as CSV are written if the manager's store is among them.")]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    stores: StoreArgs,
    #[command(flatten)]
    league: LeagueArg,
    /// The directory to write, which must be new or empty
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub(crate) fn execute(args: ExportArgs) -> Result<ExitCode> {
    let logs = LogSet::open_league(&args.stores.urls(), args.league.id().as_ref())?;
    let written = exporting::export(&logs, &args.out)?;
    let events = written.events;
    let matches = written.matches;
    let out = args.out.display();
    let no_league = if written.league {
        ""
    } else {
        "; no table, for that is in the manager's store"
    };
    say(format!(
        "{events} events and {matches} matches written to {out}{no_league}"
    ));
    Ok(ExitCode::SUCCESS)
}
