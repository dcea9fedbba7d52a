//! Settings of a server that lose what was acknowledged, as far as a program can see them. Reads the server's settings.

use super::connection::Connection;
use crate::store_url::StoreUrl;

/// What is wrong, by setting and value.
fn complaint(name: &str, value: &str) -> Option<&'static str> {
    match (name, value) {
        ("fsync", "off") => {
            Some("a crash of its machine can lose or damage everything: set fsync = on")
        }
        ("full_page_writes", "off") => {
            Some("a crash of its machine can damage pages: set full_page_writes = on")
        }
        ("synchronous_commit", "off") => {
            Some("Matchday turns it on for what must last; nothing else in the database is safe")
        }
        _ => None,
    }
}

pub(super) fn warn(db: &Connection, store: &StoreUrl) {
    let sql = "SELECT name, setting FROM pg_settings WHERE name IN \
               ('fsync', 'full_page_writes', 'synchronous_commit', 'synchronous_standby_names')";
    // Another server may have no such settings.
    let rows = db.query(sql, &[]).unwrap_or_default();
    let settings: Vec<(String, String)> = rows
        .iter()
        .filter_map(|row| Some((row.try_get(0).ok()?, row.try_get(1).ok()?)))
        .collect();
    for (name, value) in &settings {
        if let Some(why) = complaint(name, value) {
            tracing::warn!(target: "matchday::store", %store, "the database has {name} = {value}: {why}");
        }
    }
    let synchronous = settings
        .iter()
        .any(|(name, value)| name == "synchronous_standby_names" && !value.is_empty());
    // An ordinary role sees that standbys are there, and not more of them.
    let standbys = db
        .query("SELECT 1 FROM pg_stat_replication", &[])
        .unwrap_or_default();
    if !synchronous && !standbys.is_empty() {
        tracing::warn!(
            target: "matchday::store", %store,
            "the database has standbys and none is synchronous: a failover to one can lose what was acknowledged; set \
             synchronous_standby_names"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_lose_data_are_told_and_others_are_not() {
        assert!(
            complaint("fsync", "off").is_some() && complaint("synchronous_commit", "off").is_some()
        );
        assert!(
            complaint("fsync", "on").is_none() && complaint("synchronous_commit", "on").is_none()
        );
    }
}
