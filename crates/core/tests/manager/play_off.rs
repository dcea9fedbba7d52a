//! Level players share the first place, or play it out.

use crate::desk::*;
use matchday_core::agent::{Agent, Answer, Payload};
use matchday_core::event_codec;
use matchday_core::league::format::{Competition, Format};
use matchday_core::league::{LeagueEvent, LeagueSettings, Manager};
use matchday_core::protocol::messages::*;
use matchday_core::protocol::{Body, PlayerId};

fn of(competition: Competition) -> LeagueSettings {
    LeagueSettings {
        competition,
        ..quick()
    }
}

fn with_play_off() -> LeagueSettings {
    of(Competition {
        play_off: true,
        ..Competition::default()
    })
}

/// Reports all open matches as `score` says by the title of their round, until the league is over.
fn play_out(desk: &mut Desk, mut score: impl FnMut(&str, &PlayerId, &PlayerId) -> (u32, u32)) {
    while desk.manager.league().phase == Phase::Running {
        desk.settle_received();
        let title = titles(desk).pop().unwrap_or_default();
        for (match_id, a, b, _) in desk.open_matches() {
            desk.report(match_id.as_str(), score(&title, &a, &b));
        }
    }
}

fn titles(desk: &Desk) -> Vec<String> {
    let rounds = desk
        .manager
        .league()
        .rounds
        .iter()
        .filter(|round| round.starts_at.is_some());
    rounds
        .filter_map(|round| round.drawn.as_ref().map(|drawn| drawn.title.clone()))
        .collect()
}

fn ranks(desk: &Desk) -> Vec<(u32, String, u32)> {
    let rows = desk.manager.league().rows();
    rows.iter()
        .map(|row| (row.shown_rank(), row.player_id.to_string(), row.played))
        .collect()
}

/// The lower number wins, but P01 and P02 draw.
fn level_at_the_top(a: &PlayerId, b: &PlayerId) -> (u32, u32) {
    let top = [PlayerId::numbered(1), PlayerId::numbered(2)];
    match (top.contains(a) && top.contains(b), a < b) {
        (true, _) => (1, 1),
        (false, true) => (3, 0),
        (false, false) => (0, 3),
    }
}

#[test]
fn without_a_play_off_the_title_is_shared_and_everyone_is_told() {
    let mut desk = Desk::started(quick(), 4, 1);
    play_out(&mut desk, |_, a, b| level_at_the_top(a, b));
    let league = desk.manager.league();
    assert_eq!(
        league.joint_champions(),
        [PlayerId::numbered(1), PlayerId::numbered(2)]
    );
    assert_eq!(
        ranks(&desk)
            .iter()
            .map(|(rank, ..)| *rank)
            .collect::<Vec<_>>(),
        [1, 1, 3, 4]
    );
    let joint = league.joint_champions();
    let mut told = Vec::new();
    desk.answer_calls(|call| {
        if let Payload::Message(message) = &call.payload
            && let Body::LeagueCompleted(end) = &message.body
        {
            told.push(end.clone());
        }
        Answer::Received
    });
    assert_eq!(told.len(), 5, "four players and a referee");
    for end in told {
        assert_eq!(
            (&end.champion.player_id, &end.champions),
            (&PlayerId::numbered(1), &joint)
        );
    }
}

#[test]
fn a_play_off_decides_the_title_and_changes_no_points() {
    let mut desk = Desk::started(with_play_off(), 4, 1);
    play_out(&mut desk, |title, a, b| {
        if title.starts_with("Play-off") {
            if a < b { (0, 3) } else { (3, 0) }
        } else {
            level_at_the_top(a, b)
        }
    });
    assert_eq!(titles(&desk), ["Play-off"]);
    let league = desk.manager.league();
    assert_eq!(league.champion, Some(PlayerId::numbered(2)));
    assert_eq!(league.joint_champions(), []);
    let first = &league.rows()[0];
    assert_eq!(
        first
            .rank_reason
            .as_ref()
            .map(|why| why.raw().to_owned())
            .as_deref(),
        Some("ahead of P01 on play-off")
    );
    let expected =
        [(1, "P02"), (2, "P01"), (3, "P03"), (4, "P04")].map(|(rank, id)| (rank, id.to_owned(), 3));
    assert_eq!(ranks(&desk), expected);
}

#[test]
fn a_play_off_that_stays_level_is_played_again_and_in_the_end_shared() {
    let settings = of(Competition {
        play_off: true,
        replays: 2,
        ..Competition::default()
    });
    let mut desk = Desk::started(settings, 3, 1);
    play_out(&mut desk, |_, _, _| (1, 1));
    let expected: Vec<String> = ["Play-off", "Play-off 2", "Play-off 3"]
        .iter()
        .flat_map(|series| (1..=3).map(move |round| format!("{series}, round {round} of 3")))
        .collect();
    assert_eq!(titles(&desk), expected);
    assert_eq!(desk.manager.league().joint_champions().len(), 3);
}

#[test]
fn a_league_with_a_decided_first_place_has_no_play_off() {
    for format in [Format::RoundRobin, Format::Swiss] {
        let mut desk = Desk::started(
            of(Competition {
                play_off: true,
                ..Competition::of(format)
            }),
            4,
            1,
        );
        play_out(&mut desk, |_, a, b| if a < b { (3, 0) } else { (0, 3) });
        assert!(
            titles(&desk)
                .iter()
                .all(|title| !title.starts_with("Play-off")),
            "{format}"
        );
    }
}

#[test]
fn a_manager_killed_after_any_event_plays_the_same_play_off() {
    let score = |title: &str, a: &PlayerId, b: &PlayerId| match title {
        "Play-off 2" => {
            if a < b {
                (0, 3)
            } else {
                (3, 0)
            }
        }
        title if title.starts_with("Play-off") => (1, 1),
        _ => level_at_the_top(a, b),
    };
    let mut smooth = Desk::started(with_play_off(), 4, 1);
    play_out(&mut smooth, score);
    assert_eq!(titles(&smooth), ["Play-off", "Play-off 2"]);
    let started =
        |(_, event): &(_, LeagueEvent)| matches!(event, LeagueEvent::LeagueStarted { .. });
    let first = smooth.events.iter().position(started).unwrap() + 1;
    for kept in first..smooth.events.len() {
        let mut rough = Desk::started(with_play_off(), 4, 1);
        rough.events = smooth.events[..kept].to_vec();
        rough.crash();
        play_out(&mut rough, score);
        assert_eq!(
            rough.manager.league().standings(),
            smooth.manager.league().standings(),
            "after event {kept}"
        );
    }
    let mut again = Manager::new(quick());
    for (at, event) in &smooth.events {
        let line = event_codec::encode(*at, event).unwrap();
        let (at, event): (_, LeagueEvent) = event_codec::decode(&line).unwrap();
        again.apply(at, &event);
    }
    assert_eq!(again.league(), smooth.manager.league());
}
