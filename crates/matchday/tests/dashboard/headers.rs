//! What every answer tells a browser, and who is turned away.

use crate::league::{Shown, send, settings};

#[tokio::test]
async fn every_answer_forbids_what_the_page_does_not_need() {
    let shown = Shown::empty(settings()).await;
    for (method, path) in [
        ("GET", "/"),
        ("GET", "/assets/app.js"),
        ("GET", "/api/league"),
        ("POST", "/api/orders"),
    ] {
        let reply = send(shown.address(), method, path, &[], "").await;
        let header = |name: &str| {
            reply
                .headers
                .get(name)
                .map(|value| value.to_str().unwrap())
                .unwrap_or_default()
        };
        let policy = header("content-security-policy");
        for rule in [
            "default-src 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
        ] {
            assert!(policy.contains(rule), "{method} {path}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(
            header("x-content-type-options"),
            "nosniff",
            "{method} {path}"
        );
        assert_eq!(header("referrer-policy"), "no-referrer", "{method} {path}");
        assert_eq!(
            header("cross-origin-opener-policy"),
            "same-origin",
            "{method} {path}"
        );
    }
}

#[tokio::test]
async fn methods_that_mean_nothing_are_named_as_such() {
    let shown = Shown::empty(settings()).await;
    for (method, path, allowed) in [
        ("POST", "/", "GET"),
        ("PUT", "/api/standings", "GET"),
        ("GET", "/api/orders", "POST"),
    ] {
        let reply = send(shown.address(), method, path, &[], "").await;
        assert_eq!(
            (reply.status, reply.headers["allow"].to_str().unwrap()),
            (405, allowed),
            "{method} {path}"
        );
    }
}

#[tokio::test]
async fn a_browser_that_was_led_here_under_another_name_is_turned_away() {
    let shown = Shown::empty(settings()).await;
    for headers in [
        [("host", "evil.example")],
        [("origin", "http://evil.example")],
    ] {
        let reply = send(shown.address(), "GET", "/api/league", &headers, "").await;
        assert_eq!(reply.status, 403, "{headers:?}: {reply:?}");
    }
}

#[tokio::test]
async fn a_manager_without_a_dashboard_has_no_page() {
    let test_league =
        matchday_testkit::test_league::TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(settings()).await;
    for path in ["/", "/api/league", "/assets/app.js"] {
        assert_eq!(
            send(manager.address(), "GET", path, &[], "").await.status,
            404,
            "{path}"
        );
    }
}

#[tokio::test]
async fn the_page_and_all_that_it_names_are_there_and_need_not_be_sent_twice() {
    let shown = Shown::empty(settings()).await;
    let page = shown.get("/").await;
    assert_eq!(
        (page.status, page.headers["content-type"].to_str().unwrap()),
        (200, "text/html; charset=utf-8")
    );
    let named = page
        .body
        .split('"')
        .filter(|text| text.starts_with("assets/"));
    let named: Vec<String> = named.map(|path| format!("/{path}")).collect();
    assert!(
        named.iter().any(|path| path.ends_with(".js")),
        "{}",
        page.body
    );
    for path in std::iter::once("/").chain(named.iter().map(String::as_str)) {
        let first = shown.get(path).await;
        assert_eq!(first.status, 200, "{path}");
        assert_eq!(first.headers["cache-control"], "no-cache", "{path}");
        let tag = first.headers["etag"].to_str().unwrap();
        let again = send(shown.address(), "GET", path, &[("if-none-match", tag)], "").await;
        assert_eq!((again.status, again.body.as_str()), (304, ""), "{path}");
        assert_eq!(
            send(
                shown.address(),
                "GET",
                path,
                &[("if-none-match", "\"other\"")],
                ""
            )
            .await
            .status,
            200
        );
    }
}
