//! What is not a store that we can use is refused in one line, and left as it is.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use matchday_core::protocol::MatchId;
use matchday_store::{Exchange, Store, StoreError};
use matchday_testkit::event_lines::{append, append_with, chained, line, silence, stream};
use matchday_testkit::tools;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Every file in a directory, with its bytes.
fn contents(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(dir).unwrap().map(|file| file.unwrap());
    let files = files.filter(|file| file.file_type().unwrap().is_file());
    files.map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap())).collect()
}

/// Opens in both ways; gives back what is said, which must be one line, with everything left as it was.
fn refusal(path: &Path) -> String {
    let dir = path.parent().unwrap();
    let before = contents(dir);
    let write = Store::open(path).unwrap_err().to_string();
    assert_eq!(contents(dir), before, "nothing changed by opening to write: {write}");
    let read = Store::open_read_only(path).unwrap_err().to_string();
    assert_eq!(contents(dir), before, "nothing changed by opening to read: {read}");
    assert_eq!(write, read);
    assert!(!write.contains('\n') && write.starts_with(path.to_str().unwrap()), "{write}");
    write
}

fn store_with(path: &Path, events: usize) {
    let store = Store::open(path).unwrap();
    append(&store, "league", (0..events).map(line).collect()).unwrap();
    store.close().unwrap();
    // Taken away, so that what these tests see beside the file was put there by them.
    fs::remove_file(path.with_extension("db.lock")).unwrap();
}

#[test]
fn a_newer_store_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    store_with(&path, 3);
    let db = rusqlite::Connection::open(&path).unwrap();
    db.pragma_update(None, "user_version", 7).unwrap();
    drop(db);
    let said = refusal(&path);
    assert!(said.contains("newer Matchday (its form is 7, this program knows up to 6)"), "{said}");
}

#[test]
fn a_store_of_the_first_form_is_brought_up_to_date_with_all_its_events() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    store_with(&path, 3);
    let before = Store::open_read_only(&path).unwrap().load(&stream("league")).unwrap();
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch(FIFTH_FORM).unwrap();
    db.execute_batch(SECOND_FORM).unwrap();
    db.execute_batch(
        "ALTER TABLE events RENAME TO kept;
         CREATE TABLE events (stream TEXT NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, line TEXT NOT NULL,
                              hash BLOB NOT NULL, PRIMARY KEY (stream, seq)) STRICT;
         INSERT INTO events SELECT * FROM kept ORDER BY rowid;
         DROP TABLE kept;
         PRAGMA user_version = 1;",
    )
    .unwrap();
    drop(db);
    let store = Store::open(&path).unwrap();
    append(&store, "league", vec![line(3)]).unwrap();
    store.close().unwrap();
    let after = Store::open_read_only(&path).unwrap().load(&stream("league")).unwrap();
    assert_eq!(after.len(), 4);
    assert_eq!(after[..3], before);
}

/// Takes away what the sixth form added.
const FIFTH_FORM: &str = "
    ALTER TABLE events RENAME TO kept;
    CREATE TABLE events (stream TEXT NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, line TEXT NOT NULL,
                         hash BLOB NOT NULL, PRIMARY KEY (seq, stream)) STRICT;
    INSERT INTO events SELECT stream, seq, at, line, hash FROM kept ORDER BY rowid;
    DROP TABLE kept;
    DROP TABLE leagues;
    DROP INDEX exchanges_of_a_league;
    DROP INDEX exchanges_of_a_match;
    CREATE INDEX exchanges_of_a_match ON exchanges (match_id, at) WHERE match_id IS NOT NULL;
    CREATE TRIGGER events_have_no_gaps BEFORE INSERT ON events
    WHEN NEW.seq <> 1 AND NOT EXISTS (SELECT 1 FROM events WHERE seq = NEW.seq - 1 AND stream = NEW.stream)
    BEGIN SELECT raise(ROLLBACK, 'an event before this one is missing'); END;
    PRAGMA user_version = 5;
";

/// Takes away what the third and the fourth form added.
const SECOND_FORM: &str = "
    ALTER TABLE exchanges DROP COLUMN league;
    DROP INDEX exchanges_with_errors;
    ALTER TABLE exchanges DROP COLUMN connected_at;
    ALTER TABLE exchanges DROP COLUMN first_byte_at;
    ALTER TABLE exchanges DROP COLUMN deadline_at;
    ALTER TABLE exchanges DROP COLUMN error_code;
    PRAGMA user_version = 2;
";

#[test]
fn a_store_of_the_second_form_is_read_as_it_is_and_brought_up_to_date_when_written_to() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    let store = Store::open(&path).unwrap();
    append_with(&store, "league", vec![line(0)], vec![silence()]).unwrap();
    store.close().unwrap();
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch(FIFTH_FORM).unwrap();
    db.execute_batch(SECOND_FORM).unwrap();
    drop(db);
    let known = Exchange {
        connected_at: None,
        first_byte_at: None,
        deadline_at: None,
        error_code: None,
        ..silence()
    };
    let read = Store::open_read_only(&path).unwrap().exchanges().unwrap();
    assert_eq!(read, std::slice::from_ref(&known));

    let store = Store::open(&path).unwrap();
    append_with(&store, "league", vec![line(1)], vec![silence()]).unwrap();
    store.close().unwrap();
    let exchanges = Store::open_read_only(&path).unwrap().exchanges().unwrap();
    assert_eq!(exchanges, [known, silence()], "what was not noted then is not known now");
}

#[test]
fn a_store_of_the_third_form_holds_one_league_and_then_may_hold_another() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    let store = Store::open(&path).unwrap();
    append_with(&store, "league", vec![line(0)], vec![silence()]).unwrap();
    store.close().unwrap();
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch(FIFTH_FORM).unwrap();
    db.execute_batch("ALTER TABLE exchanges DROP COLUMN league; PRAGMA user_version = 3;").unwrap();
    drop(db);
    assert_eq!(Store::open_read_only(&path).unwrap().exchanges().unwrap(), [silence()]);

    let later = Exchange { agent: "REF02".into(), ..silence() };
    let store = Store::open(&path).unwrap().in_league(2);
    append_with(&store, "league/2", vec![line(1)], vec![later.clone()]).unwrap();
    // Any other agent that writes to the store plays in the league that is played.
    append_with(&store, "referee", Vec::new(), vec![later.clone()]).unwrap();
    assert_eq!(store.leagues().unwrap(), [(1, stream("league")), (2, stream("league/2"))]);
    store.close().unwrap();
    let store = Store::open(&path).unwrap();
    append_with(&store, "referee", Vec::new(), vec![later.clone()]).unwrap();
    store.close().unwrap();
    let reader = Store::open_read_only(&path).unwrap();
    assert_eq!(reader.league(), stream("league/2"));
    assert_eq!(reader.exchanges().unwrap(), [later.clone(), later.clone(), later.clone()]);
    assert_eq!(reader.exchanges_of(&MatchId::new("R1M1")).unwrap().len(), 3);
    let calls = reader.calls_in(&MatchId::new("R1M1"), "http://localhost:8101/mcp").unwrap();
    assert_eq!(calls.len(), 3, "those of the first league's R1M1 are not among them");
}

#[test]
fn a_store_of_the_fifth_form_is_read_as_it_is_and_goes_on_with_every_chain() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    let store = Store::open(&path).unwrap();
    append_with(&store, "league", vec![line(0)], vec![silence()]).unwrap();
    append(&store, "seats", vec![line(1)]).unwrap();
    append_with(&store.in_league(2), "league/2", vec![line(2)], vec![silence()]).unwrap();
    store.close().unwrap();
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch(FIFTH_FORM).unwrap();
    drop(db);
    let reader = Store::open_read_only(&path).unwrap();
    assert_eq!(reader.league(), stream("league/2"));
    assert_eq!(reader.streams().unwrap(), [stream("league/2"), stream("seats")]);
    assert_eq!(reader.exchanges().unwrap().len(), 1);
    let reader = reader.in_league(1);
    assert_eq!(reader.streams().unwrap(), [stream("league"), stream("seats")]);

    // An agent that may have played in both goes on, whichever league is played.
    let store = Store::open(&path).unwrap();
    append(&store, "seats", vec![line(3)]).unwrap();
    append(&store, "league/2", vec![line(4)]).unwrap();
    assert_eq!(store.exchange_bytes(), 2);
    store.close().unwrap();
    let reader = Store::open_read_only(&path).unwrap();
    assert_eq!(reader.load(&stream("seats")).unwrap(), chained("seats", &[line(1), line(3)]));
    assert_eq!(reader.load(&stream("league/2")).unwrap(), chained("league/2", &[line(2), line(4)]));
    assert_eq!(reader.in_league(1).load(&stream("seats")).unwrap().len(), 2);
}

#[test]
fn what_is_not_a_store_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    for (bytes, why) in [
        (&b""[..], "is empty"),
        (b"name,points\nP01,3\n", "is not a store of Matchday"),
        (&[0; 8192], "is not a store of Matchday"),
    ] {
        fs::write(&path, bytes).unwrap();
        let said = refusal(&path);
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn another_programs_database_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("other.db");
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch("CREATE TABLE events (a); INSERT INTO events VALUES (1)").unwrap();
    drop(db);
    assert!(refusal(&path).contains("is not a store of Matchday"));
}

#[test]
fn a_directory_is_not_a_store() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league");
    fs::create_dir(&path).unwrap();
    assert!(refusal(&path).contains("is a directory: name a file in it"));
    let said = Store::open(&path.join("no/where.db")).unwrap_err().to_string();
    assert!(said.contains("lies in a directory that does not exist"), "{said}");
}

#[test]
fn a_missing_store_can_be_made_but_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    let error = Store::open_read_only(&path).unwrap_err();
    assert!(matches!(error, StoreError::Missing(_)), "{error}");
    assert!(!path.exists());
    Store::open(&path).unwrap().close().unwrap();
}

#[test]
fn a_damaged_store_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    store_with(&path, 2000);
    let whole = fs::read(&path).unwrap();
    let mut named = 0;
    // The first page holds the form; the others the tables, the indexes and the events.
    for page in 1..whole.len() / 4096 {
        let mut damaged = whole.clone();
        damaged[page * 4096..page * 4096 + 64].fill(0xa5);
        fs::write(&path, &damaged).unwrap();
        let before = contents(dir.path());
        let opened = Store::open(&path);
        let said = match opened {
            Err(error) => error.to_string(),
            Ok(store) => {
                let error = store.load(&stream("league")).unwrap_err().to_string();
                store.close().unwrap();
                error
            }
        };
        assert!(said.contains("is damaged ("), "page {page}: {said}");
        assert!(!said.contains('\n'), "{said}");
        assert_eq!(contents(dir.path())["league.db"], before["league.db"], "page {page}");
        named += 1;
    }
    assert!(named > 20, "{named} pages");
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let said = Store::open(&path).unwrap_err().to_string();
    assert!(said.contains("is damaged ("), "cut in half: {said}");
}

#[test]
fn a_second_writer_is_refused_and_the_first_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    let store = Store::open(&path).unwrap();
    append(&store, "league", vec![line(0)]).unwrap();
    let said = Store::open(&path).unwrap_err().to_string();
    let pid = std::process::id();
    assert!(
        said.contains(&format!("is in use by another Matchday (process {pid}): stop that one first")),
        "{said}"
    );
    append(&store, "league", vec![line(1)]).unwrap();
    store.close().unwrap();
    Store::open(&path).unwrap().close().unwrap();
}

/// Root may open every file: the test is run once more as a root that may not.
#[cfg(unix)]
fn again_without_the_right_to_open_every_file(test: &str) {
    const AGAIN: &str = "MATCHDAY_TEST_AGAIN";
    assert!(std::env::var_os(AGAIN).is_none(), "this user may still open every file");
    if !tools::require("setpriv") {
        return;
    }
    let mut command = std::process::Command::new("setpriv");
    command.args(["--bounding-set", "-dac_override,-dac_read_search"]).arg(std::env::current_exe().unwrap());
    assert!(command.args(["--exact", test]).env(AGAIN, "1").status().unwrap().success());
}

#[cfg(unix)]
#[test]
fn a_store_of_someone_else_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    store_with(&path, 1);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::File::open(&path).is_ok() {
        return again_without_the_right_to_open_every_file("a_store_of_someone_else_is_refused");
    }
    let said = Store::open(&path).unwrap_err().to_string();
    assert!(said.contains("may not be opened by this user"), "{said}");
}
