//! The paths under which seats are called: `/seats/NUMBER/mcp`; and where their store is.

use matchday_core::protocol::Endpoint;
use matchday_store::open::file_base;
use std::path::{Path, PathBuf};

pub(super) const SEATS: &str = "/seats/";

/// The URL at which the player of a seat is called.
pub(super) fn contact(home: &Endpoint, number: u32) -> String {
    let home = home.raw();
    let base = home.strip_suffix("/mcp").unwrap_or(home).trim_end_matches('/');
    format!("{base}{SEATS}{number}/mcp")
}

/// The store of the seats of a league that is kept here: `matchday.db` becomes `matchday-seats.db`.
pub fn store_path(league: &Path) -> PathBuf {
    let path = file_base(league);
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    path.with_file_name(format!("{name}-seats.db"))
}
