//! What is wrong with one league touches no other.

use crate::fixture::{Fixture, standings};
use matchday_testkit::tamper::tamper;

#[test]
fn a_damaged_league_is_quarantined_with_one_line_and_the_others_go_on() {
    let fixture = Fixture::new();
    let mut service = fixture.serve(&[]);
    fixture.create(&["spring", "autumn"], &[]);
    for league in ["spring", "autumn"] {
        assert_eq!(
            fixture
                .post(&format!("/leagues/{league}/mcp"), standings(league))
                .status,
            200
        );
    }
    service.signal("TERM");
    assert!(service.wait().success());
    let changed = "UPDATE events SET line = replace(line, 'spring', 'sprung') WHERE league = 1 AND stream = 'league'";
    tamper(&fixture.store(), changed);
    let service = fixture.serve(&[]);
    let damaged = fixture.post("/leagues/spring/mcp", standings("spring"));
    assert_eq!(damaged.status, 503, "{damaged:?}");
    let sound = fixture
        .post("/leagues/autumn/mcp", standings("autumn"))
        .json();
    assert_eq!(sound["result"]["success"], true, "{sound}");
    fixture.until("spring", |shown| shown["state"] == "quarantined");
    service.until("league spring is in quarantine");
    let said: Vec<String> = service
        .out()
        .lines()
        .filter(|line| line.contains("quarantine"))
        .map(str::to_owned)
        .collect();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].contains("spring") && said[0].contains("event 1 of league is not what was stored"),
        "{said:?}"
    );
    let ready = fixture.call("GET", "/health/ready", None, None);
    assert_eq!(ready.status, 200, "the service is ready all the same");
    assert_eq!(
        fixture.league(&["delete", "spring", "--yes"]).code,
        0,
        "it can be removed"
    );
}

#[test]
fn a_league_that_spends_its_quota_of_messages_takes_nothing_from_another() {
    let fixture = Fixture::new();
    let mut service = fixture.serve(&[]);
    fixture.create(&["spring"], &["--exchanges-bytes-max", "1"]);
    fixture.create(&["autumn"], &[]);
    for league in ["spring", "autumn", "spring", "autumn"] {
        assert_eq!(
            fixture
                .post(&format!("/leagues/{league}/mcp"), standings(league))
                .status,
            200
        );
    }
    service.signal("TERM");
    assert!(service.wait().success());
    let reader = matchday_store::Store::open_read_only(fixture.store()).unwrap();
    let numbers: Vec<u32> = reader
        .leagues()
        .unwrap()
        .iter()
        .map(|league| league.number)
        .collect();
    let reader = reader.in_league(numbers[0]);
    assert_eq!(reader.exchanges().unwrap(), []);
    assert!(!reader.in_league(numbers[1]).exchanges().unwrap().is_empty());
}

#[test]
fn verify_all_names_the_league_that_does_not_fit() {
    let fixture = Fixture::new();
    let mut service = fixture.serve(&[]);
    fixture.create(&["spring", "autumn"], &[]);
    for league in ["spring", "autumn"] {
        assert_eq!(
            fixture
                .post(&format!("/leagues/{league}/mcp"), standings(league))
                .status,
            200
        );
    }
    service.signal("TERM");
    assert!(service.wait().success());
    let found = fixture.cli.run(&["verify", "service.db", "--all"]);
    assert!(
        found.code == 0
            && found
                .out
                .ends_with("Verified: no contradictions in 2 leagues.\n"),
        "{found:?}"
    );
    tamper(
        &fixture.store(),
        "UPDATE events SET hash = zeroblob(32) WHERE league = 1",
    );
    let found = fixture.cli.run(&["verify", "service.db", "--all"]);
    assert!(
        found.code == 1 && found.out.ends_with("1 of 2 leagues have contradictions.\n"),
        "{found:?}"
    );
    let spring = found
        .out
        .lines()
        .find(|line| line.starts_with("spring"))
        .unwrap();
    assert!(spring.contains("CONTRADICTION: event 1"), "{spring}");
}
