//! A league that lies in a file.

use crate::league::{Shown, TOKEN, in_play, send, settings};
use matchday_net::origin_check::Allowlist;
use matchday_server::dashboard::{self, Dashboard};
use matchday_store::Location;
use matchday_store::{Store, StoreUrl};
use matchday_testkit::test_league::free_port;
use serde_json::{Value, json};
use std::net::SocketAddr;
use tokio::sync::watch;

struct Library {
    address: SocketAddr,
    _close: watch::Sender<bool>,
}

impl Library {
    async fn of(store: &StoreUrl, local: bool) -> Self {
        let listener = free_port().await;
        let address = listener.local_addr().unwrap();
        let dashboard = Dashboard::stored(Location::latest(store), Vec::new(), local).unwrap();
        let (close, closing) = watch::channel(false);
        tokio::spawn(dashboard::serve(
            dashboard,
            listener,
            Allowlist::default(),
            closing,
        ));
        Self {
            address,
            _close: close,
        }
    }

    async fn page(&self, path: &str) -> Value {
        let reply = send(self.address, "GET", path, &[], "").await;
        assert_eq!(reply.status, 200, "{path}: {reply:?}");
        reply.json()
    }
}

#[tokio::test]
async fn a_stored_league_looks_as_it_did_when_it_ended() {
    let shown = Shown::finished(settings(), 3).await;
    let (table, cross) = (
        shown.page("/api/standings").await["rows"].clone(),
        shown.page("/api/cross").await["cells"].clone(),
    );
    let path = shown.test_league.store.url().clone();
    let library = Library::of(&path, true).await;
    let league = library.page("/api/league").await;
    assert_eq!(
        (&league["live"], &league["phase"]),
        (&json!(false), &json!("completed"))
    );
    let without_ratings = |rows: &Value| {
        let mut rows = rows.clone();
        rows.as_array_mut()
            .unwrap()
            .iter_mut()
            .for_each(|row| drop(row.as_object_mut().unwrap().remove("rating")));
        rows
    };
    assert_eq!(
        without_ratings(&library.page("/api/standings").await["rows"]),
        without_ratings(&table)
    );
    assert_eq!(library.page("/api/cross").await["cells"], cross);
    assert_eq!(
        library.page("/api/matches/R1M1").await["draw"]["holds"],
        true
    );
}

#[tokio::test]
async fn a_stored_league_takes_no_orders() {
    let shown = Shown::finished(settings(), 2).await;
    let library = Library::of(shown.test_league.store.url(), true).await;
    let token = format!("Bearer {TOKEN}");
    let headers = [
        ("authorization", token.as_str()),
        ("content-type", "application/json"),
    ];
    let reply = send(
        library.address,
        "POST",
        "/api/orders",
        &headers,
        r#"{"order":"pause"}"#,
    )
    .await;
    assert_eq!(reply.status, 409);
    assert!(reply.error().contains("stored league"), "{reply:?}");
    assert_eq!(
        send(library.address, "GET", "/mcp", &[], "").await.status,
        404
    );
}

#[tokio::test]
async fn a_league_that_broke_off_is_open_on_this_machine_and_to_nobody_else() {
    let shown = in_play().await;
    let path = shown.test_league.store.url();
    let local = Library::of(path, true)
        .await
        .page("/api/matches/R1M1")
        .await;
    assert!(
        local.get("withheld").is_none() && !local["steps"].as_array().unwrap().is_empty(),
        "{local}"
    );
    let elsewhere = Library::of(path, false)
        .await
        .page("/api/matches/R1M1")
        .await;
    assert!(
        elsewhere["withheld"].is_string() && elsewhere["steps"].as_array().unwrap().is_empty(),
        "{elsewhere}"
    );
}

#[tokio::test]
async fn a_file_without_a_league_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("empty.db");
    Store::open(&path).unwrap().close().unwrap();
    let refused = Dashboard::stored(Location::latest(path.clone()), Vec::new(), true).unwrap_err();
    assert!(refused.to_string().contains("empty.db"), "{refused}");
}

#[tokio::test]
async fn where_a_file_was_is_told_on_this_machine_and_to_nobody_else() {
    let shown = Shown::finished(settings(), 2).await;
    let path = shown.test_league.store.url().clone();
    let [local, elsewhere] = [
        Library::of(&path, true).await,
        Library::of(&path, false).await,
    ];
    std::fs::remove_file(path.file().unwrap()).unwrap();
    let mut told = Vec::new();
    for library in [&local, &elsewhere] {
        for page in ["/api/league", "/api/report", "/api/messages"] {
            let reply = send(library.address, "GET", page, &[], "").await;
            assert_eq!(reply.status, 500, "{page}: {reply:?}");
            told.push(reply.error());
        }
    }
    let place = path.to_string();
    let (of_operator, of_strangers) = told.split_at(3);
    assert!(
        of_operator.iter().all(|why| why.contains(&place)),
        "{of_operator:?}"
    );
    let expected = "the league cannot be read: its operator finds why in the log";
    assert_eq!(of_strangers, [expected; 3]);
}
