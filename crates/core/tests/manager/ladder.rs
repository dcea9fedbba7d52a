//! A ladder has no end: players join and leave at any time, and are paired by rating.

use crate::desk::*;
use crate::orders::{give, operator};
use matchday_core::agent::{Agent, Input};
use matchday_core::league::format::{Competition, Format};
use matchday_core::league::{LeagueSettings, Rating};
use matchday_core::protocol::messages::*;
use matchday_core::protocol::{Body, ErrorCode, PlayerId, Sender, Token};
use std::collections::BTreeMap;
use std::time::Duration;

fn ladder(change: impl FnOnce(&mut Competition)) -> LeagueSettings {
    let mut competition = Competition {
        matches_per_hour: None,
        ..Competition::of(Format::Ladder)
    };
    change(&mut competition);
    LeagueSettings {
        competition,
        operator_token: Some(operator().hash()),
        ..quick()
    }
}

/// Reports all that is open: the lower number wins.
fn play_round(desk: &mut Desk) {
    desk.settle_received();
    for (match_id, a, b, _) in desk.open_matches() {
        desk.report(match_id.as_str(), if a < b { (3, 0) } else { (0, 3) });
    }
    desk.settle_received();
}

fn id(number: u32) -> PlayerId {
    PlayerId::numbered(number)
}

/// Who is paired with whom in the last round, the lower number first.
fn pairs(desk: &Desk) -> BTreeMap<PlayerId, PlayerId> {
    let drawn = desk
        .manager
        .league()
        .rounds
        .last()
        .and_then(|round| round.drawn.clone())
        .unwrap();
    drawn
        .pairs
        .iter()
        .map(|(a, b)| {
            if a < b {
                (a.clone(), b.clone())
            } else {
                (b.clone(), a.clone())
            }
        })
        .collect()
}

fn leave(desk: &mut Desk, number: u32, whom: u32) -> Body {
    let order = LeagueOrder {
        league_id: league_id(),
        order: Order::Withdraw,
        player_id: Some(id(whom)),
        match_id: None,
        agent_id: None,
        join_code: None,
    };
    desk.ask_as(&player(number), order)
}

#[test]
fn a_ladder_goes_on_and_ranks_by_rating() {
    let mut desk = Desk::started(ladder(|_| {}), 4, 1);
    for _ in 0..30 {
        play_round(&mut desk);
    }
    let league = desk.manager.league();
    assert_eq!(league.phase, Phase::Running);
    assert_eq!(league.matches_decided, 60);
    let rows = league.rows();
    let order: Vec<&PlayerId> = rows.iter().map(|row| &row.player_id).collect();
    assert_eq!(order, [&id(1), &id(2), &id(3), &id(4)]);
    assert!(
        rows.iter()
            .is_sorted_by(|one, other| one.rating > other.rating),
        "{rows:?}"
    );
    assert!(
        rows.iter().all(|row| row.rating_deviation.unwrap() < 200),
        "{rows:?}"
    );
    assert_eq!(
        rows[0].rank_reason.as_ref().unwrap().raw(),
        "ahead of P02 on pairing rating"
    );
}

#[test]
fn the_same_two_meet_again_only_when_others_have_met() {
    let mut desk = Desk::started(ladder(|_| {}), 4, 1);
    let mut last = pairs(&desk);
    for _ in 0..20 {
        play_round(&mut desk);
        let next = pairs(&desk);
        assert!(
            next.iter().all(|(a, b)| last.get(a) != Some(b)),
            "{last:?} then {next:?}"
        );
        last = next;
    }
}

#[test]
fn a_player_that_joins_a_running_ladder_is_paired() {
    let mut desk = Desk::started(ladder(|_| {}), 2, 1);
    play_round(&mut desk);
    assert_eq!(desk.register_player(3), player(3));
    assert_eq!(desk.register_player(4), player(4));
    play_round(&mut desk);
    assert_eq!(
        desk.manager.league().players[&id(3)].state,
        Lifecycle::Active
    );
    assert_eq!(pairs(&desk).len(), 2);
    for _ in 0..3 {
        play_round(&mut desk);
    }
    let played: Vec<u32> = desk
        .manager
        .league()
        .rows()
        .iter()
        .map(|row| row.played)
        .collect();
    assert!(played.iter().all(|played| *played >= 3), "{played:?}");
}

#[test]
fn a_ladder_waits_for_a_second_player_and_goes_on_with_it() {
    let mut desk = Desk::with(ladder(|_| {}), 1, 1);
    desk.register_player_with_token(2);
    desk.start();
    leave(&mut desk, 2, 2);
    play_round(&mut desk);
    let rounds = desk.manager.league().rounds.len();
    desk.pass(Duration::from_secs(3600));
    assert_eq!(desk.manager.league().rounds.len(), rounds, "nobody to meet");
    desk.register_player(3);
    assert_eq!(desk.manager.league().rounds.len(), rounds + 1);
    assert_eq!(pairs(&desk), BTreeMap::from([(id(1), id(3))]));
}

#[test]
fn a_player_leaves_by_its_own_order_and_comes_back_with_its_rating() {
    let mut desk = Desk::with(ladder(|_| {}), 2, 1);
    desk.register_player_with_token(3);
    desk.start();
    for _ in 0..4 {
        play_round(&mut desk);
    }
    assert!(matches!(leave(&mut desk, 3, 3), Body::LeagueStatus(_)));
    assert_eq!(
        error_code(&leave(&mut desk, 3, 1)),
        ErrorCode::TokenInvalid,
        "nobody else"
    );
    play_round(&mut desk);
    let before = desk.manager.league().ratings().unwrap()[&id(3)];
    for _ in 0..3 {
        play_round(&mut desk);
        assert_eq!(pairs(&desk), BTreeMap::from([(id(1), id(2))]));
    }
    assert_eq!(
        desk.manager.league().ratings().unwrap()[&id(3)],
        before,
        "no surer and no less sure"
    );
    let request = LeagueRegisterRequest {
        player_meta: player_meta(3),
        join_code: None,
    };
    assert_eq!(answer_id(&desk.ask_as(&player(3), request)), player(3));
    for _ in 0..2 {
        play_round(&mut desk);
    }
    assert!(
        pairs(&desk).values().any(|b| *b == id(3))
            || desk.manager.league().players[&id(3)].record.losses > 2
    );
}

#[test]
fn nobody_plays_more_often_than_it_allows() {
    let mut desk = Desk::new(ladder(|competition| competition.matches_per_hour = Some(3)));
    desk.register_referee(1, 10);
    for number in 1..=2 {
        desk.register_player(number);
    }
    let modest = PlayerMeta {
        max_matches_per_hour: Some(1),
        ..player_meta(3)
    };
    desk.ask_as(
        &player(3),
        LeagueRegisterRequest {
            player_meta: modest,
            join_code: None,
        },
    );
    desk.start();
    for _ in 0..8 {
        play_round(&mut desk);
    }
    let drawn = |desk: &Desk, number: u32| {
        desk.manager
            .league()
            .matches
            .values()
            .filter(|game| game.has(&id(number)))
            .count()
    };
    assert_eq!([1, 2, 3].map(|number| drawn(&desk, number) <= 3), [true; 3]);
    assert_eq!(drawn(&desk, 3), 1);
    let before = desk.manager.league().matches.len();
    desk.pass(Duration::from_secs(3600));
    assert!(
        desk.manager.league().matches.len() > before,
        "and goes on in the next hour"
    );
}

#[test]
fn a_pairing_of_three_games_ends_once_it_is_decided() {
    let mut desk = Desk::started(
        ladder(|competition| competition.matches_per_pairing = 3),
        2,
        1,
    );
    for _ in 0..4 {
        play_round(&mut desk);
    }
    let rounds = desk.manager.league().rounds.iter();
    let titles: Vec<String> = rounds
        .map(|round| round.drawn.as_ref().unwrap().title.clone())
        .collect();
    let expected = [
        "Pairing 1, game 1 of 3",
        "Pairing 1, game 2 of 3",
        "Pairing 2, game 1 of 3",
        "Pairing 2, game 2 of 3",
    ];
    assert_eq!(titles[..4], expected);
}

#[test]
fn a_ladder_goes_on_after_a_restart_as_if_nothing_had_happened() {
    let mut desk = Desk::started(ladder(|_| {}), 5, 1);
    for round in 0..12 {
        play_round(&mut desk);
        if round % 3 == 0 {
            let before = desk.manager.league().clone();
            desk.crash();
            assert_eq!(*desk.manager.league(), before);
        }
    }
    let ratings: Vec<Rating> = desk
        .manager
        .league()
        .ratings()
        .unwrap()
        .into_values()
        .collect();
    assert!(ratings[0].rating > ratings[4].rating + 100.0, "{ratings:?}");
}

#[test]
fn the_operator_ends_a_ladder_and_nobody_registers_then() {
    let mut desk = Desk::started(ladder(|_| {}), 2, 1);
    play_round(&mut desk);
    assert!(
        matches!(give(&mut desk, Order::End, None, None), Body::LeagueStatus(status) if status.status == Phase::Completed)
    );
    assert_eq!(desk.manager.league().champion, Some(id(1)));
    let request = LeagueRegisterRequest {
        player_meta: player_meta(7),
        join_code: None,
    };
    let Body::LeagueRegisterResponse(response) = desk.ask_as(&player(7), request) else {
        panic!("a response")
    };
    assert_eq!(
        response.answer.error_code,
        Some(ErrorCode::LateRegistration)
    );
}

#[test]
fn in_other_leagues_no_player_gives_orders() {
    let mut desk = Desk::started(crate::orders::settings(), 2, 1);
    desk.tokens.insert(player(1), Token::new("tok_any"));
    assert_eq!(error_code(&leave(&mut desk, 1, 1)), ErrorCode::TokenInvalid);
    assert_eq!(player(1), Sender::Player(id(1)));
}

#[test]
fn a_ladder_that_is_paused_or_over_wakes_for_no_pairing() {
    for order in [Order::Pause, Order::End] {
        let mut desk = Desk::started(
            ladder(|competition| competition.matches_per_hour = Some(1)),
            2,
            1,
        );
        play_round(&mut desk);
        assert!(desk.manager.deadline().is_some(), "the next hour");
        give(&mut desk, order, None, None);
        desk.settle_received();
        desk.now = desk.now + Duration::from_secs(7200);
        desk.hand_in(Input::Tick);
        desk.settle_received();
        assert!(
            desk.manager.deadline().is_none_or(|at| at > desk.now),
            "{order:?}"
        );
    }
}
