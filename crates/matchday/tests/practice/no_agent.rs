//! Nobody to practise with: one clear line.

use crate::report::{Practice, Report as _, run};
use matchday_testkit::address::free_address;

#[tokio::test]
async fn nobody_listens_at_the_url() {
    let practice = Practice::new();
    let url = format!("http://{}/mcp", free_address());
    let done = run(practice.practice(&["--against", &url])).await;
    assert_eq!((done.code, done.err.lines().count()), (1, 1), "{done:?}");
    assert!(
        done.complaint()
            .starts_with(&format!("nothing listens at {url}")),
        "{done:?}"
    );
}

#[tokio::test]
async fn nobody_registers() {
    let practice = Practice::new();
    let listen = free_address().to_string();
    let done = run(practice.practice(&["--listen", &listen, "--wait", "0.2"])).await;
    assert_eq!(done.code, 1, "{done:?}");
    let wanted = format!(
        "no agent registered within 0.2 s - start it with http://{listen}/mcp as its manager"
    );
    assert!(done.complaint().starts_with(&wanted), "{done:?}");
}

#[tokio::test]
async fn what_cannot_be_meant_is_bad_usage() {
    for args in [
        &["--against", "ftp://localhost/mcp"][..],
        &["--against", "http://localhost:8101/mcp", "--wait", "3"],
        &["--rounds", "0"],
        &["--choice-timeout", "0"],
        &["--name", "Bob"],
    ] {
        let done = run(Practice::new().practice(args)).await;
        assert_eq!(done.code, 2, "{args:?} {done:?}");
    }
}
