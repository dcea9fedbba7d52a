//! `matchday export`: what stores hold as JSON and CSV files.

use super::league_arg::LeagueArg;
use super::store_arg::StoreArgs;
use anyhow::Result;
use clap::Args;
use matchday_audit::export as exporting;
use matchday_audit::log_set::LogSet;
use matchday_audit::plural::count_of;
use matchday_terminal::say;
use std::path::PathBuf;
use std::process::ExitCode;

/// Write what stores hold as files: tables as CSV, events as JSONL, a record of each match.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  matchday export league.db --out league
  matchday export weekend.db referee-8001.db referee-8002.db --out weekend
  matchday export season.db --tables --out tables    (of every league in it)

The tables are leagues.csv, players.csv, matches.csv, moves.csv, model_calls.csv and ratings.csv, with the types of their columns in tables.json.
They are written if the manager's store is among the stores.")]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    stores: StoreArgs,
    #[command(flatten)]
    league: LeagueArg,
    /// Write the tables alone, of every league in the stores unless --league names one
    #[arg(long)]
    tables: bool,
    /// The directory to write, which must be new or empty
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub(crate) fn execute(args: ExportArgs) -> Result<ExitCode> {
    if args.tables {
        let league = args.league.id();
        let written = exporting::export_tables(&args.stores.urls(), league.as_ref(), &args.out)?;
        let out = args.out.display();
        let leagues = count_of(written.leagues, "league", "leagues");
        let matches = count_of(written.matches, "match", "matches");
        say(format!(
            "tables of {leagues} with {matches} written to {out}"
        ));
        return Ok(ExitCode::SUCCESS);
    }
    let logs = LogSet::open_league(&args.stores.urls(), args.league.id().as_ref())?;
    let written = exporting::export(&logs, &args.out)?;
    let events = written.events;
    let matches = written.matches;
    let out = args.out.display();
    let no_league = if written.league {
        ""
    } else {
        "; no tables, for they are in the manager's store"
    };
    say(format!(
        "{events} events and {matches} matches written to {out}{no_league}"
    ));
    Ok(ExitCode::SUCCESS)
}
