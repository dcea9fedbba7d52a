//! What readers cost: a league is read once for all of them, and without being loaded.

use crate::fixture::{Fixture, Response, SERVICE_TOKEN};
use matchday_testkit::cli::Process;
use matchday_testkit::eventually::eventually;
use matchday_testkit::tamper::tamper;
use rusqlite::Connection;
use std::thread;

/// The league of `matchday run`.
const SHOWN: &str = "/api/leagues/league_2025_even_odd";

/// A service with one league that is over and sleeps, which nobody has read yet.
fn with_finished_league(players: &str) -> (Fixture, Process) {
    let fixture = Fixture::new();
    let run = [
        "run",
        "--port-base",
        "0",
        "--players",
        players,
        "--referees",
        "4",
        "--store",
        "spring.db",
    ];
    let run = fixture.cli.run(&run);
    assert_eq!(run.code, 0, "{run:?}");
    let mut service = fixture.serve(&[]);
    let file = fixture.cli.path().join("spring.db");
    assert_eq!(fixture.league(&["import", file.to_str().unwrap()]).code, 0);
    service.signal("TERM");
    assert!(service.wait().success());
    // An imported league is looked at once, in case that something is owed to others.
    let nothing_to_do = "UPDATE leagues SET wake_at = NULL";
    Connection::open(fixture.store())
        .unwrap()
        .execute_batch(nothing_to_do)
        .unwrap();
    let service = serve(&fixture);
    (fixture, service)
}

fn serve(fixture: &Fixture) -> Process {
    fixture.serve(&["--metrics", "on", "--sleep-after", "600"])
}

/// How much was computed for readers until now.
fn computations(fixture: &Fixture) -> u64 {
    let page = || fixture.call("GET", "/metrics", None, None).body;
    // The service gives out a page several times; one that tells another CPU time was made since.
    let before = page();
    let now = eventually("the figures are computed again", || {
        Some(page()).filter(|now| *now != before)
    });
    let line = now
        .lines()
        .find_map(|line| line.strip_prefix("matchday_computations_total "));
    line.unwrap_or_else(|| panic!("{now}")).parse().unwrap()
}

/// So many requests at once, without any token.
fn at_once(fixture: &Fixture, path: &str, callers: usize) -> Vec<Response> {
    thread::scope(|scope| {
        let calls: Vec<_> = (0..callers)
            .map(|_| scope.spawn(|| fixture.call("GET", path, None, None)))
            .collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    })
}

#[test]
fn however_many_ask_for_a_league_its_log_is_replayed_once_and_the_league_sleeps_on() {
    let (fixture, _service) = with_finished_league("20");
    assert_eq!(computations(&fixture), 0);
    for answer in at_once(&fixture, SHOWN, 200) {
        assert_eq!(answer.status, 200, "{answer:?}");
        let shown = answer.json();
        assert_eq!(
            (&shown["matches"], &shown["matches_decided"]),
            (&190.into(), &190.into()),
            "{shown}"
        );
        assert_eq!(shown["state"], "asleep", "{shown}");
    }
    assert_eq!(computations(&fixture), 1);
}

#[test]
fn the_report_of_a_league_is_made_once_for_all_who_read_it() {
    let (fixture, _service) = with_finished_league("8");
    let path = "/leagues/league_2025_even_odd/api/report";
    let first = fixture.call("GET", path, None, None);
    assert!(
        first.status == 200 && first.body.contains("</html>"),
        "{first:?}"
    );
    let before = computations(&fixture);
    assert_eq!(before, 2, "the projection and the report");
    for again in at_once(&fixture, path, 24) {
        assert_eq!((again.status, &again.body), (200, &first.body));
    }
    assert_eq!(computations(&fixture), before);
}

#[test]
fn a_viewer_without_a_token_is_not_told_where_the_store_is() {
    let (fixture, mut service) = with_finished_league("2");
    service.signal("TERM");
    assert!(service.wait().success());
    tamper(
        &fixture.store(),
        "UPDATE events SET line = '{}' WHERE league = 1 AND stream = 'league' AND seq = 2;",
    );
    let service = serve(&fixture);
    let fault = |token| {
        let answer = fixture.call("GET", SHOWN, token, None);
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()["fault"]
            .as_str()
            .unwrap_or_else(|| panic!("{answer:?}"))
            .to_owned()
    };
    assert_eq!(
        fault(None),
        "the league cannot be read: its operator finds why in the log"
    );
    assert!(
        fault(Some(SERVICE_TOKEN)).contains("service.db"),
        "{}",
        fault(Some(SERVICE_TOKEN))
    );
    service.until("the league cannot be read");
    let logged = service.out();
    let said: Vec<&str> = logged
        .lines()
        .filter(|line| line.contains("the league cannot be read"))
        .collect();
    assert!(
        said.len() == 1 && said[0].contains("service.db"),
        "{logged}"
    );
}
