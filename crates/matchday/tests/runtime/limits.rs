//! Limits on what is stored and on the length of messages.

use crate::order::{RecordingAgent, run};
use matchday_core::league::{LeagueSettings, Manager};
use matchday_net::client::Client;
use matchday_runtime::{Options, entropy_numbered, log};
use matchday_store::{Store, Stream};
use matchday_testkit::test_league::TestLeague;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

#[tokio::test]
async fn when_the_store_is_large_enough_messages_are_kept_no_more_and_events_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("league.db");
    let store = Store::open(&path).unwrap();
    let told = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&told);
    let log = log::dispatch(tracing::Level::DEBUG, move |entry| {
        heard.lock().unwrap().push(entry.message.clone())
    });
    let options = Options {
        exchanges_bytes_max: 1,
        log,
        ..matchday_server::agent_options(entropy_numbered(7, "manager"))
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let manager = Manager::new(LeagueSettings::default());
    let manager =
        matchday_runtime::run(manager, listener, store.clone(), Stream::league(), options).unwrap();
    let url = format!("http://{}/mcp", manager.address());
    for _ in 0..3 {
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"get_standings","params":{}}"#;
        assert_eq!(
            Client::new()
                .post(&url, ping.into(), soon(), 10_000)
                .await
                .unwrap()
                .status,
            200
        );
    }
    manager.shutdown().await.unwrap();
    store.close().unwrap();
    let told = told
        .lock()
        .unwrap()
        .iter()
        .filter(|line| line.contains("no longer kept for replay"))
        .count();
    assert_eq!(told, 1);
    let reader = Store::open_read_only(&path).unwrap();
    assert!(reader.exchanges().unwrap().is_empty());
    let events = Store::open(&path).unwrap().load(&Stream::league()).unwrap();
    assert_eq!(events.len(), 1, "the league was created");
}

#[tokio::test]
async fn the_answer_to_a_batch_has_a_limit_and_what_is_beyond_it_is_not_asked() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let agent = run(&test_league, 200, RecordingAgent::answering(200_000)).await;
    let ping = |id| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    let batch = Value::Array((0..100).map(ping).collect()).to_string();
    let url = format!("http://{}/mcp", agent.address());
    let answer = Client::new()
        .post(&url, batch.into(), soon(), 100 << 20)
        .await
        .unwrap();
    assert!(answer.body.len() < 3 << 20, "{} bytes", answer.body.len());
    let parts: Vec<Value> = serde_json::from_slice(&answer.body).unwrap();
    let ids: Vec<_> = parts
        .iter()
        .map(|part| part["id"].as_i64().unwrap())
        .collect();
    assert_eq!(ids, (0..100).collect::<Vec<_>>());
    let is_refused = |part: &&Value| part.to_string().contains("E014");
    let (refused, answered): (Vec<_>, Vec<_>) = parts.iter().partition(is_refused);
    assert!(
        answered.len() >= 5
            && refused
                .last()
                .unwrap()
                .to_string()
                .contains("send it by itself")
    );
    let asked = agent
        .inspect(|agent| agent.pages.iter().filter(|page| *page == "ping").count())
        .await;
    assert_eq!(asked, Some(answered.len()));
}

#[tokio::test]
async fn a_message_may_be_as_long_as_it_was_said() {
    let options = Options {
        message_bytes_max: Some(2048),
        ..matchday_server::agent_options(entropy_numbered(7, "manager"))
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let manager = Manager::new(LeagueSettings::default());
    let manager = matchday_runtime::run(
        manager,
        listener,
        Store::in_memory().unwrap(),
        Stream::league(),
        options,
    )
    .unwrap();
    let url = format!("http://{}/mcp", manager.address());
    for (bytes, status) in [(2048, 200), (2049, 413)] {
        let body = format!("{:bytes$}", r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
        assert_eq!(
            Client::new()
                .post(&url, body.into(), soon(), 10_000)
                .await
                .unwrap()
                .status,
            status
        );
    }
}
