//! The paths under which seats are called: `/seats/NUMBER/mcp`.

use matchday_core::protocol::Endpoint;

pub(super) const SEATS: &str = "/seats/";

/// The URL at which the player of a seat is called.
pub(super) fn contact(home: &Endpoint, number: u32) -> String {
    let home = home.raw();
    let base = home
        .strip_suffix("/mcp")
        .unwrap_or(home)
        .trim_end_matches('/');
    format!("{base}{SEATS}{number}/mcp")
}
