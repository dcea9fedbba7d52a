//! What is not a store that we can use is refused in one line, and left as it is.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use matchday_store::{Store, StoreError};
use matchday_testkit::event_lines::{append, line, stream};
use matchday_testkit::tamper::tamper;
use matchday_testkit::tools;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Every file in a directory, with its bytes.
fn contents(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(dir).unwrap().map(|file| file.unwrap());
    let files = files.filter(|file| file.file_type().unwrap().is_file());
    files
        .map(|file| {
            (
                file.file_name().into_string().unwrap(),
                fs::read(file.path()).unwrap(),
            )
        })
        .collect()
}

/// Opens in both ways; gives back what is said, which must be one line, with everything left as it was.
fn refusal(path: &Path) -> String {
    let dir = path.parent().unwrap();
    let before = contents(dir);
    let write = Store::open(path).unwrap_err().to_string();
    assert_eq!(
        contents(dir),
        before,
        "nothing changed by opening to write: {write}"
    );
    let read = Store::open_read_only(path).unwrap_err().to_string();
    assert_eq!(
        contents(dir),
        before,
        "nothing changed by opening to read: {read}"
    );
    assert_eq!(write, read);
    assert!(
        !write.contains('\n') && write.starts_with(path.to_str().unwrap()),
        "{write}"
    );
    write
}

fn store_with(path: &Path, events: usize) {
    let store = Store::open(path).unwrap();
    append(&store, "league", (0..events).map(line).collect()).unwrap();
    store.close().unwrap();
}

#[test]
fn a_store_of_another_form_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    store_with(&path, 3);
    for form in [5, 7] {
        let db = rusqlite::Connection::open(&path).unwrap();
        db.pragma_update(None, "user_version", form).unwrap();
        drop(db);
        let said = refusal(&path);
        assert!(
            said.contains(&format!(
                "its form is {form}, and this program knows 6 alone"
            )),
            "{said}"
        );
    }
}

/// Changes a store's schema, and gives back why it is refused.
fn refused_with(statements: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    store_with(&path, 3);
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch(statements).unwrap();
    db.close().unwrap();
    refusal(&path)
}

const ENDLESS_EVENTS: &str = "
    DROP TABLE events;
    CREATE VIEW events AS WITH RECURSIVE n(seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM n)
        SELECT 1 AS league, 'league' AS stream, seq, 0 AS at, '{}' AS line, zeroblob(32) AS hash FROM n;";
const ENDLESS_EXCHANGES: &str = "
    DROP TABLE exchanges;
    CREATE VIEW exchanges AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n)
        SELECT id, 1 AS league FROM n;";
const LONG_LINE: &str = "
    DROP TABLE events;
    CREATE VIEW events AS SELECT 1 AS league, 'league' AS stream, 1 AS seq, 0 AS at,
        hex(zeroblob(400000000)) AS line, zeroblob(32) AS hash;";

#[test]
fn whatever_a_store_does_not_have_is_refused_before_it_is_read() {
    for (statements, what) in [
        (ENDLESS_EVENTS, "it has a view events, and a store has none such"),
        (ENDLESS_EXCHANGES, "it has a view exchanges, and a store has none such"),
        (LONG_LINE, "it has a view events, and a store has none such"),
        (
            "CREATE TRIGGER more AFTER INSERT ON events BEGIN DELETE FROM meta; END",
            "it has a trigger more, and a store has none such",
        ),
        ("CREATE TABLE more (a)", "it has a table more, and a store has none such"),
        ("CREATE INDEX more ON events (at)", "it has a index more, and a store has none such"),
        (
            "PRAGMA writable_schema = ON;
             INSERT INTO sqlite_schema VALUES ('table', 'more', 'more', 0, 'CREATE VIRTUAL TABLE more USING no(a)')",
            "it has a table more, and a store has none such",
        ),
        ("CREATE TABLE \"a\u{1b}[31m\nb\" (a)", "it has a table a\\u{1b}[31m\\nb, and a store has none such"),
        ("DROP INDEX exchanges_of_a_league", "it has no index exchanges_of_a_league"),
        ("DROP TRIGGER events_have_no_gaps", "it has no trigger events_have_no_gaps"),
        (
            "ALTER TABLE exchanges ADD COLUMN more TEXT AS (hex(zeroblob(400000000)))",
            "its table exchanges is not that of a store",
        ),
        ("ALTER TABLE exchanges RENAME COLUMN peer TO other", "its table exchanges is not that of a store"),
    ] {
        let said = refused_with(statements);
        assert!(said.contains(what), "{statements}: {said}");
        assert!(said.contains("read it with the program that wrote it, or name another file"), "{said}");
    }
}

#[test]
fn a_row_that_is_too_long_is_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    store_with(&path, 3);
    // 160 MB, of which the file has no more than the pages.
    tamper(
        &path,
        "UPDATE events SET line = CAST(zeroblob(160000000) AS TEXT) WHERE seq = 2",
    );
    let reader = Store::open_read_only(&path).unwrap();
    let said = reader.load(&stream("league")).unwrap_err().to_string();
    assert!(
        said.contains("damaged (it has a row of more than 128 MiB)"),
        "{said}"
    );
}

#[test]
fn pages_that_refer_to_each_other_again_and_again_are_not_followed_for_ever() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    store_with(&path, 3);
    let db = rusqlite::Connection::open(&path).unwrap();
    let leagues: Vec<String> = (1..300)
        .map(|number| format!("({number}, 0, NULL, 0)"))
        .collect();
    db.execute_batch(&format!(
        "INSERT OR REPLACE INTO leagues VALUES {}",
        leagues.join(",")
    ))
    .unwrap();
    let root = "SELECT rootpage FROM sqlite_schema WHERE name = 'leagues'";
    let root = usize::from(db.query_row(root, [], |row| row.get::<_, u16>(0)).unwrap());
    db.close().unwrap();
    let mut bytes = fs::read(&path).unwrap();
    // The table becomes a tree of five levels with 300 branches each, and every branch of a level leads to one and the same page.
    let leaf = bytes[(root - 1) * 4096..root * 4096].to_vec();
    assert_eq!(leaf[0], 13, "the table is one page");
    bytes.extend(leaf);
    for _ in 0..4 {
        let child = u32::try_from(bytes.len() / 4096).unwrap();
        bytes.extend(branches_to(child));
    }
    let top = bytes[bytes.len() - 4096..].to_vec();
    bytes[(root - 1) * 4096..root * 4096].copy_from_slice(&top);
    let pages = u32::try_from(bytes.len() / 4096).unwrap();
    bytes[28..32].copy_from_slice(&pages.to_be_bytes());
    fs::write(&path, &bytes).unwrap();
    let said = Store::open_read_only(&path)
        .unwrap()
        .leagues()
        .unwrap_err()
        .to_string();
    assert!(
        said.contains("damaged (there is more to read in it than a file of its size can hold)"),
        "{said}"
    );
}

/// A page of SQLite's with 300 branches of a table, all to one page.
fn branches_to(child: u32) -> Vec<u8> {
    let mut page = vec![0; 4096];
    page[0] = 5;
    page[3..5].copy_from_slice(&300_u16.to_be_bytes());
    page[8..12].copy_from_slice(&child.to_be_bytes());
    for number in 0..300 {
        let at = 4096 - 5 * (number + 1);
        page[12 + 2 * number..][..2].copy_from_slice(&u16::try_from(at).unwrap().to_be_bytes());
        page[at..at + 4].copy_from_slice(&child.to_be_bytes());
        page[at + 4] = 1;
    }
    let content = u16::try_from(4096 - 5 * 300).unwrap();
    page[5..7].copy_from_slice(&content.to_be_bytes());
    page
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
    db.execute_batch("CREATE TABLE events (a); INSERT INTO events VALUES (1)")
        .unwrap();
    drop(db);
    assert!(refusal(&path).contains("is not a store of Matchday"));
}

#[test]
fn a_directory_is_not_a_store() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league");
    fs::create_dir(&path).unwrap();
    assert!(refusal(&path).contains("is a directory: name a file in it"));
    let said = Store::open(path.join("no/where.db"))
        .unwrap_err()
        .to_string();
    assert!(
        said.contains("lies in a directory that does not exist"),
        "{said}"
    );
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
        assert_eq!(
            contents(dir.path())["league.db"],
            before["league.db"],
            "page {page}"
        );
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
        said.contains(&format!(
            "is in use by another Matchday (process {pid}): stop that one first"
        )),
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
    assert!(
        std::env::var_os(AGAIN).is_none(),
        "this user may still open every file"
    );
    if !tools::require("setpriv") {
        return;
    }
    let mut command = std::process::Command::new("setpriv");
    command
        .args(["--bounding-set", "-dac_override,-dac_read_search"])
        .arg(std::env::current_exe().unwrap());
    assert!(
        command
            .args(["--exact", test])
            .env(AGAIN, "1")
            .status()
            .unwrap()
            .success()
    );
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
