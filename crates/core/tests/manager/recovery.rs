//! What a manager knows after it was killed: everything, and it takes up where it was.

use crate::desk::*;
use matchday_core::agent::Agent;
use matchday_core::event_codec;
use matchday_core::league::{LeagueEvent, Manager};
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::messages::*;
use matchday_core::protocol::{Body, PlayerId, Timestamp};

#[test]
fn a_restarted_manager_stands_where_the_killed_one_stood() {
    let mut desk = Desk::started(quick(), 4, 2);
    desk.settle_received();
    desk.report("R1M1", (3, 0));
    let before = desk.manager.league().clone();
    desk.crash();
    assert_eq!(*desk.manager.league(), before);
}

#[test]
fn a_restarted_manager_says_again_what_is_open() {
    let mut desk = Desk::started(quick(), 4, 1);
    desk.settle_received();
    desk.report("R1M1", (3, 0));
    desk.crash();
    let to_referee = desk.sent_to(&referee_endpoint(1));
    let [
        Body::RoundAnnouncement(whole),
        Body::RoundAnnouncement(round),
    ] = &to_referee[..]
    else {
        panic!("expected the round and the assignment, got {to_referee:?}")
    };
    assert_eq!(whole.matches.len(), 2);
    assert_eq!(
        round
            .matches
            .iter()
            .map(|game| game.match_id.as_str())
            .collect::<Vec<_>>(),
        ["R1M2"]
    );
    assert!(matches!(
        desk.sent_to(&player_endpoint(3))[0],
        Body::RoundAnnouncement(_)
    ));
}

#[test]
fn tokens_stay_valid_over_a_restart() {
    let mut desk = Desk::started(quick(), 2, 1);
    desk.crash();
    assert!(matches!(
        desk.report("R1M1", (3, 0)),
        Body::MatchResultAck(_)
    ));
}

#[test]
fn a_manager_killed_during_the_roll_call_calls_it_again() {
    let mut desk = Desk::with(
        matchday_core::league::LeagueSettings {
            endpoint_check: matchday_core::league::EndpointCheck::AtStart,
            ..quick()
        },
        2,
        1,
    );
    desk.start();
    desk.crash();
    desk.settle_received();
    assert_eq!(desk.manager.league().current_round, 1);
}

#[test]
fn a_league_interrupted_after_every_event_still_ends_with_the_same_table() {
    let mut smooth = Desk::started(quick(), 4, 2);
    smooth.play_out();
    let mut rough = Desk::started(quick(), 4, 2);
    while rough.manager.league().phase == Phase::Running {
        rough.crash();
        rough.settle_received();
        let open = rough.open_matches();
        rough.report(open[0].0.as_str(), (3, 0));
    }
    assert_eq!(
        rough.manager.league().standings(),
        smooth.manager.league().standings()
    );
}

#[test]
fn events_survive_being_written_down_and_read_again() {
    let mut desk = Desk::started(quick(), 4, 2);
    desk.play_out();
    for (at, event) in &desk.events {
        let line = event_codec::encode(*at, event).unwrap();
        let (read_at, read): (Timestamp, LeagueEvent) = event_codec::decode(&line).unwrap();
        assert_eq!((read_at, &read), (*at, event));
    }
}

/// The log of a small league with every kind of event in it, in form 1. Whoever must change this file changes the form.
#[test]
fn a_log_of_form_1_is_readable() {
    let mut manager = Manager::new(quick());
    for line in include_str!("league_v1.jsonl").lines() {
        let (at, event): (Timestamp, LeagueEvent) = event_codec::decode(line).unwrap();
        manager.apply(at, &event);
    }
    let table: Vec<_> = manager
        .league()
        .standings()
        .iter()
        .map(|place| format!("{} {}", place.player, place.tally.points()))
        .collect();
    assert_eq!(table, ["P02 7", "P03 6", "P01 4", "P04 0"]);
    let league = manager.league();
    assert_eq!(
        (league.phase, league.matches_decided, league.current_round),
        (Phase::Completed, 6, 3)
    );
    assert_eq!(league.players[&PlayerId::new("P02")].dialect, Dialect::Bare);
    assert_eq!(
        league.players[&PlayerId::new("P02")].deviations["missing sender"],
        1
    );
}

#[test]
fn a_log_of_another_form_is_refused_with_a_reason() {
    for form in [0, 2] {
        let line = format!(r#"{{"v":{form},"at":0,"event":{{"type":"unheard_of"}}}}"#);
        let error = event_codec::decode::<LeagueEvent>(&line).unwrap_err();
        let expected = format!("the event has form {form}, and this program reads form 1");
        assert!(error.to_string().starts_with(&expected), "{error}");
    }
}
