//! `matchday backup`: a copy of a store, in use or not; or of all that a service goes on from in another store. Reads the store,
//! and writes a new file or an empty database.

use super::store_arg::StoreArg;
use super::{Usage, notice};
use anyhow::{Result, bail};
use clap::Args;
use matchday_audit::backup::{backup, move_to};
use matchday_store::{StoreUrl, backup_mark};
use matchday_terminal::say;
use std::process::ExitCode;

/// Copy a store, also while an agent writes to it, and check the copy.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  matchday backup weekend.db --to weekend-monday.db
  matchday backup referee-8001.db --to /backups/referee-8001.db
  matchday backup service.db --to 'postgres://matchday@db.example/leagues' --move     (a service that is stopped)
  matchday backup 'postgres://matchday@db.example/leagues' --to service.db --move     (and back)

The copy is a store like any other: to go back to it, stop the agent and put the copy in the place of its file. Keep it
as the store itself is kept: it holds the same secrets. A store with wrong content is copied too, with exit code 1; a damaged file is not copied.")]
pub(crate) struct BackupArgs {
    #[command(flatten)]
    store: StoreArg,
    /// The copy: a file that must not exist yet, or with --move an empty database
    #[arg(long, value_name = "FILE|URL")]
    to: StoreUrl,
    /// Copy all that a service needs to go on from the copy: the keys of checkpoints and the seats, too. The store must not be in
    /// use, and is left as it is
    #[arg(long = "move")]
    moves: bool,
    /// Print what was found in the copy as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn execute(args: BackupArgs) -> Result<ExitCode> {
    let from = args.store.url();
    let to = &args.to;
    let found = match to.file() {
        _ if args.moves && from.league().is_some() => {
            let why = "--move copies a whole store: leave ?league= out, or use `matchday league archive` and `import`";
            return Err(Usage(why.to_owned()).into());
        }
        _ if args.moves => move_to(&from, to)?,
        Some(file) => backup(&from, file)?,
        None => {
            let why = "--to: a copy in a database is for a service to continue from: stop the service, and add --move";
            return Err(Usage(why.to_owned()).into());
        }
    };
    if args.json {
        say(serde_json::to_string_pretty(&found)?);
    }
    if let Some(fault) = &found.fault {
        bail!(
            "{from} is copied to {to}, every event as it is, but its content is wrong: {fault} - see `matchday \
             verify`"
        );
    }
    if let Err(error) = backup_mark::note(&from) {
        notice(&format!(
            "the time of this copy cannot be noted beside {from}, so /metrics does not show it: {error}"
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
