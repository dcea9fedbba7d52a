//! A ladder: players join and leave while it goes on, through a kill -9, and every command reads it.

use crate::fixture::Fixture;
use serde_json::json;

#[test]
fn a_ladder_goes_on_while_players_join_and_leave_and_after_a_kill() {
    let fixture = Fixture::new();
    let service = fixture.serve(&[]);
    let tokens = fixture.create(
        &["ladder"],
        &[
            "--format",
            "ladder",
            "--start-when",
            "players=2",
            "--matches-per-hour",
            "5000",
            "--lead",
            "0.2",
        ],
    );
    let mut players = vec![fixture.player("ladder"), fixture.player("ladder")];
    fixture.until("ladder", |shown| {
        shown["matches_decided"].as_u64() >= Some(3)
    });
    players.push(fixture.player("ladder"));
    fixture.until("ladder", |shown| shown["players"] == 3);
    drop(service);
    let _service = fixture.serve(&[]);
    let decided = || fixture.show("ladder")["matches_decided"].as_u64().unwrap();
    let before = decided();
    fixture.until("ladder", |shown| {
        shown["matches_decided"].as_u64() >= Some(before + 6)
    });
    assert_eq!(fixture.show("ladder")["phase"], "running");
    let manager = fixture.manager("ladder");
    let order = [
        "admin",
        "end",
        "--manager",
        &manager,
        "--operator-token",
        &tokens[0],
    ];
    let ended = fixture.cli.run(&order);
    assert_eq!(ended.code, 0, "{ended:?}");
    fixture.until("ladder", |shown| shown["phase"] == "completed");

    let rows = fixture
        .cli
        .run(&["standings", "--manager", &manager, "--json"])
        .json();
    let rows = rows["standings"].as_array().unwrap().clone();
    assert_eq!(rows.len(), 3);
    assert!(
        rows.iter()
            .all(|row| row["rating"].is_u64() && row["rating_deviation"].as_u64() < Some(350)),
        "{rows:?}"
    );
    assert!(
        rows.iter()
            .is_sorted_by(|one, other| one["rating"].as_u64() >= other["rating"].as_u64()),
        "{rows:?}"
    );
    let found = fixture
        .cli
        .run(&["verify", "service.db", "--league", "ladder"]);
    assert_eq!(found.code, 0, "{found:?}");
    for command in [
        &["replay", "service.db", "--league", "ladder"][..],
        &[
            "report",
            "service.db",
            "--league",
            "ladder",
            "--format",
            "csv",
        ],
        &["stats", "--store", "service.db", "--league", "ladder"],
    ] {
        let shown = fixture.cli.run(command);
        assert_eq!(shown.code, 0, "{command:?}: {shown:?}");
    }
    let compared = fixture.cli.run(&[
        "stats",
        "P01",
        "--against",
        "P02",
        "--store",
        "service.db",
        "--league",
        "ladder",
        "--json",
    ]);
    let compared = compared.json();
    assert_eq!(compared["players"], json!(["P01", "P02"]));
    let likelihood = compared["likelihood"].as_f64().unwrap();
    assert!(
        (0.0..=1.0).contains(&likelihood) && compared["sentence"].is_string(),
        "{compared}"
    );
    let asked = fixture.call("GET", "/leagues/ladder/api/compare/P01/P02", None, None);
    assert_eq!(
        (asked.status, asked.json()["likelihood"].as_f64()),
        (200, Some(likelihood))
    );
    assert_eq!(
        fixture
            .call("GET", "/leagues/ladder/api/compare/P01/P09", None, None)
            .status,
        404
    );
    let stats = fixture
        .cli
        .run(&[
            "stats",
            "--store",
            "service.db",
            "--league",
            "ladder",
            "--json",
        ])
        .json();
    let rated = stats["players"][0]["pairing_rating"]["rating"]
        .as_f64()
        .unwrap();
    assert!(
        (rated - rows[0]["rating"].as_f64().unwrap()).abs() <= 0.5,
        "one pairing rating everywhere: {rated} {rows:?}"
    );
}
