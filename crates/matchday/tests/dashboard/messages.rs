//! The message inspector.

use crate::league::{Shown, send, settings, until};
use serde_json::{Value, json};

async fn listed(shown: &Shown, query: &str) -> Vec<Value> {
    shown.page(&format!("/api/messages?{query}")).await["messages"]
        .as_array()
        .unwrap()
        .clone()
}

/// A league of three whose messages are all recorded.
async fn settled() -> Shown {
    let shown = Shown::finished(settings(), 3).await;
    // Each agent stores what was said to it in its own time.
    for (kind, count) in [("GAME_OVER", 6), ("LEAGUE_REGISTER_REQUEST", 3)] {
        let path = format!("/api/messages?type={kind}");
        until(&shown, &path, |page| {
            page["messages"].as_array().unwrap().len() == count
        })
        .await;
    }
    shown
}

#[tokio::test]
async fn messages_are_found_by_match_type_agent_and_conversation() {
    let shown = settled().await;
    let of_match = listed(&shown, "match_id=r1m1").await;
    assert!(!of_match.is_empty() && of_match.iter().all(|message| message["match_id"] == "R1M1"));
    let invitations = listed(&shown, "type=GAME_INVITATION").await;
    assert_eq!(invitations.len(), 6);
    let of_player = listed(&shown, "agent=P02&type=GAME_INVITATION").await;
    assert_eq!(of_player.len(), 2);
    assert!(of_player.iter().all(|message| message["to"] == "P02"));
    let conversation = invitations[0]["conversation_id"].as_str().unwrap();
    let together = listed(&shown, &format!("conversation_id={conversation}")).await;
    assert!(
        together
            .iter()
            .all(|message| message["conversation_id"] == conversation)
    );
    let registered = listed(&shown, "type=LEAGUE_REGISTER_REQUEST&bodies=1").await;
    assert_eq!(registered.len(), 3);
    assert!(
        registered[0]["request"]
            .as_str()
            .unwrap()
            .contains("(left out)"),
        "{registered:?}"
    );
    assert!(
        listed(&shown, "type=LEAGUE_REGISTER_REQUEST").await[0]
            .get("request")
            .is_none()
    );
}

#[tokio::test]
async fn an_error_is_found_by_its_code() {
    let shown = settled().await;
    let query = json!({"jsonrpc": "2.0", "id": 1, "method": "league_query", "params": {
        "protocol": "league.v2", "message_type": "LEAGUE_QUERY", "sender": "player:P01",
        "timestamp": shown.test_league.clock.now(), "conversation_id": "conv-wrong", "auth_token": "tok_p01_wrong",
        "league_id": "league_2025_even_odd", "query_type": "GET_STANDINGS", "query_params": {},
    }});
    let headers = [("content-type", "application/json")];
    let refused = send(
        shown.address(),
        "POST",
        "/mcp",
        &headers,
        &query.to_string(),
    )
    .await
    .json();
    let code = refused["result"]["error_code"]
        .as_str()
        .unwrap_or_else(|| panic!("{refused}"))
        .to_owned();
    let path = format!("/api/messages?code={code}");
    let found = until(&shown, &path, |page| {
        !page["messages"].as_array().unwrap().is_empty()
    })
    .await;
    let message = &found["messages"][0];
    assert_eq!(
        (&message["error_code"], &message["from"]),
        (&code.clone().into(), &"P01".into()),
        "{message}"
    );
    assert!(
        message["outcome"].as_str().unwrap().starts_with(&code),
        "{message}"
    );
    assert!(
        found["codes"].as_array().unwrap().contains(&code.into()),
        "{found}"
    );
}

#[tokio::test]
async fn pages_of_messages_follow_each_other_without_gap_or_repetition() {
    let shown = settled().await;
    shown.test_league.flushed().await;
    let whole = listed(&shown, "limit=500").await;
    let mut paged: Vec<Value> = Vec::new();
    let mut before = String::new();
    loop {
        let page = shown.page(&format!("/api/messages?limit=7{before}")).await;
        paged.extend(page["messages"].as_array().unwrap().iter().cloned());
        match page["next_before"].as_i64() {
            Some(next) => before = format!("&before={next}"),
            None => break,
        }
    }
    let ids = |messages: &[Value]| {
        messages
            .iter()
            .map(|message| message["id"].as_i64().unwrap())
            .collect::<Vec<_>>()
    };
    let newest = ids(&whole)[0];
    let paged: Vec<i64> = ids(&paged).into_iter().filter(|id| *id <= newest).collect();
    assert!(paged.len() > 14);
    assert_eq!(paged, ids(&whole));
}
