//! A store's file: recognised before anything changes it, created atomically, opened to write or to read. Touches the file,
//! and an incomplete file beside it that a crash left.

use super::budget::{self, Budget};
use super::error::sql;
use super::lock::{self, Lock};
use super::schema::{self, Form};
use crate::error::StoreError;
use crate::path::{StorePath, beside, directory};
use matchday_os::file::{create_private, hard_links, sync_directory};
use rusqlite::{Connection, OpenFlags};
use std::fs::{self, File};
use std::io;
use std::path::{MAIN_SEPARATOR, Path};
use std::time::Duration;

/// Without locks for callers from several threads, which Rust does not let happen.
const TO_WRITE: OpenFlags =
    OpenFlags::SQLITE_OPEN_READ_WRITE.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

/// How long another connection that holds the file for a moment is waited for.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Opens a store to write to it, and makes one if there is none.
pub(super) fn open_to_write(path: &StorePath) -> Result<(Connection, Lock), StoreError> {
    // Looked at before it is locked, so that no lock appears beside a file that is not ours.
    drop(recognise_if_present(path, connect_to_read)?);
    let lock = Lock::take(path)?;
    let is_present = recognise_if_present(path, connect_as_writer)?.is_some();
    let lock = if is_present {
        let database = File::open(&path.real).map_err(|error| path.io(error))?;
        let lock = lock.and_database(path, database)?;
        check_whole(path)?;
        lock
    } else {
        create(path, lock)?
    };
    let open = || -> rusqlite::Result<Connection> {
        let db = Connection::open_with_flags(&path.real, TO_WRITE)?;
        budget::restrict(&db)?;
        db.busy_timeout(BUSY_TIMEOUT)?;
        // No fsync at commit: the writer fsyncs once for a group.
        db.pragma_update(None, "synchronous", "normal")?;
        // The writer checkpoints by itself, after a group is completed.
        db.pragma_update(None, "wal_autocheckpoint", 0)?;
        // What is removed is overwritten: a free page would keep it for as long as the file.
        db.pragma_update_and_check(None, "secure_delete", true, |_| Ok(()))?;
        Ok(db)
    };
    let db = open().map_err(|error| sql(&path.named, error))?;
    // SQLite opens a file that may not be written all the same, and fails with the first event.
    if db.is_readonly(rusqlite::MAIN_DB).is_ok_and(|only| only) {
        return Err(StoreError::ReadOnly {
            store: (&path.named).into(),
            why: "it is write-protected".into(),
        });
    }
    Ok((db, lock))
}

/// Opens a store to look at it, whether or not anyone is writing to it. What is read belongs to one transaction, in which its
/// form was compared with ours.
pub(super) fn open_to_read(path: &StorePath) -> Result<(Connection, Budget), StoreError> {
    let recognised = recognise_if_present(path, connect_to_read)?;
    let (db, budget) = recognised.ok_or_else(|| StoreError::Missing((&path.named).into()))?;
    // After the transaction has begun: all that it sees is in these files now.
    let bytes = |file: &Path| fs::metadata(file).map_or(0, |file| file.len());
    let budget = budget.for_file_of(bytes(&path.real) + bytes(&path.beside("-wal")));
    Ok((db, budget))
}

/// With a log beside it the store is in use, or its writer was killed, and SQLite reads the log too. Without one the file
/// stands still if nobody holds it; if somebody does, or may under another name, its log lies beside that name.
fn connect_to_read(path: &StorePath) -> Result<Connection, StoreError> {
    if path.has_log() {
        return connect(path, false);
    }
    let names = hard_links(&fs::metadata(&path.real).map_err(|error| path.io(error))?);
    if names > 1 {
        return Err(StoreError::HardLinked {
            path: path.named.clone(),
            names,
        });
    }
    match lock::is_held(path).map_err(|error| path.io(error))? {
        true if path.has_log() => connect(path, false),
        true if !lock::is_held_by_this_path(path) => {
            Err(StoreError::InUseElsewhere(path.named.clone()))
        }
        // Nobody writes, or the writer is just opening or closing it, and has nothing in a log.
        _ => connect(path, true),
    }
}

/// For the holder of the lock: no other process writes.
fn connect_as_writer(path: &StorePath) -> Result<Connection, StoreError> {
    connect(path, !path.has_log())
}

/// If SQLite is told that the file is immutable, it leaves no files of its own beside it, and reads it also in a directory
/// where it may not make any.
fn connect(path: &StorePath, is_immutable: bool) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let immutable = if is_immutable { "&immutable=1" } else { "" };
    let db = Connection::open_with_flags(format!("{}?mode=ro{immutable}", uri(&path.real)), flags);
    let db = db.map_err(|error| unreadable(path, error))?;
    budget::restrict(&db)
        .and_then(|()| db.pragma_update(None, "temp_store", "memory"))
        .and_then(|()| db.busy_timeout(BUSY_TIMEOUT))
        .map_err(|error| sql(&path.named, error))?;
    Ok(db)
}

/// SQLite says no more than that it cannot; the system says why.
fn unreadable(path: &StorePath, error: rusqlite::Error) -> StoreError {
    match File::open(&path.real) {
        Err(why) => path.io(why),
        Ok(_) => sql(&path.named, error),
    }
}

/// `file:///var/league.db`, `file:///C%3a/league.db`.
fn uri(path: &Path) -> String {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let bytes = absolute.as_os_str().as_encoded_bytes();
    // A canonical path of Windows begins with a prefix that SQLite does not read.
    let bytes = bytes.strip_prefix(br"\\?\").unwrap_or(bytes);
    let mut uri = String::from(if bytes.starts_with(b"/") {
        "file://"
    } else {
        "file:///"
    });
    for byte in bytes {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                uri.push(char::from(*byte))
            }
            byte if char::from(*byte) == MAIN_SEPARATOR => uri.push('/'),
            _ => uri.push_str(&format!("%{byte:02x}")),
        }
    }
    uri
}

/// A store, if there is one, in a transaction that has begun; an error if there is something else, or a store that this program
/// cannot read.
fn recognise_if_present(
    path: &StorePath,
    connect: impl Fn(&StorePath) -> Result<Connection, StoreError>,
) -> Result<Option<(Connection, Budget)>, StoreError> {
    let named = || path.named.clone();
    let known = match fs::metadata(&path.real) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return missing(path),
        Err(error) => return Err(path.io(error)),
        Ok(known) => known,
    };
    if known.is_dir() {
        return Err(StoreError::Directory(named()));
    }
    if known.len() == 0 {
        return Err(StoreError::Empty(named().into()));
    }
    let mut db = connect(path)?;
    let mut recognise = || {
        let budget = Budget::of(&mut db)?;
        db.execute_batch("BEGIN")?;
        Ok((schema::form(&db)?, budget))
    };
    match recognise().map_err(|error| unreadable(path, error))? {
        (Form::NotAStore, _) => Err(StoreError::NotAStore(named().into())),
        (Form::Other(what), _) => Err(StoreError::OtherForm {
            store: named().into(),
            what,
        }),
        (Form::Ours, budget) => Ok(Some((db, budget))),
    }
}

fn missing<T>(path: &StorePath) -> Result<Option<T>, StoreError> {
    if directory(&path.real).is_dir() {
        Ok(None)
    } else {
        Err(StoreError::NoDirectory(path.named.clone()))
    }
}

fn check_whole(path: &StorePath) -> Result<(), StoreError> {
    let check =
        |db: Connection| db.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    let found = check(connect_as_writer(path)?).map_err(|error| sql(&path.named, error))?;
    match fault(&found) {
        None => Ok(()),
        Some(what) => Err(StoreError::Damaged {
            store: (&path.named).into(),
            what,
        }),
    }
}

/// What a check of the whole file has found, if anything.
pub(super) fn fault(found: &str) -> Option<String> {
    // SQLite writes a heading over what it found.
    match found.lines().last().unwrap_or_default() {
        "ok" => None,
        what => Some(what.to_owned()),
    }
}

/// Created under another name and renamed: a crash leaves a complete store or none.
fn create(path: &StorePath, lock: Lock) -> Result<Lock, StoreError> {
    let draft = path.beside(".new");
    let failed = |error| path.io(error);
    for stale in ["", "-wal", "-shm", "-journal"] {
        match fs::remove_file(beside(&draft, stale)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
    }
    // It holds tokens and the secrets of draws to come.
    let file = create_private(&draft).map_err(failed)?;
    let make = || -> rusqlite::Result<()> {
        let mut db = Connection::open_with_flags(&draft, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        schema::create(&mut db)?;
        db.close().map_err(|(_, error)| error)
    };
    make().map_err(|error| sql(&path.named, error))?;
    file.sync_all().map_err(failed)?;
    // Locked before the rename, so that it is never found unlocked.
    let lock = lock.and_database(path, file)?;
    fs::rename(&draft, &path.real).map_err(failed)?;
    sync_directory(directory(&path.real)).map_err(failed)?;
    Ok(lock)
}
