//! How a league begins, and who may begin it.

use crate::desk::*;
use matchday_core::agent::{Answer, Ask, CallDeadline, Content, Failure, Payload};
use matchday_core::league::schedule::Pairings;
use matchday_core::league::{EndpointCheck, LeagueSettings};
use matchday_core::protocol::messages::*;
use matchday_core::protocol::{Body, ErrorCode, LeagueId, PlayerId, Sender, Token};
use std::time::Duration;

fn start_from_afar(desk: &mut Desk, token: Option<Token>) -> Body {
    let mut message = desk.message(
        &Sender::Launcher,
        StartLeague {
            league_id: league_id(),
        },
    );
    message.envelope.auth_token = token;
    match desk
        .ask_any(Ask::Message(Ok(incoming(message))), false)
        .pop()
    {
        Some(Content::Message(answer)) => answer.body,
        other => panic!("expected an answer, got {other:?}"),
    }
}

#[test]
fn starting_draws_up_every_round_and_announces_the_first() {
    let mut desk = Desk::with(quick(), 4, 2);
    let status = desk.start();
    assert_eq!(
        (status.status, status.current_round, status.total_rounds),
        (Phase::Running, 1, 3)
    );
    for number in 1..=4 {
        let sent = desk.sent_to(&player_endpoint(number));
        assert!(matches!(&sent[..], [Body::RoundAnnouncement(round)] if round.matches.len() == 2));
    }
}

#[test]
fn starting_twice_answers_with_the_status_and_changes_nothing() {
    let mut desk = Desk::started(quick(), 2, 1);
    let before = desk.manager.league().clone();
    assert_eq!(desk.start().status, Phase::Running);
    assert_eq!(*desk.manager.league(), before);
}

#[test]
fn a_league_needs_two_players_and_a_referee() {
    for (players, referees) in [(0, 0), (1, 1), (2, 0)] {
        let mut desk = Desk::with(quick(), players, referees);
        let answer = desk.ask_as(
            &Sender::Launcher,
            StartLeague {
                league_id: league_id(),
            },
        );
        assert_eq!(
            error_code(&answer),
            ErrorCode::InvalidState,
            "{players} players, {referees} referees"
        );
        assert_eq!(desk.manager.league().phase, Phase::Registration);
    }
}

#[test]
fn fixtures_of_the_operators_take_the_place_of_a_round_robin() {
    let meet = |a, b| Pairings {
        pairs: vec![(PlayerId::numbered(a), PlayerId::numbered(b))],
        bye: None,
    };
    let fixtures = vec![meet(1, 2), meet(3, 1), meet(1, 2)];
    let settings = LeagueSettings {
        fixtures: Some(fixtures),
        ..quick()
    };
    let mut desk = Desk::with(settings, 3, 1);
    assert_eq!(desk.start().total_rounds, 3);
    let games = desk.manager.league().matches.values();
    let pairs: Vec<String> = games.map(|game| format!("{} {}", game.a, game.b)).collect();
    assert_eq!(pairs, ["P01 P02", "P03 P01", "P01 P02"]);
}

#[test]
fn fixtures_that_name_someone_who_is_not_there_start_nothing() {
    let pairs = vec![(PlayerId::numbered(1), PlayerId::numbered(3))];
    let settings = LeagueSettings {
        fixtures: Some(vec![Pairings { pairs, bye: None }]),
        ..quick()
    };
    let mut desk = Desk::with(settings, 2, 1);
    let answer = desk.ask_as(
        &Sender::Launcher,
        StartLeague {
            league_id: league_id(),
        },
    );
    assert_eq!(error_code(&answer), ErrorCode::InvalidState);
    assert_eq!(desk.manager.league().phase, Phase::Registration);
}

#[test]
fn another_league_is_not_started_here() {
    let mut desk = Desk::with(quick(), 2, 1);
    let answer = desk.ask_as(
        &Sender::Launcher,
        StartLeague {
            league_id: LeagueId::new("other"),
        },
    );
    assert_eq!(error_code(&answer), ErrorCode::LeagueNotFound);
}

#[test]
fn from_another_machine_only_the_operator_token_starts_a_league() {
    let token = Token::new("tok_operator_secret");
    let settings = LeagueSettings {
        operator_token: Some(token.hash()),
        ..quick()
    };
    let mut desk = Desk::with(settings, 2, 1);
    assert_eq!(
        error_code(&start_from_afar(&mut desk, None)),
        ErrorCode::TokenMissing
    );
    let guess = Some(Token::new("tok_operator_guess"));
    assert_eq!(
        error_code(&start_from_afar(&mut desk, guess)),
        ErrorCode::TokenInvalid
    );
    let own = desk.tokens.values().next().cloned();
    assert_eq!(
        error_code(&start_from_afar(&mut desk, own)),
        ErrorCode::TokenInvalid
    );
    assert!(matches!(
        start_from_afar(&mut desk, Some(token)),
        Body::LeagueStatus(_)
    ));
}

#[test]
fn with_a_lead_the_matches_begin_no_earlier_than_announced() {
    let settings = LeagueSettings {
        announce_lead: Duration::from_secs(60),
        ..quick()
    };
    let mut desk = Desk::started(settings, 2, 1);
    desk.settle_received();
    desk.pass(Duration::from_secs(59));
    assert!(desk.open_matches().is_empty());
    desk.pass(Duration::from_secs(1));
    assert_eq!(desk.open_matches().len(), 1);
}

#[test]
fn who_never_answered_is_suspended_at_the_start_and_not_waited_for() {
    let settings = LeagueSettings {
        endpoint_check: EndpointCheck::AtStart,
        ..quick()
    };
    let mut desk = Desk::with(settings, 3, 1);
    let dead = player_endpoint(3);
    let answer = |to: &_| {
        if *to == dead {
            UNREACHABLE
        } else {
            Answer::Received
        }
    };
    desk.answer_calls(|call| answer(&call.to));
    desk.start();
    for _ in 0..=4 {
        desk.answer_calls(|call| answer(&call.to));
        desk.pass(Duration::from_millis(500));
    }
    let states: Vec<_> = desk
        .manager
        .league()
        .players
        .values()
        .map(|player| player.state)
        .collect();
    assert_eq!(
        states,
        [Lifecycle::Active, Lifecycle::Active, Lifecycle::Suspended]
    );
    while desk.manager.league().phase == Phase::Running {
        desk.answer_calls(|call| answer(&call.to));
        let (match_id, ..) = desk.open_matches()[0].clone();
        desk.report(match_id.as_str(), (3, 0));
    }
    let league = desk.manager.league();
    let forfeits = league.matches.values().filter(|game| {
        game.decision
            .as_ref()
            .is_some_and(|decision| decision.status == GameStatus::TechnicalLoss)
    });
    assert_eq!(
        forfeits.count(),
        2,
        "its two matches are forfeited without play"
    );
}

#[test]
fn who_refuses_connections_while_it_starts_is_not_suspended_by_the_roll_call() {
    let settings = LeagueSettings {
        endpoint_check: EndpointCheck::AtStart,
        ..quick()
    };
    let mut desk = Desk::with(settings, 2, 1);
    desk.answer_calls(|_| UNREACHABLE);
    desk.start();
    desk.answer_calls(|_| UNREACHABLE);
    desk.pass(Duration::from_millis(499));
    assert!(desk.outbox.is_empty(), "it is not tried again at once");
    desk.pass(Duration::from_millis(1));
    desk.settle_received();
    let league = desk.manager.league();
    assert_eq!(league.current_round, 1);
    assert!(
        league
            .players
            .values()
            .all(|player| player.state == Lifecycle::Active)
    );
}

#[test]
fn the_roll_call_follows_an_agent_to_its_new_endpoint_and_waits_no_longer_for_it() {
    let settings = LeagueSettings {
        endpoint_check: EndpointCheck::AtStart,
        ..quick()
    };
    let mut desk = Desk::with(settings, 1, 1);
    desk.register_player_with_token(2);
    desk.answer_calls(|_| UNREACHABLE);
    desk.start();
    desk.answer_calls(|call| {
        if call.to == player_endpoint(2) {
            UNREACHABLE
        } else {
            Answer::Received
        }
    });
    for port in 10..14 {
        let player_meta = PlayerMeta {
            contact_endpoint: player_endpoint(port),
            ..player_meta(2)
        };
        desk.ask_as(
            &player(2),
            LeagueRegisterRequest {
                player_meta,
                join_code: None,
            },
        );
        assert_eq!(desk.manager.league().current_round, 0);
        desk.pass(Duration::from_millis(500));
        assert!(
            desk.outbox
                .iter()
                .any(|probe| probe.to == player_endpoint(port))
        );
        desk.answer_calls(|_| UNREACHABLE);
    }
    assert_eq!(desk.manager.league().current_round, 1);
}

#[test]
fn the_roll_call_waits_for_each_probe_from_when_it_is_sent() {
    let settings = LeagueSettings {
        endpoint_check: EndpointCheck::AtStart,
        ..quick()
    };
    let mut desk = Desk::with(settings.clone(), 2, 1);
    desk.start();
    assert_eq!(desk.manager.league().current_round, 0);
    assert!(
        desk.outbox
            .iter()
            .all(|probe| probe.deadline == CallDeadline::After(settings.probe_timeout))
    );
    desk.pass(settings.probe_timeout * 3);
    assert_eq!(
        desk.manager.league().current_round,
        0,
        "the probes may not have been sent before"
    );
    desk.answer_calls(|_| Answer::Undelivered(Failure::TimedOut));
    assert_eq!(desk.manager.league().current_round, 1);
}

#[test]
fn the_answer_to_start_league_names_round_1_also_while_the_roll_call_lasts() {
    for endpoint_check in [EndpointCheck::Off, EndpointCheck::AtStart] {
        let mut desk = Desk::with(
            LeagueSettings {
                endpoint_check,
                ..quick()
            },
            2,
            1,
        );
        assert_eq!(desk.manager.status().current_round, 0);
        assert_eq!(desk.start().current_round, 1, "{endpoint_check:?}");
        assert_eq!(desk.manager.status().current_round, 1, "{endpoint_check:?}");
    }
}

#[test]
fn an_agent_does_not_start_the_league_even_from_this_machine() {
    let mut desk = Desk::with(quick(), 2, 1);
    let answer = desk.ask_as(
        &referee(1),
        StartLeague {
            league_id: league_id(),
        },
    );
    assert_eq!(error_code(&answer), ErrorCode::TokenInvalid);
}

#[test]
fn a_connection_that_was_accepted_and_closed_is_reachable_and_one_that_could_not_be_made_is_not() {
    for (failure, is_there) in [
        (Failure::Closed, true),
        (Failure::NoConnection, false),
        (Failure::TimedOut, false),
    ] {
        let settings = LeagueSettings {
            endpoint_check: EndpointCheck::AtStart,
            ..quick()
        };
        let mut desk = Desk::with(settings, 2, 1);
        desk.start();
        for _ in 0..20 {
            desk.answer_calls(|call| {
                if call.to == player_endpoint(2) {
                    Answer::Undelivered(failure)
                } else {
                    Answer::Received
                }
            });
            desk.pass(Duration::from_millis(500));
        }
        let player = &desk.manager.league().players[&PlayerId::numbered(2)];
        assert_eq!(!player.is_suspended(), is_there, "{failure}");
    }
}

#[test]
fn the_answer_to_start_league_says_when_the_first_match_may_begin() {
    let lead = Duration::from_secs(60);
    for endpoint_check in [EndpointCheck::Off, EndpointCheck::AtStart] {
        let settings = LeagueSettings {
            announce_lead: lead,
            endpoint_check,
            ..quick()
        };
        let mut desk = Desk::with(settings, 2, 1);
        assert_eq!(desk.start().starts_at, Some(desk.now + lead));
    }
}

#[test]
fn only_an_agent_that_has_said_that_it_knows_ping_is_sent_one() {
    for (capabilities, expected) in [
        (vec![PING.into()], Payload::Probe),
        (Vec::new(), Payload::Connect),
    ] {
        let settings = LeagueSettings {
            endpoint_check: EndpointCheck::AtStart,
            ..quick()
        };
        let mut desk = Desk::new(settings);
        let player_meta = PlayerMeta {
            capabilities,
            ..player_meta(1)
        };
        let request = LeagueRegisterRequest {
            player_meta,
            join_code: None,
        };
        desk.ask_as(&player(1), request);
        assert_eq!(desk.outbox[0].payload, expected);
    }
}
