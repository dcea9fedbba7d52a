//! What callers are told by a service whose database is away: at once, with when to come again, and not where it is.

use crate::fixture::{Services, registration};
use matchday_testkit::cli::free_address;
use matchday_testkit::cut_proxy::Direction;
use matchday_testkit::eventually::eventually;
use matchday_testkit::page::{ask, get, value};
use serde_json::json;
use std::io::Read;
use std::time::{Duration, Instant};

/// Shorter than what an agent waits for the answer to a report.
const IN_FLIGHT_MAX: Duration = Duration::from_secs(8);
const AT_ONCE: Duration = Duration::from_secs(2);

#[test]
fn a_service_that_is_cut_off_answers_503_at_once_and_tells_nobody_where_its_database_is() {
    let Some(services) = Services::start() else {
        return;
    };
    let proxy = services.postgres.proxy();
    let (_, database) = services.socket_and_database();
    let store = format!(
        "postgres://matchday@{}/{database}?sslmode=disable",
        proxy.address()
    );
    let listen = free_address();
    let public = format!("http://{listen}");
    let service = services.serve_with(&listen, &store, &public, &[("MATCHDAY_SLEEP_AFTER", "1")]);
    service.create("awake", &json!({}));
    service.create("asleep", &json!({}));
    // To ask for one league wakes it.
    eventually("both sleep", || {
        let listed = service.call("GET", "/api/leagues", &[], None).body;
        if listed.matches(r#""state":"asleep""#).count() == 2 {
            Ok(())
        } else {
            Err(listed)
        }
    });
    // Nobody is loaded who writes to it, and its figures are shown all the same.
    let figure = |name: &str| value(&get(&listen, "/metrics").body, name);
    assert_eq!(figure("matchday_store_failed"), 0.0);
    let status = r#"{"jsonrpc":"2.0","id":1,"method":"get_status","params":{}}"#;
    assert_eq!(
        ask(&listen, "POST", "/leagues/awake/mcp", status).status,
        200
    );

    proxy.hold(Direction::ToClient);
    let began = Instant::now();
    let mut in_flight = service.send(
        "POST",
        "/leagues/awake/mcp",
        &[],
        Some(registration("late")),
    );
    let mut answer = String::new();
    in_flight.read_to_string(&mut answer).unwrap();
    assert!(
        answer.starts_with("HTTP/1.1 503 ") && answer.to_lowercase().contains("retry-after: "),
        "{answer}"
    );
    assert!(began.elapsed() < IN_FLIGHT_MAX, "{:?}", began.elapsed());

    let ready = get(&listen, "/health/ready");
    assert!(
        ready.status == 503 && ready.body.contains("its store is unavailable"),
        "{ready:?}"
    );
    for (method, path, body) in [
        ("POST", "/leagues/asleep/mcp", status),
        ("GET", "/leagues/asleep/api/league", ""),
        ("GET", "/leagues/asleep/", ""),
        ("GET", "/leagues/awake/api/league", ""),
        ("GET", "/api/leagues/asleep", ""),
    ] {
        let began = Instant::now();
        let page = ask(&listen, method, path, body);
        assert!(
            page.status == 503 && page.head.contains("retry-after: "),
            "{path}: {page:?}"
        );
        assert!(
            page.body.contains("the database cannot be reached")
                && !page.body.contains("postgres")
                && !page.body.contains("matchday@"),
            "{path}: {page:?}"
        );
        assert!(began.elapsed() < AT_ONCE, "{path}: {:?}", began.elapsed());
    }
    let refused = service.call(
        "POST",
        "/api/leagues",
        &[],
        Some(json!({"leagues": [{"league_id": "new", "settings": {}}]})),
    );
    assert!(
        refused.status == 503 && !refused.body.contains("postgres"),
        "{refused:?}"
    );
    assert_eq!(figure("matchday_store_away"), 1.0);

    proxy.cut();
    proxy.restore();
    eventually("ready", || {
        let ready = get(&listen, "/health/ready");
        if ready.status == 200 {
            Ok(())
        } else {
            Err(ready)
        }
    });
    eventually("answered", || {
        let page = ask(&listen, "POST", "/leagues/asleep/mcp", status);
        if page.status == 200 {
            Ok(())
        } else {
            Err(page)
        }
    });
}
