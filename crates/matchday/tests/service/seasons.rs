//! A season: leagues over the same players, one after the other, with a table over all of them.

use crate::fixture::{Fixture, SERVICE_TOKEN, registration};
use matchday_runtime::Clock;
use matchday_testkit::cli::{Output, Process, free_address};
use matchday_testkit::eventually::eventually;
use serde_json::{Value, json};
use std::time::Duration;

fn season(fixture: &Fixture, args: &[&str]) -> Output {
    let service = format!("http://{}", fixture.listen);
    let fixed = [
        "--service",
        &service,
        "--service-token",
        SERVICE_TOKEN,
        "--json",
    ];
    fixture.cli.run(&[&["season"], args, &fixed[..]].concat())
}

fn create(fixture: &Fixture, name: &str, args: &[&str]) -> Value {
    let lead: &[&str] = if args.contains(&"--lead") {
        &[]
    } else {
        &["--lead", "0"]
    };
    let made = season(
        fixture,
        &[&["create", name], args, lead, &["--endpoint-check", "off"]].concat(),
    );
    assert_eq!(made.code, 0, "{made:?}");
    made.json()
}

fn show(fixture: &Fixture, name: &str) -> Value {
    fixture
        .call(
            "GET",
            &format!("/api/seasons/{name}"),
            Some(SERVICE_TOKEN),
            None,
        )
        .json()
}

fn until(fixture: &Fixture, name: &str, what: impl Fn(&Value) -> bool) -> Value {
    eventually(name, || {
        let shown = show(fixture, name);
        if what(&shown) { Ok(shown) } else { Err(shown) }
    })
}

/// Eve dials out, and the others are called.
fn player(fixture: &Fixture, name: &str) -> Process {
    let listen = free_address();
    let manager = fixture.manager("nightly");
    let reached: &[&str] = if name == "Eve" {
        &["--dial"]
    } else {
        &["--listen", &listen]
    };
    let fixed = ["player", "--manager", &manager, "--name", name];
    fixture.cli.start(&[&fixed[..], reached].concat())
}

/// Until so many players have registered with a league that had taken them over.
fn until_registered_again(fixture: &Fixture, league: &str, players: usize) {
    eventually("they have registered again", || {
        let told = fixture
            .cli
            .run(&["replay", "service.db", "--league", league]);
        if told.out.matches("known by its token").count() >= players {
            Ok(())
        } else {
            Err(told)
        }
    });
}

fn has_players(fixture: &Fixture, league: &str, count: u64) {
    fixture.until(league, |shown| {
        shown["players"] == count && shown["referees"] == 1
    });
}

/// Players that stay up and do nothing play every league; ratings and points go on from one to the next, through a kill -9 in the
/// middle of a league.
#[test]
fn players_that_stay_up_play_every_league_of_a_season() {
    let fixture = Fixture::new();
    let service = fixture.serve(&[]);
    create(&fixture, "nightly", &["--lead", "0.3"]);
    let _players = ["Ada", "Bob", "Eve"].map(|name| player(&fixture, name));
    has_players(&fixture, "nightly_1", 3);
    assert_eq!(
        season(&fixture, &["run", "nightly"]).json()["league_id"],
        "nightly_1"
    );
    fixture.until("nightly_1", |shown| shown["phase"] != "registration");
    drop(service);
    let service = fixture.serve(&[]);
    until(&fixture, "nightly", |shown| shown["leagues_played"] == 1);
    until_registered_again(&fixture, "nightly_2", 3);
    assert_eq!(
        season(&fixture, &["run-now", "nightly"]).json()["league_id"],
        "nightly_2"
    );
    let shown = until(&fixture, "nightly", |shown| shown["leagues_played"] == 2);
    let table = shown["table"].as_array().unwrap();
    assert_eq!(table.len(), 3);
    for row in table {
        assert_eq!(
            (&row["leagues"], &row["played"]),
            (&json!(2), &json!(4)),
            "{row}"
        );
        assert!(
            row["low"].as_f64() < row["rating"].as_f64()
                && row["rating"].as_f64() < row["high"].as_f64()
        );
    }
    assert!(
        !service.err().contains("E012"),
        "who was taken over takes the notices of the next league: {}",
        service.err()
    );
    let technical: u64 = ["nightly_1", "nightly_2"]
        .iter()
        .map(|league| {
            let rows = fixture
                .cli
                .run(&["standings", "--manager", &fixture.manager(league), "--json"])
                .json();
            rows["standings"]
                .as_array()
                .unwrap()
                .iter()
                .map(|row| row["technical_losses"].as_u64().unwrap())
                .sum::<u64>()
        })
        .sum();
    assert_eq!(
        technical, 0,
        "each player takes part, without having been told by anyone but the league"
    );
    for league in ["nightly_1", "nightly_2"] {
        let found = fixture
            .cli
            .run(&["verify", "service.db", "--league", league]);
        assert!(
            found.code == 0 && found.out.contains("3 of 3 decided"),
            "{found:?}"
        );
        let told = fixture
            .cli
            .run(&["replay", "service.db", "--league", league]);
        assert_eq!(told.code, 0, "{told:?}");
        assert_eq!(
            told.out.contains("taken over from nightly_1"),
            league == "nightly_2",
            "{}",
            told.out
        );
    }
    let get = |path: &str| fixture.call("GET", path, None, None);
    let season = get("/api/seasons/nightly").json();
    assert_eq!(season["players"], season["table"].as_array().unwrap().len());
    let first = season["table"][0]["player"].as_str().unwrap();
    assert_eq!(season["leader"], first);
    assert!(
        season["join"]["url"]
            .as_str()
            .unwrap()
            .ends_with("/leagues/nightly/mcp"),
        "{season}"
    );
    let listed = get("/api/leagues").json();
    assert_eq!(listed["leagues"][0]["season"], "nightly", "{listed}");
    let player = get(&format!("/api/seasons/nightly/players/{first}")).json();
    assert_eq!(
        (&player["rank"], &player["career"][0]["league"]),
        (&json!(1), &json!("nightly_1")),
        "{player}"
    );
    assert_eq!(get("/api/seasons/nightly/players/Nobody").status, 404);
}

/// Registers players at whose endpoints nobody listens.
fn register_the_dead(fixture: &Fixture) {
    for number in 1..=2 {
        let mut message = registration();
        message["conversation_id"] = json!(format!("conv-{number}"));
        message["player_meta"]["display_name"] = json!(format!("Ghost {number}"));
        let answer = fixture.post("/leagues/nightly/mcp", message).json();
        assert_eq!(answer["status"], "ACCEPTED", "{answer}");
    }
}

#[test]
fn a_league_of_agents_that_cannot_be_reached_is_skipped_with_the_reason() {
    let fixture = Fixture::new();
    let _service = fixture.serve(&[]);
    let soon = (Clock::start().now() + Duration::from_secs(2)).to_string();
    let soon = soon.split(['.', 'Z']).next().unwrap();
    create(&fixture, "nightly", &["--schedule", soon]);
    register_the_dead(&fixture);
    let shown = until(&fixture, "nightly", |shown| shown["skipped"].is_string());
    let why = "a league needs at least 2 players that can be reached and are not suspended: of the 2 that are in it, 0 can";
    assert_eq!(shown["skipped"], why);
    assert_eq!(fixture.show("nightly_1")["phase"], "registration");
    let service = format!("http://{}", fixture.listen);
    let told = fixture
        .cli
        .run(&["season", "show", "nightly", "--service", &service]);
    assert!(
        told.out.contains(why) && !told.out.contains("null"),
        "{told:?}"
    );
    let refused = season(&fixture, &["run", "nightly"]);
    assert_eq!(refused.failed(1), why);
}

#[test]
fn a_season_of_listed_times_ends_with_the_last_and_is_taken_up_again_with_others() {
    let fixture = Fixture::new();
    let _service = fixture.serve(&[]);
    create(&fixture, "nightly", &["--schedule", "2999-01-01T20:00"]);
    let _players = ["Ada", "Bob"].map(|name| player(&fixture, name));
    has_players(&fixture, "nightly_1", 2);
    let started = season(&fixture, &["run", "nightly"]).json();
    assert_eq!(started["scheduled_at"], "2999-01-01T20:00:00Z");
    until(&fixture, "nightly", |shown| shown["leagues_played"] == 1);
    let at_once = season(&fixture, &["run", "nightly"]);
    assert_eq!(
        at_once.code, 0,
        "the league before is just over: {at_once:?}"
    );
    until(&fixture, "nightly", |shown| {
        shown["current_league"] == "nightly_3"
    });
    let configure = |schedule: &str| {
        fixture.call(
            "PATCH",
            "/api/seasons/nightly",
            Some(SERVICE_TOKEN),
            Some(json!({ "schedule": schedule })),
        )
    };
    assert_eq!(configure("1999-01-01T20:00").status, 200);
    assert_eq!(show(&fixture, "nightly")["starts_at"], Value::Null);
    assert_eq!(season(&fixture, &["run", "nightly"]).code, 0);
    until(&fixture, "nightly", |shown| shown["state"] == "ended");
    assert_eq!(configure("2998-01-01T20:00").status, 200);
    until(&fixture, "nightly", |shown| {
        shown["current_league"] == "nightly_4" && shown["starts_at"] == "2998-01-01T20:00:00Z"
    });
}

#[test]
fn a_season_is_paused_resumed_and_ended() {
    let fixture = Fixture::new();
    let _service = fixture.serve(&[]);
    create(
        &fixture,
        "nightly",
        &["--schedule", "0 22 * * *", "--time-zone", "Europe/Berlin"],
    );
    assert!(
        show(&fixture, "nightly")["starts_at"]
            .as_str()
            .unwrap()
            .ends_with(":00:00Z")
    );
    assert_eq!(
        season(&fixture, &["pause", "nightly"]).json()["state"],
        "paused"
    );
    assert_eq!(
        season(&fixture, &["resume", "nightly"]).json()["state"],
        "active"
    );
    assert!(show(&fixture, "nightly")["starts_at"].is_string());
    let kept = fixture.league(&["delete", "nightly_1", "--yes"]);
    assert_eq!(
        kept.failed(1),
        "nightly_1 is the current league of the season nightly: end that first with `matchday season end nightly`"
    );
    let refused = season(&fixture, &["run", "nightly"]);
    assert!(
        refused.failed(1).contains("at least 2 players"),
        "{refused:?}"
    );
    assert_eq!(
        season(&fixture, &["end", "nightly"]).json()["state"],
        "ended"
    );
    assert_eq!(
        fixture
            .call("GET", "/api/leagues/nightly_1", Some(SERVICE_TOKEN), None)
            .status,
        404
    );
    assert_eq!(
        season(&fixture, &["list"]).json()["seasons"][0]["state"],
        "ended"
    );
}

#[test]
fn what_cannot_be_is_one_line_with_what_to_do_and_creates_nothing() {
    let fixture = Fixture::new();
    let _service = fixture.serve(&[]);
    fixture.create(&["spring"], &[]);
    create(&fixture, "nightly", &[]);
    let refused = |args: &[&str], code| {
        season(&fixture, &[&["create"], args].concat())
            .failed(code)
            .to_owned()
    };
    assert_eq!(
        refused(&["nightly"], 1),
        "the name nightly is taken by a season or a league: choose another"
    );
    assert_eq!(
        refused(&["spring"], 1),
        "the name spring is taken by a season or a league: choose another"
    );
    assert!(
        refused(&["weekly", "--schedule", "22 *"], 2).starts_with("schedule: expected five fields")
    );
    assert!(
        refused(&["weekly", "--schedule", "0 25 * * *"], 2)
            .starts_with("schedule: hour: value must be in range 0..=23")
    );
    assert_eq!(
        refused(
            &[
                "weekly",
                "--schedule",
                "0 22 * * *",
                "--time-zone",
                "Berlin"
            ],
            2
        ),
        "time_zone: there is no \"Berlin\": expected a name such as Europe/Berlin or UTC"
    );
    assert!(
        refused(&["weekly", "--start-when", "players=2,referees=1"], 2).starts_with("start-when: ")
    );
    assert!(
        refused(&["weekly", "--format", "ladder"], 2).starts_with("format: a ladder has no end")
    );
    assert_eq!(
        fixture.league(&["create", "nightly"]).failed(1),
        "nightly is the name of a season: choose another id"
    );
    let unknown = season(&fixture, &["show", "weekly"]);
    assert!(
        unknown.failed(1).starts_with("there is no season weekly"),
        "{unknown:?}"
    );
    assert_eq!(
        fixture
            .call(
                "POST",
                "/api/seasons",
                None,
                Some(json!({"name": "weekly"}))
            )
            .status,
        401
    );
    assert_eq!(
        season(&fixture, &["list"]).json()["seasons"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}
