//! One match is one trace, across processes; and a collector that fails harms nobody.

use crate::page::{address, figures, value};
use matchday_testkit::cli::{Cli, Process, free_address};
use matchday_testkit::eventually::eventually;
use matchday_testkit::trace_collector::{CollectedSpan, Collector, Manners};
use std::collections::BTreeSet;

/// A league that has been played, every agent a process of its own that sends its traces there.
fn play(cli: &Cli, players: usize, collector: &str) -> Vec<Process> {
    let otlp = ["--otlp", collector];
    let manager = cli.manager(&[&["--lead", "0"], &otlp[..]].concat());
    let referee = cli.agent(&[&["referee"], &otlp[..]].concat());
    let players = (0..players).map(|_| cli.agent(&[&["player"], &otlp[..]].concat()));
    let agents: Vec<_> = [referee].into_iter().chain(players).collect();
    agents.iter().for_each(|agent| agent.until("registered as"));
    assert_eq!(cli.ask(&["start"]).code, 0);
    cli.until_status("completed");
    [manager].into_iter().chain(agents).collect()
}

fn stop(agents: Vec<Process>) {
    for mut agent in agents.into_iter().rev() {
        agent.signal("TERM");
        assert!(agent.wait().success());
    }
}

fn of_match<'a>(spans: &'a [CollectedSpan], match_id: &str) -> Vec<&'a CollectedSpan> {
    spans
        .iter()
        .filter(|span| span.attributes["match_id"] == match_id)
        .collect()
}

#[test]
fn one_match_is_one_trace_across_all_processes() {
    let cli = Cli::new(crate::MATCHDAY);
    let collector = Collector::start(Manners::Takes);
    stop(play(&cli, 2, &collector.url));
    let spans = collector.spans();
    let traces: BTreeSet<_> = spans.iter().map(|span| span.trace.as_str()).collect();
    assert_eq!(traces.len(), 1, "a league of two has one match: {spans:#?}");

    let ids: BTreeSet<_> = spans.iter().map(|span| span.id.as_str()).collect();
    assert_eq!(ids.len(), spans.len(), "no span is told twice: {spans:#?}");
    let roots: Vec<_> = spans.iter().filter(|span| span.parent.is_empty()).collect();
    assert_eq!(roots.len(), 1, "{roots:#?}");
    assert_eq!(
        (roots[0].name.as_str(), roots[0].service.as_str()),
        ("match", "matchday-manager")
    );
    for span in &spans {
        let parent_is_there = span.parent.is_empty() || ids.contains(span.parent.as_str());
        assert!(parent_is_there, "{span:#?} in {spans:#?}");
        assert_eq!((span.trace.len(), span.id.len()), (32, 16));
    }
    let agents: BTreeSet<_> = spans
        .iter()
        .map(|span| (span.service.as_str(), span.instance.as_str()))
        .collect();
    let expected = [
        ("matchday-manager", "league_manager"),
        ("matchday-player", "P01"),
        ("matchday-player", "P02"),
        ("matchday-referee", "REF01"),
    ];
    assert_eq!(agents, expected.into_iter().collect());
}

#[test]
fn what_is_called_lies_beneath_what_called_it() {
    let cli = Cli::new(crate::MATCHDAY);
    let collector = Collector::start(Manners::Takes);
    stop(play(&cli, 2, &collector.url));
    let spans = collector.spans();
    let server = 2;
    let client = 3;
    let find = |id: &str| spans.iter().find(|span| span.id == id).unwrap();
    for (kind, asked, times) in [
        ("GAME_INVITATION", "matchday-player", 2),
        ("CHOOSE_PARITY_CALL", "matchday-player", 2),
        ("GAME_OVER", "matchday-player", 2),
        ("MATCH_RESULT_REPORT", "matchday-manager", 1),
    ] {
        let heard: Vec<_> = spans
            .iter()
            .filter(|span| span.name == kind && span.kind == server)
            .collect();
        assert_eq!(heard.len(), times, "{kind}: {spans:#?}");
        for span in heard {
            let caller = find(&span.parent);
            assert_eq!((caller.name.as_str(), caller.kind), (kind, client));
            assert_eq!(
                (caller.service.as_str(), span.service.as_str()),
                ("matchday-referee", asked)
            );
            assert_eq!(find(&caller.parent).name, "refereeing");
            assert_eq!(find(&find(&caller.parent).parent).name, "assignment");
            for (key, value) in [
                ("match_id", "R1M1"),
                ("message_type", kind),
                ("outcome", "ok"),
            ] {
                assert_eq!(span.attributes[key], value);
                assert_eq!(caller.attributes[key], value);
            }
            assert_eq!(
                span.attributes["conversation_id"],
                caller.attributes["conversation_id"]
            );
            assert!(span.attributes["conversation_id"].starts_with("conv-"));
        }
    }
}

#[test]
fn a_call_that_fails_is_an_error_in_its_trace() {
    let cli = Cli::new(crate::MATCHDAY);
    let collector = Collector::start(Manners::Takes);
    let otlp = ["--otlp", &collector.url];
    let settings = ["--lead", "0", "--endpoint-check", "off"];
    let manager = cli.manager(&[&settings, &otlp[..]].concat());
    let referee = cli.agent(&[&["referee", "--retries", "0"], &otlp[..]].concat());
    let player = cli.agent(&[&["player"], &otlp[..]].concat());
    let gone = cli.agent(&["player"]);
    [&referee, &player, &gone]
        .iter()
        .for_each(|agent| agent.until("registered as"));
    drop(gone);
    assert_eq!(cli.ask(&["start"]).code, 0);
    cli.until_status("completed");
    stop(vec![manager, referee, player]);
    let spans = collector.spans();
    let failed: Vec<_> = spans.iter().filter(|span| span.status == 2).collect();
    let codes: BTreeSet<_> = failed
        .iter()
        .map(|span| (span.name.as_str(), span.attributes["error_code"].as_str()))
        .collect();
    for expected in [
        ("GAME_INVITATION", "no_connection"),
        ("assignment", "technical_loss"),
        ("match", "technical_loss"),
        ("refereeing", "technical_loss"),
    ] {
        assert!(codes.contains(&expected), "{codes:?}");
    }
}

#[test]
fn every_match_of_a_league_in_one_process_has_a_trace_of_its_own() {
    let cli = Cli::new(crate::MATCHDAY);
    let collector = Collector::start(Manners::Takes);
    let done = cli.run(&[
        "run",
        "--port-base",
        "0",
        "--quiet",
        "--otlp",
        &collector.url,
    ]);
    assert_eq!(done.code, 0, "{done:?}");
    let spans = collector.spans();
    let traces: BTreeSet<_> = spans.iter().map(|span| span.trace.as_str()).collect();
    assert_eq!(traces.len(), 6);
    for match_id in ["R1M1", "R1M2", "R2M1", "R2M2", "R3M1", "R3M2"] {
        let of_it = of_match(&spans, match_id);
        let traces: BTreeSet<_> = of_it.iter().map(|span| span.trace.as_str()).collect();
        assert_eq!(traces.len(), 1, "{match_id}: {of_it:#?}");
    }
}

#[test]
fn a_collector_that_is_down_harms_nobody_and_is_counted() {
    let cli = Cli::new(crate::MATCHDAY);
    let agents = play(&cli, 2, &format!("http://{}", free_address()));
    let at = address(&agents[0]);
    eventually("spans that failed are counted", || {
        value(
            &figures(&at),
            "matchday_trace_spans_total{outcome=\"failed\"}",
        ) != 0.0
    });
    stop(agents);
}

#[test]
fn a_collector_that_hangs_harms_nobody_and_holds_up_no_end() {
    let cli = Cli::new(crate::MATCHDAY);
    let collector = Collector::start(Manners::Hangs);
    let agents = play(&cli, 2, &collector.url);
    assert_eq!(cli.ask(&["standings"]).code, 0);
    stop(agents);
    assert!(collector.spans().is_empty());
}
