//! A league that is not open to readers.

use crate::league::{Shown, settings};
use matchday_core::league;

#[tokio::test]
async fn a_league_that_is_not_open_to_readers_shows_nothing_without_the_operator_token() {
    let closed = league::LeagueSettings {
        public_reads: false,
        ..settings()
    };
    let shown = Shown::empty(closed).await;
    for path in [
        "/api/league",
        "/api/standings",
        "/api/messages",
        "/api/events",
        "/api/players/P01",
    ] {
        let reply = shown.get(path).await;
        assert_eq!(reply.status, 401, "{path}: {reply:?}");
        assert!(reply.error().contains("operator token"), "{reply:?}");
    }
    assert_eq!(shown.see("/api/league").await.json()["operator"], true);
    assert_eq!(shown.see("/api/standings").await.status, 200);
}
