//! A league that has nothing to do is unloaded, and loaded again by a request or when it has.

use crate::fixture::{Fixture, standings};

#[test]
fn a_league_is_unloaded_when_idle_and_loaded_by_a_request() {
    let fixture = Fixture::new();
    // Long enough to be seen awake.
    let _service = fixture.serve(&["--sleep-after", "2"]);
    fixture.create(&["spring", "autumn"], &[]);
    assert_eq!(
        fixture.show("spring")["state"],
        "asleep",
        "a new league is not loaded"
    );
    let asked = || {
        fixture
            .post("/leagues/spring/mcp", standings("spring"))
            .json()["result"]["success"]
            .clone()
    };
    assert_eq!(asked(), true);
    fixture.until("spring", |shown| shown["state"] == "awake");
    fixture.until("spring", |shown| shown["state"] == "asleep");
    assert_eq!(asked(), true);
    assert_eq!(
        fixture.show("autumn")["state"],
        "asleep",
        "and nobody else is loaded by it"
    );
}

#[test]
fn a_league_that_sleeps_between_rounds_wakes_when_its_round_is_due() {
    let fixture = Fixture::new();
    let _service = fixture.serve(&["--sleep-after", "0.4"]);
    // Each round begins three seconds after its announcement: long enough to sleep in between.
    fixture.create(&["spring"], &["--start-when", "players=2", "--lead", "3"]);
    let _players = [fixture.player("spring"), fixture.player("spring")];
    fixture.until("spring", |shown| shown["phase"] == "completed");
    fixture.until("spring", |shown| shown["state"] == "asleep");
    assert_eq!(fixture.show("spring")["matches_decided"], 1);
}
