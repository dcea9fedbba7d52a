//! Logs, traces and metrics name the league, and no number of leagues makes more than a few series.

use crate::fixture::{Fixture, standings};
use matchday_testkit::eventually::eventually;
use matchday_testkit::trace_collector::{Collector, Manners};
use serde_json::Value;
use std::collections::BTreeSet;

fn ask(fixture: &Fixture, league: &str, times: usize) {
    for _ in 0..times {
        assert_eq!(
            fixture
                .post(&format!("/leagues/{league}/mcp"), standings(league))
                .status,
            200
        );
    }
}

#[test]
fn metrics_name_the_busiest_leagues_and_count_the_rest_as_one() {
    let fixture = Fixture::new();
    let _service = fixture.serve(&[]);
    let names: Vec<String> = (1..=14)
        .map(|number| format!("section-{number:02}"))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    fixture.create(&names, &["--referees", "none"]);
    names.iter().for_each(|league| ask(&fixture, league, 1));
    ask(&fixture, "section-14", 5);
    let page = fixture.call("GET", "/metrics", None, None).body;
    for metric in [
        "matchday_league_exchanges_total{",
        "matchday_league_phase{",
        "matchday_league_errors_total{",
    ] {
        let lines = page.lines().filter(|line| line.starts_with(metric));
        let leagues: BTreeSet<&str> = lines
            .filter_map(|line| line.split("league=\"").nth(1)?.split('"').next())
            .collect();
        assert_eq!(leagues.len(), 11, "{metric} {leagues:?}");
        assert!(leagues.contains("(others)"), "{metric} {leagues:?}");
    }
    let busiest = "matchday_league_exchanges_total{league=\"section-14\",direction=\"in\"} 6";
    assert!(page.lines().any(|line| line == busiest), "{page}");
}

#[test]
fn every_line_of_a_league_and_every_span_names_it_also_after_it_slept() {
    let fixture = Fixture::new();
    let collector = Collector::start(Manners::Takes);
    let mut service = fixture.serve(&[
        "--log",
        "json",
        "--otlp",
        &collector.url,
        "--sleep-after",
        "0.4",
    ]);
    // Long enough between the announcement of the round and its beginning to sleep.
    fixture.create(&["spring"], &["--start-when", "players=2", "--lead", "3"]);
    let _players = [fixture.player("spring"), fixture.player("spring")];
    fixture.until("spring", |shown| shown["phase"] == "completed");
    service.signal("TERM");
    assert!(service.wait().success());
    let lines: Vec<Value> = service
        .out()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let registered = lines
        .iter()
        .filter(|line| line["event_type"] == "agent_registered");
    let names: Vec<&str> = registered
        .filter_map(|line| line["details"]["name"].as_str())
        .collect();
    assert_eq!(names.len(), 3, "two players and the referee: {names:?}");
    assert!(
        lines.iter().all(|line| line["level"] != "DEBUG"),
        "messages that went well are left out"
    );
    let started = lines
        .iter()
        .filter(|line| line["event_type"] == "started")
        .count();
    assert!(
        started >= 3,
        "it has slept, and was loaded again: {started}"
    );
    // Who has created the league is told by the service.
    let of_leagues = |line: &&Value| {
        !["library", "service"]
            .map(Value::from)
            .contains(&line["component"])
    };
    for line in lines.iter().filter(of_leagues) {
        assert_eq!(line["details"]["league"], "spring", "{line}");
    }
    let spans = collector.spans();
    assert!(spans.iter().any(|span| span.name == "match"), "{spans:#?}");
    let traces: BTreeSet<&str> = spans.iter().map(|span| span.trace.as_str()).collect();
    assert_eq!(traces.len(), 1, "one match is one trace: {spans:#?}");
    assert!(
        spans
            .iter()
            .all(|span| span.attributes["league_id"] == "spring"),
        "{spans:#?}"
    );
}

#[test]
fn a_service_whose_leagues_all_sleep_shows_its_store_and_how_many_they_are() {
    let fixture = Fixture::new();
    let _service = fixture.serve(&["--sleep-after", "0.2"]);
    fixture.create(&["spring", "autumn"], &[]);
    ask(&fixture, "spring", 1);
    eventually("both sleep", || {
        let page = fixture.call("GET", "/metrics", None, None).body;
        let shows = |line: &str| page.lines().any(|shown| shown == line);
        let all = [
            "matchday_service_leagues{state=\"awake\"} 0",
            "matchday_service_leagues{state=\"asleep\"} 2",
            "matchday_service_leagues{state=\"quarantined\"} 0",
            "matchday_season_starts_skipped_total 0",
            "matchday_store_failed 0",
            "matchday_store_away 0",
        ];
        if all.iter().all(|line| shows(line)) {
            Ok(())
        } else {
            Err(page)
        }
    });
}
