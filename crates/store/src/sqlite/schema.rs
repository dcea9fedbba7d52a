//! The form of a store's file: how it is made, and how a file is compared with it before anything is read from it. Touches one
//! SQLite connection.
//!
//! A file may come from anybody. What its schema holds decides what a query does: a view in place of a table may go on for
//! ever, so that every object in it must be one that we make, by its very text.

use rusqlite::Connection;
use std::collections::BTreeMap;

/// "MDAY": how a file says that it is ours.
const APPLICATION_ID: i64 = 0x4d44_4159;

/// The one form that there is.
const FORM: i64 = 6;

/// Events belong to the league of their number, so that streams of two leagues may have the same name. Number 0 is of no
/// single league: the log of a service. Agents go through a league in step: ordered by number, events that are written together
/// come to lie together. To break off one statement, and keep the transaction that it stands in, SQLite copies every page that
/// the statement touches; nobody goes on with such a transaction, so that a gap rolls all of it back.
///
/// `wake_at` says when a league that is not loaded has something to do, 0 for one that is loaded.
const SCHEMA: &str = "
    CREATE TABLE meta (
        key   TEXT PRIMARY KEY NOT NULL,
        value TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE leagues (
        number         INTEGER PRIMARY KEY,
        exchange_bytes INTEGER NOT NULL DEFAULT 0,
        wake_at        INTEGER,
        removed        INTEGER NOT NULL DEFAULT 0
    ) STRICT;

    CREATE TABLE events (
        league INTEGER NOT NULL,
        stream TEXT NOT NULL,
        seq    INTEGER NOT NULL,
        at     INTEGER NOT NULL,
        line   TEXT NOT NULL,
        hash   BLOB NOT NULL,
        PRIMARY KEY (league, seq, stream)
    ) STRICT;

    CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events
    BEGIN SELECT raise(ABORT, 'events are never changed'); END;

    CREATE TRIGGER events_are_never_removed BEFORE DELETE ON events
    WHEN NOT EXISTS (SELECT 1 FROM leagues WHERE number = OLD.league AND removed)
    BEGIN SELECT raise(ABORT, 'events are never removed'); END;

    CREATE TRIGGER events_have_no_gaps BEFORE INSERT ON events
    WHEN NEW.seq <> 1 AND NOT EXISTS
        (SELECT 1 FROM events WHERE league = NEW.league AND seq = NEW.seq - 1 AND stream = NEW.stream)
    BEGIN SELECT raise(ROLLBACK, 'an event before this one is missing'); END;

    CREATE TABLE exchanges (
        id              INTEGER PRIMARY KEY,
        at              INTEGER NOT NULL,
        done_at         INTEGER,
        agent           TEXT NOT NULL,
        direction       TEXT NOT NULL,
        peer            TEXT NOT NULL,
        message_type    TEXT NOT NULL,
        conversation_id TEXT NOT NULL,
        match_id        TEXT,
        request         TEXT NOT NULL,
        answer          TEXT,
        outcome         TEXT NOT NULL,
        connected_at    INTEGER,
        first_byte_at   INTEGER,
        deadline_at     INTEGER,
        error_code      TEXT,
        league          INTEGER NOT NULL
    ) STRICT;

    CREATE INDEX exchanges_of_a_match ON exchanges (league, match_id, at) WHERE match_id IS NOT NULL;
    CREATE INDEX exchanges_of_a_league ON exchanges (league);
    CREATE INDEX exchanges_with_errors ON exchanges (error_code, at) WHERE error_code IS NOT NULL;
";

/// What a file is, by its header and its schema.
pub(super) enum Form {
    NotAStore,
    /// One that this program does not make, and what of it.
    Other(String),
    Ours,
}

/// Reads the header and the schema, and no table.
pub(super) fn form(db: &Connection) -> rusqlite::Result<Form> {
    let number = |name| db.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    if number("application_id")? != APPLICATION_ID {
        return Ok(Form::NotAStore);
    }
    let found = number("user_version")?;
    if found != FORM {
        return Ok(Form::Other(format!(
            "its form is {found}, and this program knows {FORM} alone"
        )));
    }
    let ours = Connection::open_in_memory()?;
    ours.execute_batch(SCHEMA)?;
    Ok(match difference(objects(db)?, objects(&ours)?) {
        Some(what) => Form::Other(what),
        None => Form::Ours,
    })
}

/// The objects of a schema: the kind and the name of each, and the table it is of with the statement that made it.
type Objects = BTreeMap<(String, String), (String, Option<String>)>;

fn objects(db: &Connection) -> rusqlite::Result<Objects> {
    let mut rows = db.prepare("SELECT type, name, tbl_name, sql FROM main.sqlite_schema")?;
    rows.query_map([], |row| {
        Ok(((row.get(0)?, row.get(1)?), (row.get(2)?, row.get(3)?)))
    })?
    .collect()
}

fn difference(found: Objects, ours: Objects) -> Option<String> {
    for (object, made) in &found {
        let kind = shown(&object.0);
        let name = shown(&object.1);
        match ours.get(object) {
            None => return Some(format!("it has a {kind} {name}, and a store has none such")),
            Some(expected) if expected != made => {
                return Some(format!("its {kind} {name} is not that of a store"));
            }
            Some(_) => {}
        }
    }
    let missing = ours.keys().find(|object| !found.contains_key(*object));
    missing.map(|(kind, name)| format!("it has no {kind} {name}"))
}

/// A name in a file of somebody else may be anything.
fn shown(name: &str) -> String {
    const SHOWN_MAX: usize = 60;
    name.chars()
        .take(SHOWN_MAX)
        .flat_map(char::escape_debug)
        .collect()
}

/// Makes an empty store in an empty file.
pub(super) fn create(db: &mut Connection) -> rusqlite::Result<()> {
    // The mode is written into the file and outlives the connection.
    db.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
    let work = db.transaction()?;
    work.pragma_update(None, "application_id", APPLICATION_ID)?;
    work.pragma_update(None, "user_version", FORM)?;
    work.execute_batch(SCHEMA)?;
    let maker = concat!("matchday ", env!("CARGO_PKG_VERSION"));
    work.execute(
        "INSERT INTO meta (key, value) VALUES ('made_by', ?1)",
        [maker],
    )?;
    work.commit()
}
