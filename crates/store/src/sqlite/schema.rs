//! The form of a store's file: how it is recognised, made, and brought up to date. Touches one SQLite connection.

use rusqlite::{Connection, Transaction};

/// "MDAY": how a file says that it is ours.
const APPLICATION_ID: i64 = 0x4d44_4159;

/// What each version added to the one before; version n is made by the first n. Never change one that was released.
const MIGRATIONS: &[&str] = &[VERSION_1, VERSION_2, VERSION_3, VERSION_4, VERSION_5, VERSION_6];

const VERSION_1: &str = "
    CREATE TABLE meta (
        key   TEXT PRIMARY KEY NOT NULL,
        value TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE events (
        stream TEXT NOT NULL,
        seq    INTEGER NOT NULL,
        at     INTEGER NOT NULL,
        line   TEXT NOT NULL,
        hash   BLOB NOT NULL,
        PRIMARY KEY (stream, seq)
    ) STRICT;

    CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events
    BEGIN SELECT raise(ABORT, 'events are never changed'); END;

    CREATE TRIGGER events_are_never_removed BEFORE DELETE ON events
    BEGIN SELECT raise(ABORT, 'events are never removed'); END;

    CREATE TRIGGER events_have_no_gaps BEFORE INSERT ON events
    WHEN NEW.seq <> 1 + coalesce((SELECT max(seq) FROM events WHERE stream = NEW.stream), 0)
    BEGIN SELECT raise(ABORT, 'another event has this number, or one before it is missing'); END;

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
        outcome         TEXT NOT NULL
    ) STRICT;

    CREATE INDEX exchanges_of_a_match ON exchanges (match_id, at) WHERE match_id IS NOT NULL;
";

/// Agents go through a league in step, so that events with the same number are written together. Ordered by number they
/// come to lie together too; ordered by stream, every agent's lay on a page of its own, to be written at every commit.
const VERSION_2: &str = "
    CREATE TABLE events_by_number (
        stream TEXT NOT NULL,
        seq    INTEGER NOT NULL,
        at     INTEGER NOT NULL,
        line   TEXT NOT NULL,
        hash   BLOB NOT NULL,
        PRIMARY KEY (seq, stream)
    ) STRICT;

    INSERT INTO events_by_number SELECT stream, seq, at, line, hash FROM events ORDER BY rowid;
    DROP TABLE events;
    ALTER TABLE events_by_number RENAME TO events;

    CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events
    BEGIN SELECT raise(ABORT, 'events are never changed'); END;

    CREATE TRIGGER events_are_never_removed BEFORE DELETE ON events
    BEGIN SELECT raise(ABORT, 'events are never removed'); END;

    CREATE TRIGGER events_have_no_gaps BEFORE INSERT ON events
    WHEN EXISTS (SELECT 1 FROM events WHERE seq = NEW.seq AND stream = NEW.stream)
      OR (NEW.seq <> 1 AND NOT EXISTS (SELECT 1 FROM events WHERE seq = NEW.seq - 1 AND stream = NEW.stream))
    BEGIN SELECT raise(ABORT, 'another event has this number, or one before it is missing'); END;
";

/// How the time of a call went by, and the code of what went wrong with it, so that such calls are found without reading
/// all the others.
const VERSION_3: &str = "
    ALTER TABLE exchanges ADD COLUMN connected_at INTEGER;
    ALTER TABLE exchanges ADD COLUMN first_byte_at INTEGER;
    ALTER TABLE exchanges ADD COLUMN deadline_at INTEGER;
    ALTER TABLE exchanges ADD COLUMN error_code TEXT;

    CREATE INDEX exchanges_with_errors ON exchanges (error_code, at) WHERE error_code IS NOT NULL;
";

/// A store may hold several leagues, and each has a match R1M1.
const VERSION_4: &str = "
    ALTER TABLE exchanges ADD COLUMN league INTEGER NOT NULL DEFAULT 1;
";

/// To break off one statement, and keep the transaction that it stands in, SQLite copies every page that the statement
/// touches. Nobody goes on with such a transaction.
const VERSION_5: &str = "
    DROP TRIGGER events_have_no_gaps;
    CREATE TRIGGER events_have_no_gaps BEFORE INSERT ON events
    WHEN NEW.seq <> 1 AND NOT EXISTS (SELECT 1 FROM events WHERE seq = NEW.seq - 1 AND stream = NEW.stream)
    BEGIN SELECT raise(ROLLBACK, 'an event before this one is missing'); END;
";

/// Which league a stream belongs to by its name, as it was before version 6.
macro_rules! league_of_stream {
    () => {
        "CASE WHEN stream = 'league' THEN 1 \
         WHEN stream GLOB 'league/[1-9]*' THEN CAST(substr(stream, 8) AS INTEGER) ELSE 0 END"
    };
}

/// Events belong to the league of their number, so that streams of two leagues may have the same name. Number 0 is of no
/// single league: the log of a service, and agents from before leagues were told apart, which may have played in several.
/// `wake_at` says when a league that is not loaded has something to do, 0 for one that is loaded.
const VERSION_6: &str = concat!(
    "
    CREATE TABLE leagues (
        number         INTEGER PRIMARY KEY,
        exchange_bytes INTEGER NOT NULL DEFAULT 0,
        wake_at        INTEGER,
        removed        INTEGER NOT NULL DEFAULT 0
    ) STRICT;

    CREATE TABLE events_of_leagues (
        league INTEGER NOT NULL,
        stream TEXT NOT NULL,
        seq    INTEGER NOT NULL,
        at     INTEGER NOT NULL,
        line   TEXT NOT NULL,
        hash   BLOB NOT NULL,
        PRIMARY KEY (league, seq, stream)
    ) STRICT;

    INSERT INTO events_of_leagues SELECT ",
    league_of_stream!(),
    ", stream, seq, at, line, hash FROM events ORDER BY rowid;
    DROP TABLE events;
    ALTER TABLE events_of_leagues RENAME TO events;

    CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events
    BEGIN SELECT raise(ABORT, 'events are never changed'); END;

    CREATE TRIGGER events_are_never_removed BEFORE DELETE ON events
    WHEN NOT EXISTS (SELECT 1 FROM leagues WHERE number = OLD.league AND removed)
    BEGIN SELECT raise(ABORT, 'events are never removed'); END;

    CREATE TRIGGER events_have_no_gaps BEFORE INSERT ON events
    WHEN NEW.seq <> 1 AND NOT EXISTS
        (SELECT 1 FROM events WHERE league = NEW.league AND seq = NEW.seq - 1 AND stream = NEW.stream)
    BEGIN SELECT raise(ROLLBACK, 'an event before this one is missing'); END;

    INSERT INTO leagues (number, exchange_bytes) SELECT league,
        sum(length(CAST(request AS BLOB)) + coalesce(length(CAST(answer AS BLOB)), 0)) FROM exchanges GROUP BY league;
    INSERT OR IGNORE INTO leagues (number) SELECT DISTINCT league FROM events WHERE seq = 1 AND league > 0;

    DROP INDEX exchanges_of_a_match;
    CREATE INDEX exchanges_of_a_match ON exchanges (league, match_id, at) WHERE match_id IS NOT NULL;
    CREATE INDEX exchanges_of_a_league ON exchanges (league);
"
);

/// Shows a store of an older version in the form of today, for readers, which change nothing in the file.
pub(super) fn views_of(version: i64) -> String {
    let mut views = String::new();
    if version < 6 {
        views.push_str(EVENTS_BEFORE_6);
    }
    if version < 4 {
        let times = match version < 3 {
            true => "NULL AS connected_at, NULL AS first_byte_at, NULL AS deadline_at, NULL AS error_code",
            false => "connected_at, first_byte_at, deadline_at, error_code",
        };
        views.push_str(&format!(
            "CREATE TEMP VIEW exchanges AS SELECT id, at, done_at, agent, direction, peer, message_type, \
             conversation_id, match_id, request, answer, outcome, {times}, 1 AS league FROM main.exchanges;"
        ));
    }
    views
}

const EVENTS_BEFORE_6: &str = concat!(
    "
    CREATE TEMP VIEW events AS SELECT ",
    league_of_stream!(),
    " AS league, stream, seq, at, line, hash FROM main.events;
    CREATE TEMP VIEW leagues AS SELECT DISTINCT league AS number, NULL AS wake_at, 0 AS removed
        FROM events WHERE seq = 1 AND league > 0;
"
);

/// The version that this program writes.
pub(super) fn known() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// What a file says of itself.
pub(super) enum Form {
    NotAStore,
    Ours { version: i64 },
}

pub(super) fn form(db: &Connection) -> rusqlite::Result<Form> {
    let number = |name| db.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    Ok(match number("application_id")? {
        APPLICATION_ID => Form::Ours { version: number("user_version")? },
        _ => Form::NotAStore,
    })
}

/// Makes an empty store in an empty file.
pub(super) fn create(db: &mut Connection) -> rusqlite::Result<()> {
    // The mode is written into the file and outlives the connection.
    db.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
    let work = db.transaction()?;
    work.pragma_update(None, "application_id", APPLICATION_ID)?;
    migrate(&work, 0)?;
    let maker = concat!("matchday ", env!("CARGO_PKG_VERSION"));
    work.execute("INSERT INTO meta (key, value) VALUES ('made_by', ?1)", [maker])?;
    work.commit()
}

/// Brings a store of an older version up to this one.
pub(super) fn update(db: &mut Connection) -> rusqlite::Result<()> {
    let version: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if version == known() {
        return Ok(());
    }
    let work = db.transaction()?;
    migrate(&work, version)?;
    work.commit()
}

fn migrate(work: &Transaction<'_>, version: i64) -> rusqlite::Result<()> {
    let done = usize::try_from(version).unwrap_or(0);
    for step in MIGRATIONS.iter().skip(done) {
        work.execute_batch(step)?;
    }
    work.pragma_update(None, "user_version", known())
}
