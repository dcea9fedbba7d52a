//! A copy of a store, taken while it may be in use. Reads the store, and writes a file that is there whole or not at all.

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
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Copies the store as it stands, compares the copy with it, and only then gives it its name. What is wrong in the content
/// of the store is reported, and copied as it is: the copy may be all that is left tomorrow.
pub fn backup(from: &StoreUrl, to: &Path) -> Result<Verification, StoreError> {
    if fs::symlink_metadata(to).is_ok() {
        return Err(StoreError::Exists(to.to_owned()));
    }
    if !directory(to).is_dir() {
        return Err(StoreError::NoDirectory(to.to_owned()));
    }
    if from.league().is_some() {
        return archive(&Location::latest(from), to, |_| true);
    }
    let mut source = open::to_read(from)?;
    let draft = beside(to, ".new");
    let made = copy(&mut source, &draft, to)
        .and_then(|()| compare(&source, &open::to_read(&draft)?, to))
        .and_then(|()| verify_file(&draft));
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

/// Both read in one transaction each: the reader of the store still sees the moment that was copied.
fn compare(source: &Reader, copy: &Reader, to: &Path) -> Result<(), StoreError> {
    let read = source.heads()?;
    let written: BTreeSet<_> = copy.heads()?.into_iter().collect();
    let differs = |what: String| {
        Err(StoreError::CopyDiffers {
            from: source.url().clone(),
            to: to.into(),
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
    let numbers: BTreeSet<u32> = source
        .heads()?
        .into_iter()
        .map(|head| head.league)
        .collect();
    for number in numbers {
        source.league = number;
        copy_league(source, &copy.in_league(number))?;
    }
    copy.close()
}

#[cfg(test)]
mod tests {
    use super::*;
    use matchday_core::protocol::Timestamp;
    use matchday_store::{Batch, Durability, Store, Stream};
    use matchday_testkit::tamper::tamper;
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
        let error = compare(&source, &copy, &to).unwrap_err().to_string();
        assert!(
            error.contains("they differ (the events of player)"),
            "{error}"
        );
    }
}
