//! The numbers of a store's leagues, in the database. Reads it.

use crate::append::NO_LEAGUE;
use rusqlite::Connection;

/// The number of the latest league in a store.
pub(super) fn latest(db: &Connection) -> rusqlite::Result<u32> {
    let sql = "SELECT max(number) FROM leagues WHERE NOT removed";
    Ok(db.query_row(sql, [], |row| row.get::<_, Option<u32>>(0))?.unwrap_or(1))
}

/// Whether a row of `events` belongs to a league, for SQL. Agents of no single league count to each.
pub(super) fn condition(league: u32) -> String {
    match league {
        NO_LEAGUE => "league = 0 AND stream = 'service'".to_owned(),
        league => format!("league IN ({league}, 0) AND stream <> 'service'"),
    }
}
