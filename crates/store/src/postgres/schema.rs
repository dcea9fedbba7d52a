//! The form of a store in a database: how it is recognised, made, and brought up to date. Touches one connection.

use super::connection::{Connection, SqlError};
use crate::error::StoreError;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;
use tokio_postgres::error::SqlState;

/// What each version added to the one before; version n is made by the first n. Never change one that was released.
const MIGRATIONS: &[&str] = &[VERSION_1, VERSION_2];

/// An event's key is the condition under which it is appended. There is no row that says where a stream ends, and no number
/// over all events: both have misled others. Exchanges are numbered by league, so that one that is written twice is kept once.
const VERSION_1: &str = r#"
    CREATE TABLE matchday_meta (
        key   text PRIMARY KEY,
        value text NOT NULL
    );

    CREATE TABLE matchday_writer (
        one        integer PRIMARY KEY,
        epoch      bigint NOT NULL,
        holder     text NOT NULL,
        expires_at timestamptz NOT NULL
    );
    INSERT INTO matchday_writer VALUES (1, 0, '', now());

    CREATE TABLE matchday_leagues (
        number         integer PRIMARY KEY,
        epoch          bigint NOT NULL,
        exchange_bytes bigint NOT NULL DEFAULT 0,
        wake_at        bigint,
        removed        boolean NOT NULL DEFAULT false
    );

    CREATE TABLE matchday_events (
        league integer NOT NULL,
        stream text COLLATE "C" NOT NULL,
        seq    bigint NOT NULL,
        at     bigint NOT NULL,
        line   text NOT NULL,
        hash   bytea NOT NULL,
        PRIMARY KEY (league, stream, seq)
    );

    CREATE TABLE matchday_exchanges (
        league          integer NOT NULL,
        id              bigint NOT NULL,
        at              bigint NOT NULL,
        done_at         bigint,
        agent           text NOT NULL,
        direction       text NOT NULL,
        peer            text NOT NULL,
        message_type    text NOT NULL,
        conversation_id text NOT NULL,
        match_id        text,
        request         text NOT NULL,
        answer          text,
        outcome         text NOT NULL,
        connected_at    bigint,
        first_byte_at   bigint,
        deadline_at     bigint,
        error_code      text,
        PRIMARY KEY (league, id)
    );

    CREATE INDEX matchday_exchanges_of_a_match ON matchday_exchanges (league, match_id, at) WHERE match_id IS NOT NULL;
"#;

/// Several processes share a store: each has a row with a lease, and each league an owner. `event_form` has no default, so that a
/// program of the version before, which may have been stopped in the meantime, makes no league; and its lease is gone.
const VERSION_2: &str = r#"
    CREATE TABLE matchday_processes (
        id          text PRIMARY KEY,
        name        text NOT NULL,
        url         text NOT NULL,
        certificate bytea NOT NULL,
        version     text NOT NULL,
        event_form  integer NOT NULL,
        exclusive   boolean NOT NULL,
        alive       boolean NOT NULL,
        started_at  timestamptz NOT NULL,
        expires_at  timestamptz NOT NULL,
        takeovers   bigint NOT NULL,
        syncs       bigint NOT NULL
    );

    ALTER TABLE matchday_leagues ADD COLUMN owner text;
    ALTER TABLE matchday_leagues ADD COLUMN event_form integer NOT NULL DEFAULT 1;
    ALTER TABLE matchday_leagues ALTER COLUMN event_form DROP DEFAULT;
    UPDATE matchday_leagues SET epoch = epoch + 1;
    INSERT INTO matchday_leagues (number, epoch, event_form) SELECT 0, epoch + 1, 1 FROM matchday_writer
        ON CONFLICT (number) DO NOTHING;
    CREATE INDEX matchday_leagues_of_an_owner ON matchday_leagues (owner);
    DROP TABLE matchday_writer;
"#;

/// The program of version 1 that holds its lease.
const WRITER_OF_1: &str = "SELECT holder FROM matchday_writer WHERE expires_at > clock_timestamp()";
/// How long it lasts, and a little more.
const OLD_LEASE: Duration = Duration::from_millis(3250);

/// The version that this program writes.
fn known() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// The version of the store in a database; `None` if there is none.
pub(super) fn version(db: &Connection) -> Result<Option<i64>, SqlError> {
    match db.query("SELECT value FROM matchday_meta WHERE key = 'version'", &[]) {
        Err(error) if error.is(&SqlState::UNDEFINED_TABLE) => Ok(None),
        rows => {
            let text = rows?.first().map(|row| row.try_get::<_, String>(0)).transpose()?;
            Ok(Some(text.and_then(|text| text.parse().ok()).unwrap_or(0)))
        }
    }
}

pub(super) fn check(version: i64, path: &Path) -> Result<(), StoreError> {
    match version > known() {
        true => Err(StoreError::Newer { path: path.to_owned(), found: version, known: known() }),
        false => Ok(()),
    }
}

/// Makes the store, or brings it up to this version. Of several programs that do so at once, one does it: a table can be made
/// only once, and from then on the row of the version is the lock.
pub(super) fn update(db: &Connection, path: &Path) -> Result<(), StoreError> {
    let failed = |error: SqlError| error.opening(path);
    let encoding = db.query("SHOW server_encoding", &[]).map_err(failed)?;
    let encoding = encoding.first().and_then(|row| row.try_get::<_, String>(0).ok()).unwrap_or_default();
    if !matches!(encoding.as_str(), "UTF8" | "") {
        let error = format!("the database has the encoding {encoding}: make one with ENCODING 'UTF8'");
        return Err(StoreError::Database { path: path.to_owned(), error });
    }
    if version(db).map_err(failed)?.is_none() {
        let maker = concat!("matchday ", env!("CARGO_PKG_VERSION"));
        let make = format!(
            "BEGIN; {VERSION_1} INSERT INTO matchday_meta VALUES ('version', '1'), ('made_by', '{maker}'); COMMIT"
        );
        match db.batch(&make) {
            // Another program was faster.
            Err(error) if error.is(&SqlState::DUPLICATE_TABLE) || error.is(&SqlState::UNIQUE_VIOLATION) => {
                db.batch("ROLLBACK").map_err(failed)?;
            }
            made => made.map_err(failed)?,
        }
    }
    let mut waited = false;
    loop {
        match migrate(db, path) {
            Err(StoreError::Owned { .. }) if !waited => {
                // The holder may have died: then its lease is not renewed any more.
                sleep(OLD_LEASE);
                waited = true;
            }
            outcome => return outcome.inspect_err(|_| drop(db.batch("ROLLBACK"))),
        }
    }
}

/// Under the lock of the version's row.
fn migrate(db: &Connection, path: &Path) -> Result<(), StoreError> {
    let failed = |error: SqlError| error.opening(path);
    let _ = db.batch("ROLLBACK");
    db.batch("BEGIN; SELECT value FROM matchday_meta WHERE key = 'version' FOR UPDATE").map_err(failed)?;
    let found = version(db).map_err(failed)?.unwrap_or_default();
    check(found, path)?;
    if found == 1 {
        let rows = db.query(WRITER_OF_1, &[]).map_err(failed)?;
        if let Some(row) = rows.first() {
            let holder = row.try_get(0).map_err(|error| failed(error.into()))?;
            return Err(StoreError::Owned { path: path.to_owned(), holder });
        }
    }
    for step in MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or_default()) {
        db.batch(step).map_err(failed)?;
    }
    let version = format!("UPDATE matchday_meta SET value = '{}' WHERE key = 'version'; COMMIT", known());
    db.batch(&version).map_err(failed)
}
