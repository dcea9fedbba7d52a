//! A crash at any step leaves a league whole or not at all.

use crate::fixture::{Fixture, SERVICE_TOKEN};
use serde_json::{Value, json};
use std::io::Write;
use std::net::TcpStream;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

/// How often the service is killed, unless the environment says otherwise.
const KILLS: u64 = 12;

fn kills() -> u64 {
    let asked = std::env::var("MATCHDAY_SERVICE_KILLS").ok();
    asked.map_or(KILLS, |text| {
        text.parse().expect("MATCHDAY_SERVICE_KILLS is a number")
    })
}

/// Sends a request and waits for nothing.
fn send(fixture: &Fixture, method: &str, path: &str, body: &Value) {
    let Ok(mut stream) = TcpStream::connect(&fixture.listen) else {
        return;
    };
    let body = body.to_string();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {SERVICE_TOKEN}\r\nContent-Length: {}\r\n\r\n{body}",
        fixture.listen,
        body.len()
    );
    let _ = stream.write_all(request.as_bytes());
    // Dropped a moment later, so that the service has read it.
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(200));
        drop(stream);
    });
}

/// The file that a league is archived to.
fn archived(fixture: &Fixture, kill: u64) -> PathBuf {
    fixture
        .cli
        .path()
        .join(format!("service.archive/b-{kill}.db"))
}

/// A service that is killed while it creates, archives, imports and deletes leagues has, once it is started again, all the
/// leagues of a request or none, each of which answers, and no rows of any other. One that was archived is here or in its file.
#[test]
fn a_service_that_is_killed_has_each_league_whole_or_not_at_all() {
    let fixture = Fixture::new();
    let kills = kills();
    for kill in 0..kills {
        let service = fixture.serve(&[]);
        let leagues: Vec<Value> = ["a", "b", "c"]
            .iter()
            .map(|part| json!({"league_id": format!("{part}-{kill}")}))
            .collect();
        send(
            &fixture,
            "POST",
            "/api/leagues",
            &json!({ "leagues": leagues }),
        );
        if kill > 0 {
            send(
                &fixture,
                "DELETE",
                &format!("/api/leagues/a-{}", kill - 1),
                &json!({}),
            );
            fixture.post(
                &format!("/leagues/b-{}/mcp", kill - 1),
                crate::fixture::registration(),
            );
            send(
                &fixture,
                "POST",
                &format!("/api/leagues/b-{}/archive", kill - 1),
                &json!({}),
            );
        }
        if kill > 1 {
            let file = archived(&fixture, kill - 2);
            send(
                &fixture,
                "POST",
                "/api/leagues/import",
                &json!({ "file": file }),
            );
        }
        // Anywhere between the arrival of the requests and their end.
        thread::sleep(Duration::from_millis(kill % 16 * 3));
        drop(service);
    }
    let mut service = fixture.serve(&[]);
    let listed = fixture
        .call("GET", "/api/leagues", Some(SERVICE_TOKEN), None)
        .json();
    let names: Vec<String> = listed["leagues"]
        .as_array()
        .unwrap()
        .iter()
        .map(|league| league["league_id"].as_str().unwrap().to_owned())
        .collect();
    assert!(!names.is_empty(), "some requests were carried out");
    for kill in 0..kills {
        let has = |part: &str| names.contains(&format!("{part}-{kill}"));
        let file = archived(&fixture, kill);
        assert_eq!(
            has("b") || file.exists(),
            has("c"),
            "all leagues of a request or none: {names:?}"
        );
        assert!(!has("a") || has("c"), "{names:?}");
        if file.exists() {
            let found = fixture.cli.run(&["verify", file.to_str().unwrap()]);
            assert_eq!(found.code, 0, "{found:?}");
        }
    }
    for name in &names {
        let answer = fixture
            .post(
                &format!("/leagues/{name}/mcp"),
                crate::fixture::standings(name),
            )
            .json();
        assert_eq!(answer["result"]["success"], true, "{answer}");
    }
    service.signal("TERM");
    assert!(service.wait().success());
    let stored = matchday_store::Store::open_read_only(fixture.store())
        .unwrap()
        .leagues()
        .unwrap();
    let stored: Vec<String> = stored
        .iter()
        .map(|league| league.id.as_ref().unwrap().to_string())
        .collect();
    assert!(
        stored.iter().all(|name| names.contains(name)),
        "no rows of others: {stored:?}"
    );
    let found = fixture.cli.run(&["verify", "service.db"]);
    assert_eq!(found.code, 0, "{found:?}");
}

#[test]
fn a_league_goes_on_after_the_service_was_killed() {
    let fixture = Fixture::new();
    let service = fixture.serve(&[]);
    fixture.create(&["spring"], &["--start-when", "players=3", "--lead", "1"]);
    let _players = [
        fixture.player("spring"),
        fixture.player("spring"),
        fixture.player("spring"),
    ];
    fixture.until("spring", |shown| shown["phase"] != "registration");
    drop(service);
    let _service = fixture.serve(&[]);
    fixture.until("spring", |shown| shown["phase"] == "completed");
    assert_eq!(fixture.show("spring")["matches_decided"], 3);
}
