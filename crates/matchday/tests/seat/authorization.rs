//! Seats that others can reach: a bearer token, and how clients learn of it.

use crate::room::{CODE, League, guarded, unhurried};
use matchday_testkit::mcp_client::{get, initialize, send};
use serde_json::json;

#[tokio::test]
async fn a_client_without_the_code_is_told_where_to_learn_of_it() {
    let league = League::new(unhurried()).await;
    let room = guarded(&league).await;
    let to = room.address;
    for method in ["POST", "GET", "DELETE"] {
        let refused = send(to, method, &[], &initialize("2025-11-25")).await;
        assert_eq!(refused.status, 401, "{refused:?}");
        let challenge = refused.headers["www-authenticate"].to_str().unwrap();
        let metadata = format!("http://{to}/.well-known/oauth-protected-resource/mcp");
        assert_eq!(
            challenge,
            format!("Bearer resource_metadata=\"{metadata}\"")
        );
    }
    let wrong = send(
        to,
        "POST",
        &[("authorization", "Bearer tok_join_wrong")],
        &initialize("2025-11-25"),
    )
    .await;
    assert_eq!(wrong.status, 401);
    assert!(
        wrong.headers["www-authenticate"]
            .to_str()
            .unwrap()
            .contains("error=\"invalid_token\"")
    );
    for path in [
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/mcp",
    ] {
        let metadata = get(to, path).await.json();
        assert_eq!(metadata["resource"], json!(format!("http://{to}/mcp")));
        assert_eq!(metadata["bearer_methods_supported"], json!(["header"]));
    }
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
