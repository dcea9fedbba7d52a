//! `matchday schema`: the documents that describe every message and method, for tools and for people who write agents.

use anyhow::{Context, Result, bail};
use clap::Args;
use matchday_core::protocol::schema::Library;
use matchday_terminal::say;
use serde_json::{Map, Value};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(super) const EXAMPLE: &str = "\
messages/*.json  JSON Schema 2020-12 of each message: what the strict reading demands
methods/*.json   of each request with its answer, in JSON-RPC
data/*.json      of what the manager answers to each kind of query
openrpc/*.json   an OpenRPC document for manager, referee and player
index.json       names them all

A running agent serves the same under GET /schema, and its own OpenRPC document by rpc.discover.
Documents that an earlier `matchday schema` wrote are replaced. If any other file is in the way, nothing is written.

Example:
  matchday schema --out schemas
  matchday schema --json | jq '.\"messages/GAME_INVITATION.json\".required'";

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(super) struct SchemaArgs {
    /// The directory to write, which is made if it is not there
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print all documents as one JSON object instead, each under its path
    #[arg(long)]
    json: bool,
}

pub(super) fn execute(args: SchemaArgs) -> Result<ExitCode> {
    let library = Library::new();
    match args.out {
        Some(out) => {
            let count = write(&library, &out)?;
            say(format!(
                "{count} documents written to {}: begin with {}",
                out.display(),
                Library::INDEX
            ));
        }
        None => {
            let all: Map<String, Value> = library
                .iter()
                .map(|(path, document)| (path.to_owned(), document.clone()))
                .collect();
            say(serde_json::to_string_pretty(&all)?);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn write(library: &Library, out: &Path) -> Result<usize> {
    for (path, document) in library.iter() {
        let place = out.join(path);
        if !is_free_for(document, &place)? {
            bail!(
                "{} is there and is not a document of Matchday's: move it away, or choose another --out",
                place.display()
            );
        }
    }
    let mut count = 0;
    for (path, document) in library.iter() {
        let place = out.join(path);
        if let Some(folder) = place.parent() {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot make the directory {}", folder.display()))?;
        }
        fs::write(&place, format!("{document:#}\n"))
            .with_context(|| format!("cannot write {}", place.display()))?;
        count += 1;
    }
    Ok(count)
}

/// Whether there is nothing yet, or an earlier edition of the same document.
fn is_free_for(document: &Value, place: &Path) -> Result<bool> {
    match fs::read(place) {
        Ok(bytes) => {
            let there: Value = serde_json::from_slice(&bytes).unwrap_or_default();
            Ok(Library::identity(&there)
                .is_some_and(|there| Some(there) == Library::identity(document)))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error).with_context(|| format!("cannot look at {}", place.display())),
    }
}
