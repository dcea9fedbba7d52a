//! The form of a store in a database: how it is recognised and made. Touches one connection.

use super::connection::{Connection, SqlError};
use crate::error::StoreError;
use crate::store_url::StoreUrl;
use tokio_postgres::error::SqlState;

/// The one version that there is.
const VERSION: i64 = 2;

/// An event's key is the condition under which it is appended. There is no row that says where a stream ends, and no number
/// over all events: both have misled others. Exchanges are numbered by league, so that one that is written twice is kept once.
/// Several processes share a store: each has a row with a lease, and each league an owner.
const SCHEMA: &str = r#"
    CREATE TABLE matchday_meta (
        key   text PRIMARY KEY,
        value text NOT NULL
    );

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

    CREATE TABLE matchday_leagues (
        number         integer PRIMARY KEY,
        epoch          bigint NOT NULL,
        exchange_bytes bigint NOT NULL DEFAULT 0,
        wake_at        bigint,
        removed        boolean NOT NULL DEFAULT false,
        owner          text,
        event_form     integer NOT NULL
    );
    INSERT INTO matchday_leagues (number, epoch, event_form) VALUES (0, 1, 1);
    CREATE INDEX matchday_leagues_of_an_owner ON matchday_leagues (owner);

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

/// The version of the store in a database; `None` if there is none.
pub(super) fn version(db: &Connection) -> Result<Option<i64>, SqlError> {
    match db.query("SELECT value FROM matchday_meta WHERE key = 'version'", &[]) {
        Err(error) if error.is(&SqlState::UNDEFINED_TABLE) => Ok(None),
        rows => {
            let text = rows?
                .first()
                .map(|row| row.try_get::<_, String>(0))
                .transpose()?;
            Ok(Some(text.and_then(|text| text.parse().ok()).unwrap_or(0)))
        }
    }
}

pub(super) fn check(version: i64, store: &StoreUrl) -> Result<(), StoreError> {
    if version == VERSION {
        Ok(())
    } else {
        let what = format!("its form is {version}, and this program knows {VERSION} alone");
        Err(StoreError::OtherForm {
            store: store.clone(),
            what,
        })
    }
}

/// Makes the store if there is none. Of several programs that do so at once, one does it: a table can be made only once.
pub(super) fn make_or_check(db: &Connection, store: &StoreUrl) -> Result<(), StoreError> {
    let failed = |error: SqlError| error.opening(store);
    let encoding = db.query("SHOW server_encoding", &[]).map_err(failed)?;
    let encoding = encoding
        .first()
        .and_then(|row| row.try_get::<_, String>(0).ok())
        .unwrap_or_default();
    if !matches!(encoding.as_str(), "UTF8" | "") {
        let error =
            format!("the database has the encoding {encoding}: make one with ENCODING 'UTF8'");
        return Err(StoreError::Database {
            store: store.clone(),
            error,
        });
    }
    if version(db).map_err(failed)?.is_none() {
        let maker = concat!("matchday ", env!("CARGO_PKG_VERSION"));
        let make = format!(
            "BEGIN; {SCHEMA} INSERT INTO matchday_meta VALUES ('version', '{VERSION}'), ('made_by', '{maker}'); COMMIT"
        );
        match db.batch(&make) {
            // Another program was faster.
            Err(error)
                if error.is(&SqlState::DUPLICATE_TABLE)
                    || error.is(&SqlState::UNIQUE_VIOLATION) =>
            {
                db.batch("ROLLBACK").map_err(failed)?;
            }
            made => made.map_err(failed)?,
        }
    }
    check(version(db).map_err(failed)?.unwrap_or_default(), store)
}
