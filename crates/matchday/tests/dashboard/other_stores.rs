//! Agents that keep stores of their own.

use crate::league::{send, settings};
use matchday_core::league::Manager;
use matchday_runtime::Options;
use matchday_server::dashboard::Dashboard;
use matchday_store::{Location, StoreUrl, Stream};
use matchday_testkit::eventually::eventually_async;
use matchday_testkit::test_league::{
    TestLeague, endpoint, free_port, short, until_completed, until_registered,
};
use serde_json::Value;
use std::net::SocketAddr;

use std::time::Duration;

const ONLY_MATCH: &str = "/api/matches/R1M1";

async fn page(to: SocketAddr, path: &str) -> Value {
    send(to, "GET", path, &[], "").await.json()
}

/// Plays a league of two whose referee and players keep a store of their own, and shows a page of it.
async fn shown(
    path: &str,
    named: impl FnOnce(StoreUrl) -> Vec<StoreUrl>,
    wanted: impl Fn(&Value) -> bool,
) -> Value {
    let (home, away) = (
        TestLeague::new(matchday_server::agent_options),
        TestLeague::new(matchday_server::agent_options),
    );
    let listener = free_port().await;
    let to = listener.local_addr().unwrap();
    let store = home.store.url().clone();
    let others = named(away.store.url().clone());
    let dashboard = Dashboard::live(
        Location::latest(store),
        others,
        endpoint(to).raw().to_owned(),
        home.clock,
    );
    let options = Options {
        surfaces: vec![dashboard],
        ..home.options("league")
    };
    let manager = Manager::new(settings());
    let manager = matchday_runtime::run(
        manager,
        listener,
        home.store.clone(),
        Stream::league(),
        options,
    )
    .unwrap();
    let _referee = away.referee(1, &endpoint(to), short()).await;
    let _one = away.player(1, &endpoint(to), "random").await;
    let _other = away.player(2, &endpoint(to), "random").await;
    until_registered(&manager, 2, 1).await;
    home.start(&manager).await;
    until_completed(&manager, Duration::from_secs(60)).await;
    eventually_async(path, async || {
        let shown = page(to, path).await;
        if wanted(&shown) {
            Ok(shown)
        } else {
            Err(shown)
        }
    })
    .await
}

fn has(page: &Value, kind: &str) -> bool {
    page["messages"]
        .as_array()
        .is_some_and(|all| all.iter().any(|message| message["type"] == kind))
}

#[tokio::test]
async fn the_store_of_a_referee_tells_what_it_and_the_players_said() {
    let page = shown(
        ONLY_MATCH,
        |store| vec![store.clone(), store],
        |page| has(page, "GAME_OVER") && has(page, "MATCH_RESULT_REPORT"),
    )
    .await;
    assert!(
        has(&page, "GAME_INVITATION") && has(&page, "MATCH_RESULT_REPORT"),
        "{page}"
    );
    assert!(page.get("missing").is_none(), "{page}");
    let report = page["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|message| message["type"] == "MATCH_RESULT_REPORT");
    assert_eq!(
        report.count(),
        1,
        "what both sides recorded is told once: {page}"
    );
}

#[tokio::test]
async fn without_it_the_page_says_which_store_is_missing() {
    let page = shown(
        ONLY_MATCH,
        |_| Vec::new(),
        |page| page["missing"].is_string(),
    )
    .await;
    assert!(
        page["missing"].as_str().unwrap().contains("store of REF01"),
        "{page}"
    );
    assert!(!has(&page, "GAME_INVITATION"), "{page}");
}

#[tokio::test]
async fn a_store_that_cannot_be_read_is_missing_and_the_rest_is_shown() {
    let nowhere = StoreUrl::from("/nowhere/referee.db");
    let page = shown(
        ONLY_MATCH,
        |_| vec![nowhere],
        |page| page["missing"].is_string(),
    )
    .await;
    assert!(
        page["missing"]
            .as_str()
            .unwrap()
            .contains("could not be read"),
        "{page}"
    );
    assert!(
        !page.to_string().contains("nowhere"),
        "a stranger is not told where it is: {page}"
    );
    assert_eq!(page["state"], "decided");
}

#[tokio::test]
async fn the_inspector_finds_what_is_in_any_of_the_stores_and_tells_it_once() {
    let page = shown(
        "/api/messages?match_id=R1M1&limit=500",
        |store| vec![store],
        |page| has(page, "GAME_OVER") && has(page, "MATCH_RESULT_REPORT"),
    )
    .await;
    let messages = page["messages"].as_array().unwrap();
    let reports = messages
        .iter()
        .filter(|message| message["type"] == "MATCH_RESULT_REPORT")
        .count();
    assert_eq!(reports, 1, "{page}");
    let mut ids: Vec<i64> = messages
        .iter()
        .map(|message| message["id"].as_i64().unwrap())
        .collect();
    // A store holds messages in the order in which they ended, which need not be that in which they were sent.
    for store in 0..2 {
        let of_store: Vec<i64> = ids.iter().copied().filter(|id| id >> 40 == store).collect();
        assert!(
            of_store.is_sorted_by(|newer, older| newer > older),
            "{of_store:?}"
        );
    }
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), messages.len(), "{page}");
}
