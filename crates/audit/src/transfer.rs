//! Moves a league between stores with its chains as they are: out into a file of its own, and in from one. Reads one store and
//! writes another; blocks.

use crate::verify::{Verification, verify_file};
use matchday_core::driver::Durability;
use matchday_core::protocol::Timestamp;
use matchday_os::file::sync_directory;
use matchday_store::batch::Batch;
use matchday_store::error::{StoreError, StoreFailed};
use matchday_store::handle::Store;
use matchday_store::leagues::Location;
use matchday_store::path::{beside, directory};
use matchday_store::reader::Reader;
use matchday_store::stream::Stream;
use std::fs;
use std::io;
use std::path::Path;

/// How many exchanges are read and written at a time.
const PAGE: usize = 512;

const DRAFT: &str = ".new";

/// Removes the drafts of archives that a crash has left in a folder, if there is one.
pub fn remove_drafts(folder: &Path) -> Result<(), StoreError> {
    let failed = |error| StoreError::io(folder, error);
    let files = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        files => files.map_err(failed)?,
    };
    for file in files {
        let path = file.map_err(failed)?.path();
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let is_draft = ["", "-wal", "-shm", ".lock"].iter().any(|suffix| {
            name.strip_suffix(suffix)
                .is_some_and(|name| name.ends_with(&format!(".db{DRAFT}")))
        });
        if is_draft {
            fs::remove_file(&path).map_err(failed)?;
        }
    }
    Ok(())
}

/// Writes those streams of a league that are to be kept into a new file, which every command reads, and verifies that before it
/// gets its name. A file that holds exactly these already is left as it is: the process was stopped before the league was removed.
pub fn archive(
    league: &Location,
    to: &Path,
    is_kept: impl Fn(&Stream) -> bool,
) -> Result<Verification, StoreError> {
    if fs::symlink_metadata(to).is_ok() {
        return if is_same_league(&league.open()?, to, &is_kept)? {
            verify_file(to)
        } else {
            Err(StoreError::Exists(to.to_owned()))
        };
    }
    let draft = beside(to, DRAFT);
    let failed = |error| StoreError::io(to, error);
    let remove_draft = || {
        for suffix in ["", "-wal", "-shm", ".lock"] {
            match fs::remove_file(beside(&draft, suffix)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
                _ => {}
            }
        }
        Ok(())
    };
    remove_draft()?;
    let write = || {
        let store = Store::open(&draft)?;
        copy_streams(&league.open()?, &store, &is_kept)?;
        store.close()?;
        verify_file(&draft)
    };
    let found = write().inspect_err(|_| {
        let _ = remove_draft();
    })?;
    fs::rename(&draft, to).map_err(failed)?;
    remove_draft()?;
    sync_directory(directory(to)).map_err(failed)?;
    Ok(found)
}

/// Whether a file holds these streams of a reader's chosen league and nothing else: the same chains, and as many exchanges.
fn is_same_league(
    league: &Reader,
    file: &Path,
    is_kept: impl Fn(&Stream) -> bool,
) -> Result<bool, StoreError> {
    let Ok(other) = matchday_store::open::to_read(file) else {
        return Ok(false);
    };
    let mut streams = league.streams()?;
    streams.retain(is_kept);
    if streams != other.streams()? || league.exchanges_count()? != other.exchanges_count()? {
        return Ok(false);
    }
    for stream in &streams {
        if league.head(stream)? != other.head(stream)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Copies the chosen league of a reader to the league of a handle, which must have no events yet. What was copied is compared
/// with what was read.
pub fn copy_league(from: &Reader, to: &Store) -> Result<(), StoreError> {
    copy_streams(from, to, |_| true)
}

fn copy_streams(
    from: &Reader,
    to: &Store,
    is_kept: impl Fn(&Stream) -> bool,
) -> Result<(), StoreError> {
    let mut streams = from.streams()?;
    streams.retain(is_kept);
    for stream in &streams {
        for events in from
            .load_checked(stream)?
            .chunk_by(|one, next| one.at == next.at)
        {
            let lines = events.iter().map(|stored| stored.line.clone()).collect();
            to.append(batch(
                events.first().map_or(Timestamp::EPOCH, |first| first.at),
                stream,
                lines,
            ));
        }
        to.flush_blocking()?;
    }
    let mut after = 0;
    loop {
        let page = from.exchanges_after(after, PAGE)?;
        let Some((last, _)) = page.last() else { break };
        after = *last;
        page.into_iter()
            .for_each(|(_, exchange)| to.record(exchange));
        to.flush_blocking()?;
    }
    for stream in &streams {
        if from.head(stream)? != Some(to.head(stream)?) {
            let to = to.url().clone();
            let what = format!("the events of {stream}");
            return Err(StoreError::CopyDiffers {
                from: from.url().clone(),
                to,
                what,
            });
        }
    }
    Ok(())
}

/// Appends events and waits until they are stored.
pub fn append(
    to: &Store,
    at: Timestamp,
    stream: &Stream,
    lines: Vec<String>,
) -> Result<(), StoreFailed> {
    to.append(batch(at, stream, lines));
    to.flush_blocking()
}

/// Nobody waits for it: a flush does.
fn batch(at: Timestamp, stream: &Stream, lines: Vec<String>) -> Batch {
    let durability = Durability::Written;
    let then = Box::new(|_| {});
    Batch {
        at,
        stream: stream.clone(),
        lines,
        durability,
        awaited: false,
        then,
    }
}
