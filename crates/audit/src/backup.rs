//! A copy of a store, taken while it may be in use, and the move of a service to another store. Reads the store, and writes a file
//! that is there whole or not at all, or an empty database.

use crate::transfer::{archive, copy_league};
use crate::verify::{Verification, verify_file};
use matchday_os::file::sync_directory;
use matchday_store::StoreUrl;
use matchday_store::error::StoreError;
use matchday_store::handle::Store;
use matchday_store::leagues::Location;
use matchday_store::open;
use matchday_store::path::{beside, directory};
use matchday_store::read::StreamHead;
use matchday_store::reader::Reader;
use matchday_store::secrets::copy_secrets;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Copies the store as it stands, compares the copy with it, and only then gives it its name. What is wrong in the content
/// of the store is reported, and copied as it is: the copy may be all that is left tomorrow.
pub fn backup(from: &StoreUrl, to: &Path) -> Result<Verification, StoreError> {
    check_free(to)?;
    if from.league().is_some() {
        return archive(&Location::latest(from), to, |_| true);
    }
    let mut source = open::to_read(from)?;
    into_file(&mut source, to)
}

/// Copies a whole store, with all that a service needs to go on from the copy: the keys of checkpoints and the seats too. Nobody
/// may write to the store meanwhile, and the copy is a new file or in a database without events.
pub fn move_to(from: &StoreUrl, to: &StoreUrl) -> Result<Verification, StoreError> {
    let to_file = to.file();
    if let Some(file) = to_file {
        check_free(file)?;
        if let Some(seats) = to.of_seats().file() {
            check_free(seats)?;
        }
    }
    drop(open::to_read(from)?);
    let held = Store::open(from)?;
    let mut source = open::to_read(from)?;
    let found = match to_file {
        Some(file) => {
            let found = into_file(&mut source, file)?;
            let copy = Store::open(to)?;
            copy_secrets(&source, &copy)?;
            copy.close()?;
            found
        }
        None => into_database(&mut source, to)?,
    };
    held.close()?;
    Ok(found)
}

fn check_free(file: &Path) -> Result<(), StoreError> {
    if fs::symlink_metadata(file).is_ok() {
        return Err(StoreError::Exists(file.to_owned()));
    }
    if !directory(file).is_dir() {
        return Err(StoreError::NoDirectory(file.to_owned()));
    }
    Ok(())
}

fn into_file(source: &mut Reader, to: &Path) -> Result<Verification, StoreError> {
    let draft = beside(to, ".new");
    let from = source.url().clone();
    let made = copy(source, &draft, to)
        .and_then(|()| compare(source, &open::to_read(&draft)?, &to.into()))
        .and_then(|()| verify_file(&draft))
        .map_err(|error| match error {
            // Page by page it is what the store is.
            StoreError::Damaged { what, .. } => StoreError::Damaged { store: from, what },
            other => other,
        });
    let failed = |error| StoreError::io(to, error);
    match made {
        Ok(found) => {
            fs::rename(&draft, to).map_err(failed)?;
            sync_directory(directory(to)).map_err(failed)?;
            Ok(found)
        }
        Err(error) => {
            // What is left of it is of no use to anyone, and its name would be in the way the next time.
            let _ = fs::remove_file(&draft);
            Err(error)
        }
    }
}

fn into_database(source: &mut Reader, to: &StoreUrl) -> Result<Verification, StoreError> {
    let copy = Store::open(to)?;
    if !copy.reader()?.heads()?.is_empty() {
        return Err(StoreError::HoldsEvents(to.clone()));
    }
    copy_leagues(source, &copy)?;
    copy_secrets(source, &copy)?;
    compare(source, &copy.reader()?, to)?;
    copy.close()?;
    verify_file(to)
}

/// Both read in one transaction each: the reader of the store still sees the moment that was copied.
fn compare(source: &Reader, copy: &Reader, to: &StoreUrl) -> Result<(), StoreError> {
    let read = source.heads()?;
    let written: BTreeSet<_> = copy.heads()?.into_iter().collect();
    let differs = |what: String| {
        Err(StoreError::CopyDiffers {
            from: source.url().clone(),
            to: to.clone(),
            what,
        })
    };
    if let Some(StreamHead { stream, .. }) = read.iter().find(|head| !written.contains(head)) {
        return differs(format!("the events of {stream}"));
    }
    if read.len() != written.len() {
        return differs(format!("{} streams and {}", read.len(), written.len()));
    }
    match (
        source.rows.exchanges_count(None)?,
        copy.rows.exchanges_count(None)?,
    ) {
        (read, written) if read != written => differs(format!("{read} messages and {written}")),
        _ => Ok(()),
    }
}

/// Copies a file as a whole, and any other store league by league.
fn copy(source: &mut Reader, draft: &Path, to: &Path) -> Result<(), StoreError> {
    if source.rows.copy_file(draft, to)? {
        return Ok(());
    }
    let copy = Store::open(draft)?;
    copy_leagues(source, &copy)?;
    copy.close()
}

/// The service's own log comes last: without it no service begins with what a broken copy has left.
fn copy_leagues(source: &mut Reader, copy: &Store) -> Result<(), StoreError> {
    let heads = source.heads()?;
    let numbers: BTreeSet<u32> = heads.into_iter().map(|head| head.league).collect();
    for number in numbers.into_iter().rev() {
        source.league = number;
        copy_league(source, &copy.in_league(number))?;
    }
    for state in source.league_states()? {
        if !state.removed {
            copy.in_league(state.number).set_wake_at(state.wake_at);
        }
    }
    copy.flush_blocking()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use matchday_core::protocol::Timestamp;
    use matchday_store::{Batch, Durability, Store, Stream};
    use matchday_testkit::event_lines::silence;
    use matchday_testkit::tamper::{self, tamper};
    use std::sync::mpsc;

    fn append(store: &Store, line: &str) {
        let (tell, told) = mpsc::channel();
        store.append(Batch {
            at: Timestamp::from_micros(1),
            stream: Stream("player".into()),
            lines: vec![line.to_owned()],
            durability: Durability::Fsynced,
            awaited: true,
            then: Box::new(move |stored| tell.send(stored.is_ok()).unwrap()),
        });
        assert!(told.recv().unwrap());
    }

    const LINE: &str = r#"{"v":1,"at":1,"event":{"type":"league_closed"}}"#;

    #[test]
    fn a_store_in_use_is_copied_with_all_that_was_stored() {
        let folder = tempfile::tempdir().unwrap();
        let from = folder.path().join("a.db");
        let to = folder.path().join("b.db");
        let store = Store::open(&from).unwrap();
        append(&store, LINE);
        append(&store, LINE);
        let found = backup(&(&from).into(), &to).unwrap();
        append(&store, LINE);
        assert_eq!((found.events, found.fault), (2, None));
        assert_eq!(store.load(&Stream("player".into())).unwrap().len(), 3);
        // The copy is a store like any other: it is written to, and goes on where it was.
        let copy = Store::open(&to).unwrap();
        append(&copy, LINE);
        assert_eq!(copy.load(&Stream("player".into())).unwrap().len(), 3);
        assert!(!beside(&to, ".new").exists());
    }

    #[cfg(unix)]
    #[test]
    fn only_its_owner_can_read_a_copy() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let from = folder.path().join("a.db");
        let to = folder.path().join("b.db");
        let store = Store::open(&from).unwrap();
        append(&store, LINE);
        backup(&(&from).into(), &to).unwrap();
        assert_eq!(
            fs::metadata(&to).unwrap().permissions().mode() & 0o777,
            0o600
        );
    }

    #[test]
    fn nothing_is_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let from = folder.path().join("a.db");
        let to = folder.path().join("b.db");
        drop(Store::open(&from).unwrap());
        fs::write(&to, "precious").unwrap();
        assert!(matches!(
            backup(&(&from).into(), &to),
            Err(StoreError::Exists(_))
        ));
        assert!(matches!(
            backup(&(&from).into(), &from),
            Err(StoreError::Exists(_))
        ));
        assert_eq!(fs::read_to_string(&to).unwrap(), "precious");
    }

    #[test]
    fn a_store_that_does_not_fit_is_copied_as_it_is_and_the_fault_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let from = folder.path().join("a.db");
        let to = folder.path().join("b.db");
        let store = Store::open(&from).unwrap();
        append(&store, LINE);
        store.close().unwrap();
        tamper(&from, "UPDATE events SET hash = zeroblob(32)");
        assert!(backup(&(&from).into(), &to).unwrap().fault.is_some());
        let heads = |path: &Path| open::to_read(path).unwrap().heads().unwrap();
        assert_eq!(heads(&to), heads(&from));
        assert!(!beside(&to, ".new").exists());
    }

    #[test]
    fn of_a_file_with_a_damaged_page_there_is_no_copy() {
        let folder = tempfile::tempdir().unwrap();
        let from = folder.path().join("a.db");
        let to = folder.path().join("b.db");
        let store = Store::open(&from).unwrap();
        append(&store, LINE);
        for _ in 0..200 {
            store.record(silence());
        }
        store.close().unwrap();
        // No query of a backup reads what was said.
        tamper::spoil_page_with(&from, "conv-r1m1-001");
        let error = backup(&(&from).into(), &to).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("{} is damaged", from.display())),
            "{error}"
        );
        assert!(!to.exists() && !beside(&to, ".new").exists(), "{error}");
    }

    #[test]
    fn a_copy_that_differs_from_what_was_read_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let from = folder.path().join("a.db");
        let to = folder.path().join("b.db");
        let store = Store::open(&from).unwrap();
        append(&store, LINE);
        backup(&(&from).into(), &to).unwrap();
        append(&store, LINE);
        let source = open::to_read(&from).unwrap();
        let copy = open::to_read(&to).unwrap();
        let error = compare(&source, &copy, &(&to).into())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("they differ (the events of player)"),
            "{error}"
        );
    }
}
