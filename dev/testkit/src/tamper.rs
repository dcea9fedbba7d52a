//! Changes the events of a store behind the program's back, as somebody would who wants to deceive its readers.

use rusqlite::Connection;
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
