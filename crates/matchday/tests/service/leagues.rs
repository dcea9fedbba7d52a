//! Several leagues are played at one address by built-in referees, and each has its own log.

use crate::fixture::Fixture;
use matchday_store::Store;

#[test]
fn two_leagues_are_played_at_once_with_nothing_but_players() {
    let fixture = Fixture::new();
    let mut service = fixture.serve(&[]);
    fixture.create(&["spring", "autumn"], &["--start-when", "players=2"]);
    let _players: Vec<_> = ["spring", "autumn", "spring", "autumn"]
        .iter()
        .map(|league| fixture.player(league))
        .collect();
    for league in ["spring", "autumn"] {
        fixture.until(league, |shown| shown["phase"] == "completed");
    }
    service.signal("TERM");
    assert!(service.wait().success(), "{}", service.err());
    for league in ["spring", "autumn"] {
        let found = fixture
            .cli
            .run(&["verify", "service.db", "--league", league]);
        assert!(
            found.code == 0 && found.out.contains("1 of 1 decided"),
            "{found:?}"
        );
    }
    let mut reader = Store::open_read_only(fixture.store()).unwrap();
    for league in reader.leagues().unwrap() {
        reader = reader.in_league(league.number);
        let exchanges = reader.exchanges().unwrap();
        let other = if league.id.as_ref().unwrap().as_str() == "spring" {
            "autumn"
        } else {
            "spring"
        };
        assert!(!exchanges.is_empty());
        assert!(
            exchanges
                .iter()
                .all(|exchange| !exchange.request.contains(other)),
            "tagged with their own league"
        );
    }
}

#[test]
fn the_built_in_referee_registers_where_agents_on_its_machine_may_not() {
    let fixture = Fixture::new();
    let _service = fixture.serve(&["--endpoints", "private"]);
    fixture.create(&["spring"], &[]);
    // A request loads the league, and its referee with it.
    assert_eq!(
        fixture
            .call("GET", "/leagues/spring/api/standings", None, None)
            .status,
        200
    );
    fixture.until("spring", |shown| shown["referees"] == 1);
}

#[test]
fn the_operator_of_a_league_starts_it_with_its_own_token_and_nobody_else_does() {
    let fixture = Fixture::new();
    let _service = fixture.serve(&[]);
    let tokens = fixture.create(&["spring", "autumn"], &[]);
    let manager = fixture.manager("spring");
    let _players = [fixture.player("spring"), fixture.player("spring")];
    fixture.until("spring", |shown| {
        shown["players"] == 2 && shown["referees"] == 1
    });
    let start = |token: &[&str]| {
        fixture
            .cli
            .run(&[&["start", "--manager", &manager], token].concat())
    };
    assert!(
        start(&[]).failed(1).contains("E011"),
        "this machine is not the operator here"
    );
    assert!(
        start(&["--operator-token", &tokens[1]])
            .failed(1)
            .contains("E012")
    );
    assert_eq!(start(&["--operator-token", &tokens[0]]).code, 0);
    fixture.until("spring", |shown| shown["phase"] == "completed");
}
