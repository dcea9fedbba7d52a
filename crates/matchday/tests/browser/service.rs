//! The pages of a service: its list, a season, and what its operator does there.

#[path = "../service/fixture.rs"]
#[allow(dead_code, reason = "another suite uses all of it")]
pub(crate) mod fixture;

use crate::script::{Script, can_be_run};
use fixture::{Fixture, SERVICE_TOKEN, registration};
use matchday_testkit::cli::Process;
use serde_json::json;

/// A name as its author should not get it into a page.
const HOSTILE: &str = "<img src=x onerror=alert(1)>";

fn address(fixture: &Fixture) -> String {
    format!("http://{}/", fixture.listen)
}

/// Registers a player of this name at whose endpoint nobody listens.
fn register(fixture: &Fixture, league: &str, name: &str, number: u32) {
    let mut message = registration();
    message["conversation_id"] = json!(format!("conv-{number}"));
    message["player_meta"]["display_name"] = json!(name);
    let path = format!("/leagues/{league}/mcp");
    let answer = fixture.post(&path, message).json();
    assert_eq!(answer["status"], "ACCEPTED", "{answer}");
}

struct Door {
    fixture: Fixture,
    _service: Process,
    _players: Vec<Process>,
}

/// A service with a league that is over, a ladder that is played, one that takes registrations with a hostile name in it, and a
/// season with a league behind it.
fn front_door() -> Door {
    let fixture = Fixture::new();
    let service = fixture.serve(&[]);
    let two = ["--start-when", "players=2"];
    let ladder = [
        &two[..],
        &["--format", "ladder", "--matches-per-hour", "5000"],
    ]
    .concat();
    fixture.create(&["autumn"], &two);
    fixture.create(&["climbers"], &ladder);
    fixture.create(&["winter"], &[]);
    register(&fixture, "winter", HOSTILE, 1);
    let season = ["season", "create", "nightly", "--schedule", "0 20 * * *"];
    let at = format!("http://{}", fixture.listen);
    let ours = [
        "--service",
        &at,
        "--service-token",
        SERVICE_TOKEN,
        "--lead",
        "0",
    ];
    let made = fixture.cli.run(&[&season[..], &ours].concat());
    assert_eq!(made.code, 0, "{made:?}");
    let mut players = Vec::new();
    for league in [
        "autumn", "autumn", "climbers", "climbers", "nightly", "nightly",
    ] {
        let player = fixture.player(league);
        player.until("registered as");
        players.push(player);
    }
    let run = fixture.call(
        "POST",
        "/api/seasons/nightly/run",
        Some(SERVICE_TOKEN),
        None,
    );
    assert_eq!(run.status, 200, "{run:?}");
    fixture.until("autumn", |league| league["phase"] == "completed");
    fixture.until("climbers", |league| {
        league["matches_decided"].as_u64() > Some(2)
    });
    fixture.until("nightly_2", |league| league["phase"] == "registration");
    Door {
        fixture,
        _service: service,
        _players: players,
    }
}

fn plays(name: &str, fixture: &Fixture, args: &[&str]) {
    Script::start(name, &address(fixture), args).succeeds();
}

#[test]
fn the_front_door_shows_what_is_played_and_how_to_join() {
    if can_be_run() {
        plays("front_door", &front_door().fixture, &[]);
    }
}

#[test]
fn an_operator_of_a_service_creates_steers_and_removes_leagues_in_the_browser() {
    if !can_be_run() {
        return;
    }
    let fixture = Fixture::new();
    let service = fixture.serve(&[]);
    plays("service_operator", &fixture, &[SERVICE_TOKEN]);
    // Who did what stands in the service's log.
    service.until("POST /api/leagues by the holder of the service token, from 127.0.0.1");
    service.until("DELETE /api/leagues/class by the holder of the service token, from 127.0.0.1");
}

#[test]
fn registration_shows_who_is_there_who_is_missing_and_who_is_reached() {
    if !can_be_run() {
        return;
    }
    let fixture = Fixture::new();
    let _service = fixture.serve(&[]);
    let roster = fixture.cli.path().join("class.csv");
    std::fs::write(&roster, "Ann Lee\nBob Roy\nCleo\n").unwrap();
    let made = fixture.league(&[
        "create",
        "class",
        "--roster",
        roster.to_str().unwrap(),
        "--endpoint-check",
        "off",
    ]);
    let made = made.json();
    let league = &made["leagues"][0];
    let codes = league["join_codes"].as_array().unwrap();
    let join = |place: usize| codes[place]["url"].as_str().unwrap();
    let listen = matchday_testkit::cli::free_address();
    let ann = fixture
        .cli
        .start(&["player", "--listen", &listen, "--manager", join(0)]);
    ann.until("registered as");
    let gone = format!(
        "/leagues/class/join/{}/mcp",
        codes[1]["join_code"].as_str().unwrap()
    );
    let answer = fixture.post(&gone, registration()).json();
    assert_eq!(answer["status"], "ACCEPTED", "{answer}");
    let token = league["operator_token"].as_str().unwrap();
    plays("registration", &fixture, &[token]);
}

#[test]
fn a_thousand_leagues_are_listed_at_once() {
    if !can_be_run() {
        return;
    }
    let fixture = Fixture::new();
    let _service = fixture.serve(&[]);
    let leagues: Vec<_> = (0..1000)
        .map(|number| json!({"league_id": format!("league-{number:04}"), "settings": {}}))
        .collect();
    let body = json!({ "leagues": leagues });
    let made = fixture.call("POST", "/api/leagues", Some(SERVICE_TOKEN), Some(body));
    assert_eq!(made.status, 201, "{}", made.body.len());
    plays("many_leagues", &fixture, &[]);
}
