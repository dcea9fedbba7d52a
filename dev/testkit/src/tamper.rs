//! Changes the events of a store behind the program's back, as somebody would who wants to deceive its readers.

use rusqlite::Connection;
use std::fs;
use std::path::Path;

/// Runs statements on a store's file while nothing in it forbids them; its schema is the same afterwards. How many rows changed.
pub fn tamper(path: &Path, statements: &str) -> u64 {
    let db = Connection::open(path).unwrap();
    let mut query = db
        .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
        .unwrap();
    let triggers = query
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    let triggers: Vec<(String, String)> = triggers.collect::<Result<_, _>>().unwrap();
    drop(query);
    for (name, _) in &triggers {
        db.execute_batch(&format!("DROP TRIGGER {name}")).unwrap();
    }
    let before = db.total_changes();
    db.execute_batch(statements).unwrap();
    let changed = db.total_changes() - before;
    for (_, sql) in &triggers {
        db.execute_batch(sql).unwrap();
    }
    changed
}

/// Overwrites the page of a store's file on which a text stands last, as a failing disk does.
pub fn spoil_page_with(path: &Path, text: &str) {
    let db = Connection::open(path).unwrap();
    let size: u32 = db
        .pragma_query_value(None, "page_size", |row| row.get(0))
        .unwrap();
    drop(db);
    let mut bytes = fs::read(path).unwrap();
    let mut windows = bytes.windows(text.len());
    let place = windows
        .rposition(|window| window == text.as_bytes())
        .unwrap();
    let size = size as usize;
    bytes[place / size * size..][..size].fill(0xff);
    fs::write(path, bytes).unwrap();
}
