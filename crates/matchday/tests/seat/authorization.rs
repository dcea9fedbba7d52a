//! Seats that others can reach: a bearer token, and how clients learn of it.

use crate::room::{CODE, League, guarded, unhurried};
use matchday_testkit::mcp_client::{get, initialize, send, send_to};
use serde_json::json;

/// There is no authorization server, so no 401 promises one: a client that looked for it would not show what the refusal says.
#[tokio::test]
async fn a_client_without_the_code_is_told_what_to_show_and_promised_no_oauth() {
    let league = League::new(unhurried()).await;
    let room = guarded(&league).await;
    let to = room.address;
    for method in ["POST", "GET", "DELETE"] {
        let refused = send(to, method, &[], &initialize("2025-11-25")).await;
        assert_eq!(refused.status, 403, "{refused:?}");
        assert!(!refused.headers.contains_key("www-authenticate"));
        let why = refused.json()["error"].to_string();
        assert!(why.contains("/join/CODE/mcp"), "{why}");
    }
    let wrong = [("authorization", "Bearer tok_join_wrong")];
    let refused = send(to, "POST", &wrong, &initialize("2025-11-25")).await;
    assert_eq!(refused.status, 403);
    let why = refused.json()["error"].to_string();
    assert!(why.contains("this is not the code"), "{why}");
    for path in ["", "/mcp"] {
        let path = format!("/.well-known/oauth-protected-resource{path}");
        assert_eq!(get(to, &path).await.status, 404);
    }
}

/// Some hosts take an address and nothing else.
#[tokio::test]
async fn with_the_code_in_its_path_a_client_that_cannot_set_headers_plays() {
    let league = League::new(unhurried()).await;
    let room = guarded(&league).await;
    let to = room.address;
    let path = |code: &str| format!("/join/{code}/mcp");
    let wrong = send_to(
        to,
        "POST",
        &path("tok_join_wrong"),
        &[],
        &initialize("2025-11-25"),
    )
    .await;
    assert_eq!(wrong.status, 403, "{wrong:?}");
    let opened = send_to(to, "POST", &path(CODE), &[], &initialize("2025-11-25")).await;
    assert_eq!(opened.status, 200, "{opened:?}");
    let session = opened.headers["mcp-session-id"].to_str().unwrap();
    let joining = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "join_league", "arguments": {"name": "Ann"}}});
    let headers = [("mcp-session-id", session)];
    let joined = send_to(to, "POST", &path(CODE), &headers, &joining.to_string()).await;
    let joined = joined.json();
    assert_eq!(
        joined["result"]["structuredContent"]["player_id"], "P01",
        "the code of the seats is none of the league: {joined}"
    );
}

#[tokio::test]
async fn with_the_code_a_client_is_let_in() {
    let league = League::new(unhurried()).await;
    let room = guarded(&league).await;
    let shown = format!("Bearer {CODE}");
    let let_in = send(
        room.address,
        "POST",
        &[("authorization", &shown)],
        &initialize("2025-11-25"),
    )
    .await;
    assert_eq!(let_in.status, 200, "{let_in:?}");
}
