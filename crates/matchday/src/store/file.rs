//! A store's file on disk: recognised before anything touches it, locked against a second writer, made whole or not at
//! all. Touches the file, its lock beside it, and a half-made file beside it that a crash left.

use super::error::{Holder, StoreError};
use super::schema::{self, Form};
use rusqlite::{Connection, OpenFlags};
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Without locks for callers from several threads, which Rust does not let happen.
const TO_WRITE: OpenFlags = OpenFlags::SQLITE_OPEN_READ_WRITE.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

/// Held for as long as a process may write. The system takes it back when the process dies, however it dies.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

/// Opens a store to write to it, and makes one if there is none.
pub(super) fn open_to_write(path: &Path) -> Result<(Connection, Lock), StoreError> {
    // Looked at before it is locked, so that no lock appears beside a file that is not ours.
    recognise_if_present(path)?;
    let lock = lock(path)?;
    if recognise_if_present(path)? {
        check_whole(path)?;
    } else {
        create(path)?;
    }
    let open = || -> rusqlite::Result<Connection> {
        let mut db = Connection::open_with_flags(path, TO_WRITE)?;
        db.busy_timeout(Duration::from_secs(10))?;
        // A commit is in the system's hands; we have it brought to disk ourselves, for many at once.
        db.pragma_update(None, "synchronous", "normal")?;
        // The thread does that, and not whoever happens to write the last page that there was room for.
        db.pragma_update(None, "wal_autocheckpoint", 0)?;
        schema::update(&mut db)?;
        Ok(db)
    };
    let db = open().map_err(|error| StoreError::sql(path, error))?;
    // SQLite opens a file that may not be written all the same, and fails with the first event.
    if db.is_readonly(rusqlite::MAIN_DB).is_ok_and(|only| only) {
        return Err(StoreError::ReadOnly { path: path.to_owned(), why: "it is write-protected".into() });
    }
    Ok((db, lock))
}

/// Opens a store to look at it, whether or not anyone is writing to it.
pub(super) fn open_to_read(path: &Path) -> Result<Connection, StoreError> {
    if !recognise_if_present(path)? {
        return Err(StoreError::Missing(path.to_owned()));
    }
    connect_to_read(path).map_err(|error| StoreError::sql(path, error))
}

/// Without a log beside it nobody is writing, and SQLite is told that the file stands still: it would otherwise leave
/// files of its own beside it, or refuse to read in a directory where it may not.
pub(super) fn connect_to_read(path: &Path) -> rusqlite::Result<Connection> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let still = if beside(path, "-wal").exists() { "" } else { "&immutable=1" };
    let db = Connection::open_with_flags(format!("{}?mode=ro{still}", uri(path)), flags)?;
    db.busy_timeout(Duration::from_secs(10))?;
    Ok(db)
}

fn uri(path: &Path) -> String {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut uri = String::from("file://");
    for byte in absolute.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                uri.push(char::from(*byte))
            }
            _ => uri.push_str(&format!("%{byte:02x}")),
        }
    }
    uri
}

/// Whether there is a store; an error if there is something else, or one that this program cannot read.
fn recognise_if_present(path: &Path) -> Result<bool, StoreError> {
    let known = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return missing(path),
        Err(error) => return Err(StoreError::io(path, error)),
        Ok(known) => known,
    };
    if known.is_dir() {
        return Err(StoreError::Directory(path.to_owned()));
    }
    if known.len() == 0 {
        return Err(StoreError::Empty(path.to_owned()));
    }
    match connect_to_read(path).and_then(|db| schema::form(&db)) {
        Ok(Form::Foreign) => Err(StoreError::Foreign(path.to_owned())),
        Ok(Form::Ours { version }) if version > schema::known() => {
            Err(StoreError::Newer { path: path.to_owned(), found: version, known: schema::known() })
        }
        Ok(Form::Ours { .. }) => Ok(true),
        // SQLite says no more than that it cannot; the system says why.
        Err(error) => Err(match File::open(path) {
            Err(why) => StoreError::io(path, why),
            Ok(_) => StoreError::sql(path, error),
        }),
    }
}

fn missing(path: &Path) -> Result<bool, StoreError> {
    if directory(path).is_dir() { Ok(false) } else { Err(StoreError::NoDirectory(path.to_owned())) }
}

fn check_whole(path: &Path) -> Result<(), StoreError> {
    let check = || connect_to_read(path)?.query_row("PRAGMA quick_check(1)", [], |row| row.get(0));
    let found: String = check().map_err(|error| StoreError::sql(path, error))?;
    // SQLite writes a heading over what it found.
    match found.lines().last().unwrap_or_default() {
        "ok" => Ok(()),
        what => Err(StoreError::Damaged { path: path.to_owned(), what: what.to_owned() }),
    }
}

fn lock(path: &Path) -> Result<Lock, StoreError> {
    let place = beside(path, ".lock");
    let failed = |error| StoreError::io(path, error);
    let mut file =
        OpenOptions::new().create(true).truncate(false).write(true).open(&place).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let holder = Holder(fs::read_to_string(&place).ok().and_then(|pid| pid.trim().parse().ok()));
            return Err(StoreError::InUse { path: path.to_owned(), holder });
        }
        Err(TryLockError::Error(error)) => return Err(failed(error)),
    }
    // A courtesy to whoever is refused; a disk too full for it fails soon enough where it matters.
    let _ = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
    Ok(Lock { _file: file })
}

/// Made under another name and then renamed: a crash leaves a whole store or none.
fn create(path: &Path) -> Result<(), StoreError> {
    let draft = beside(path, ".new");
    let failed = |error| StoreError::io(path, error);
    for stale in ["", "-wal", "-shm", "-journal"] {
        match fs::remove_file(beside(&draft, stale)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
    }
    let file = create_private(&draft).map_err(failed)?;
    let make = || -> rusqlite::Result<()> {
        let mut db = Connection::open_with_flags(&draft, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        schema::create(&mut db)?;
        db.close().map_err(|(_, error)| error)
    };
    make().map_err(|error| StoreError::sql(path, error))?;
    file.sync_all().map_err(failed)?;
    fs::rename(&draft, path).map_err(failed)?;
    File::open(directory(path)).and_then(|directory| directory.sync_all()).map_err(failed)
}

/// For this user's eyes only: tokens and the secrets of draws to come are kept in it.
pub(super) fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create_new(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

pub(super) fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}
