//! Web pages of allowed origins may call and read; others learn nothing.

use matchday_net::origin_check::{Allowlist, OriginRule};
use matchday_testkit::mcp_client::{initialize, send};
use matchday_testkit::test_league::{TestLeague, quick, short};

const PAGE: &str = "https://app.example";

fn with_page(entropy: matchday_core::entropy::Entropy) -> matchday_runtime::Options {
    let origins = vec![OriginRule::parse(PAGE).unwrap()];
    let allowed = Allowlist {
        origins,
        ..Allowlist::default()
    };
    matchday_runtime::Options {
        allowed,
        ..matchday_server::agent_options(entropy)
    }
}

#[tokio::test]
async fn a_page_of_an_allowed_origin_asks_first_and_reads_the_answer() {
    let test_league = TestLeague::new(with_page);
    let manager = test_league.manager(quick(short())).await;
    let preflight = [
        ("origin", PAGE),
        ("access-control-request-method", "POST"),
        (
            "access-control-request-headers",
            "authorization, content-type, mcp-protocol-version",
        ),
    ];
    let allowed = send(manager.address(), "OPTIONS", &preflight, "").await;
    assert_eq!((allowed.status, allowed.body.as_str()), (204, ""));
    assert_eq!(allowed.headers["access-control-allow-origin"], PAGE);
    assert_eq!(
        allowed.headers["access-control-allow-methods"],
        "GET, POST, DELETE"
    );
    let headers = allowed.headers["access-control-allow-headers"]
        .to_str()
        .unwrap();
    for name in [
        "authorization",
        "content-type",
        "mcp-session-id",
        "mcp-protocol-version",
    ] {
        assert!(headers.contains(name), "{name}: {headers}");
    }
    let answer = send(
        manager.address(),
        "POST",
        &[("origin", PAGE)],
        &initialize("2025-11-25"),
    )
    .await;
    assert_eq!(
        (
            answer.status,
            &answer.headers["access-control-allow-origin"]
        ),
        (200, &PAGE.parse().unwrap())
    );
    assert!(
        answer.headers["access-control-expose-headers"]
            .to_str()
            .unwrap()
            .contains("mcp-session-id")
    );
}

#[tokio::test]
async fn a_page_of_another_origin_is_refused() {
    let test_league = TestLeague::new(with_page);
    let manager = test_league.manager(quick(short())).await;
    let preflight = [
        ("origin", "https://evil.example"),
        ("access-control-request-method", "POST"),
    ];
    let refused = send(manager.address(), "OPTIONS", &preflight, "").await;
    assert_eq!(refused.status, 403);
    assert!(!refused.headers.contains_key("access-control-allow-origin"));
}
