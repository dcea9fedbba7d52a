//! `matchday backup`: a copy of a store, in use or not. Reads the store, and writes one new file.

use super::notice;
use super::store_arg::StoreArg;
use anyhow::{Result, bail};
use clap::Args;
use matchday_audit::backup::backup;
use matchday_store::backup_mark;
use matchday_terminal::say;
use std::path::PathBuf;
use std::process::ExitCode;

/// Copy a store, also while an agent writes to it, and check the copy.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  matchday backup weekend.db --to weekend-monday.db
  matchday backup referee-8001.db --to /backups/referee-8001.db

The copy is a store like any other: to go back to it, stop the agent and put the copy in the place of its file. Keep it
as the store itself is kept: it holds the same secrets. Of a store whose content is wrong there is a copy too, and exit
code 1.")]
pub(crate) struct BackupArgs {
    #[command(flatten)]
    store: StoreArg,
    /// The copy, which must not exist yet
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
    /// Print what was found in the copy as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn execute(args: BackupArgs) -> Result<ExitCode> {
    let from = args.store.url();
    let to = args.to.display();
    let found = backup(&from, &args.to)?;
    if args.json {
        say(serde_json::to_string_pretty(&found)?);
    }
    if let Some(fault) = &found.fault {
        bail!(
            "{from} is copied to {to}, every event as it is, but its content does not fit: {fault} - see `matchday \
             verify`"
        );
    }
    if let Err(error) = backup_mark::note(&from) {
        notice(&format!(
            "the time of this copy cannot be noted beside {from}, so that /metrics does not tell of it: {error}"
        ));
    }
    if !args.json {
        let events = found.events;
        let head = found
            .head
            .map(|head| format!(", the chain ends in {head}"))
            .unwrap_or_default();
        say(format!(
            "{from} is copied to {to} and checked: {events} events{head}"
        ));
    }
    Ok(ExitCode::SUCCESS)
}
