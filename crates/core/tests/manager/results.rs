//! What the manager takes as a result, from whom, and how often.

use crate::desk::*;
use matchday_core::agent::{Ask, Content};
use matchday_core::league::{LeagueSettings, TokenRule};
use matchday_core::protocol::decode::{Conformance, Limits, Reading, decode};
use matchday_core::protocol::messages::*;
use matchday_core::protocol::token::Direction;
use matchday_core::protocol::{
    Attempt, Body, ConversationId, ErrorCode, GameType, LeagueId, MatchId, PlayerId, RefereeId,
    RoundId, Sender, Token,
};
use serde_json::{Value, json};
use std::sync::Arc;

fn started() -> Desk {
    Desk::started(quick(), 4, 2)
}

fn own_referee(desk: &Desk) -> Sender {
    Sender::Referee(desk.open_matches()[0].3.clone())
}

fn send(desk: &mut Desk, sender: &Sender, change: impl FnOnce(&mut MatchResultReport)) -> Body {
    let mut report = desk.report_of("R1M1", (3, 0));
    change(&mut report);
    desk.ask_as(sender, report)
}

#[test]
fn a_report_is_recorded_and_acknowledged() {
    let mut desk = started();
    let Body::MatchResultAck(ack) = desk.report("R1M1", (3, 0)) else {
        panic!("expected MATCH_RESULT_ACK")
    };
    assert_eq!((ack.match_id.as_str(), ack.duplicate), ("R1M1", None));
    assert_eq!(desk.manager.league().matches_decided, 1);
}

#[test]
fn the_same_report_again_gets_the_same_answer_and_counts_once() {
    let mut desk = started();
    let by = own_referee(&desk);
    send(&mut desk, &by, |_| ());
    let before = desk.manager.league().clone();
    let Body::MatchResultAck(ack) = send(&mut desk, &by, |_| ()) else {
        panic!("expected MATCH_RESULT_ACK")
    };
    assert_eq!(ack.duplicate, Some(true));
    assert_eq!(*desk.manager.league(), before);
}

#[test]
fn a_different_report_for_a_decided_match_is_a_conflict() {
    let mut desk = started();
    let by = own_referee(&desk);
    send(&mut desk, &by, |_| ());
    let before = desk.manager.league().clone();
    let other = desk.report_of("R1M1", (0, 3));
    assert_eq!(
        error_code(&desk.ask_as(&by, other)),
        ErrorCode::ResultConflict
    );
    assert_eq!(*desk.manager.league(), before);
}

#[test]
fn only_the_matchs_own_referee_can_report_it() {
    let mut desk = started();
    let by = own_referee(&desk);
    let other = if by == referee(1) {
        referee(2)
    } else {
        referee(1)
    };
    assert_eq!(
        error_code(&send(&mut desk, &other, |_| ())),
        ErrorCode::TokenInvalid
    );
    assert_eq!(desk.manager.league().matches_decided, 0);
}

#[test]
fn a_report_needs_the_referees_token() {
    let mut desk = started();
    let by = own_referee(&desk);
    let player_token = Token::new("tok_p01_something");
    for (token, expected) in [
        (None, ErrorCode::TokenMissing),
        (Some(player_token), ErrorCode::TokenInvalid),
    ] {
        let mut message = desk.message(&by, desk.report_of("R1M1", (3, 0)));
        message.envelope.auth_token = token;
        assert_eq!(error_code(&desk.ask(message).body), expected);
    }
    let stranger = Sender::Referee(RefereeId::new("REF09"));
    let mut message = desk.message(&stranger, desk.report_of("R1M1", (3, 0)));
    message.envelope.auth_token = Some(Token::new("tok_ref09_x"));
    assert_eq!(
        error_code(&desk.ask(message).body),
        ErrorCode::RefereeNotRegistered
    );
    assert_eq!(desk.manager.league().matches_decided, 0);
}

#[test]
fn a_player_cannot_report_a_result_with_its_own_token() {
    let mut desk = Desk::new(quick());
    desk.register_referee(1, 2);
    desk.register_player_with_token(1);
    desk.register_player(2);
    desk.start();
    assert_eq!(
        error_code(&send(&mut desk, &player(1), |_| ())),
        ErrorCode::TokenInvalid
    );
}

#[test]
fn a_match_token_is_worth_nothing_to_the_manager() {
    let mut desk = started();
    let by = own_referee(&desk);
    let hash = desk.tokens[&by].hash();
    for direction in [Direction::RefereeToPlayer, Direction::PlayerToReferee] {
        let token = hash.match_token(
            &league_id(),
            &MatchId::new("R1M1"),
            Attempt::FIRST,
            direction,
        );
        let mut message = desk.message(&by, desk.report_of("R1M1", (3, 0)));
        message.envelope.auth_token = Some(token);
        assert_eq!(error_code(&desk.ask(message).body), ErrorCode::TokenInvalid);
    }
}

#[test]
fn a_report_must_fit_its_match() {
    type Change = fn(&mut MatchResultReport);
    let cases: [(&str, Change, ErrorCode); 5] = [
        (
            "league",
            |report| report.league_id = LeagueId::new("other"),
            ErrorCode::LeagueNotFound,
        ),
        (
            "match",
            |report| report.match_id = MatchId::new("R9M9"),
            ErrorCode::MatchNotFound,
        ),
        (
            "match to come",
            |report| report.match_id = MatchId::new("R2M1"),
            ErrorCode::TokenInvalid,
        ),
        (
            "round",
            |report| report.round_id = RoundId(2),
            ErrorCode::InvalidFormat,
        ),
        (
            "game",
            |report| report.game_type = GameType::new("chess"),
            ErrorCode::InvalidFormat,
        ),
    ];
    for (name, change, expected) in cases {
        let mut desk = started();
        let by = own_referee(&desk);
        assert_eq!(
            error_code(&send(&mut desk, &by, change)),
            expected,
            "{name}"
        );
        assert_eq!(desk.manager.league().matches_decided, 0, "{name}");
    }
}

#[test]
fn a_score_must_be_one_that_the_rules_give_and_agree_with_the_winner() {
    type Change = fn(&mut MatchResult);
    let cases: [(&str, Change); 8] = [
        ("2-1", |result| {
            result.score = scores([("P01", 2), ("P02", 1)])
        }),
        ("3-3", |result| {
            result.score = scores([("P01", 3), ("P02", 3)])
        }),
        ("1-0", |result| {
            result.score = scores([("P01", 1), ("P02", 0)])
        }),
        ("strangers", |result| {
            result.score = scores([("P01", 3), ("P09", 0)])
        }),
        ("one player", |result| result.score = scores([("P01", 3)])),
        ("loser wins", |result| {
            result.winner = Some(PlayerId::new("P02"))
        }),
        ("nobody wins", |result| result.winner = None),
        ("a draw with a winner's score", |result| {
            result.status = Some(GameStatus::Draw)
        }),
    ];
    for (name, change) in cases {
        let mut desk = started();
        let by = own_referee(&desk);
        let answer = send(&mut desk, &by, |report| {
            change(Arc::make_mut(&mut report.result))
        });
        assert_eq!(error_code(&answer), ErrorCode::InvalidFormat, "{name}");
        assert_eq!(desk.manager.league().matches_decided, 0, "{name}");
    }
}

/// What is wrong with a report of R1M1 whose details are these, by the manager's answer; `None` if it is recorded.
fn told(
    conformance: Conformance,
    score: (u32, u32),
    details: Value,
) -> Option<(ErrorCode, String)> {
    let mut desk = Desk::started(
        LeagueSettings {
            conformance,
            ..quick()
        },
        2,
        1,
    );
    let by = own_referee(&desk);
    let report = desk.message(&by, desk.report_of("R1M1", score));
    let mut wire = serde_json::to_value(report).unwrap();
    wire["result"]["details"] = details;
    let reading = Reading {
        conformance,
        now: desk.now,
        limits: Limits::MANAGER,
        exchange: None,
        about: None,
    };
    let ask = Ask::Message(decode(&wire, &reading));
    let Some(Content::Message(answer)) = desk.ask_any(ask, true).pop() else {
        panic!("no answer")
    };
    match answer.body {
        Body::MatchResultAck(_) => None,
        Body::LeagueError(error) => {
            let league = desk.manager.league();
            assert_eq!(league.matches_decided, 0, "nothing is recorded");
            let game = &league.matches[&MatchId::new("R1M1")];
            assert_eq!(game.attempts.len(), 2, "the match is given out anew");
            let path = error.context.as_ref().unwrap()["path"]
                .as_str()
                .unwrap()
                .to_owned();
            Some((error.error_code.clone(), path))
        }
        other => panic!("expected an answer to a report, got {other:?}"),
    }
}

#[test]
fn a_report_of_a_played_match_names_the_number_and_both_choices() {
    let whole = json!({"drawn_number": 8, "choices": {"P01": "even", "P02": "odd"}});
    for conformance in [Conformance::Strict, Conformance::Lenient] {
        assert_eq!(told(conformance, (3, 0), whole.clone()), None);
        for (details, path) in [
            (
                json!({"drawn_number": null, "choices": {"P01": "even", "P02": "odd"}}),
                "result.details.drawn_number",
            ),
            (
                json!({"choices": {"P01": "even", "P02": "odd"}}),
                "result.details.drawn_number",
            ),
            (
                json!({"drawn_number": 11, "choices": {"P01": "even", "P02": "odd"}}),
                "result.details.drawn_number",
            ),
            (
                json!({"drawn_number": 0, "choices": {"P01": "even", "P02": "odd"}}),
                "result.details.drawn_number",
            ),
            (
                json!({"drawn_number": 8, "choices": {"P01": "even", "P02": null}}),
                "result.details.choices.P02",
            ),
            (
                json!({"drawn_number": 8, "choices": {"P01": "even"}}),
                "result.details.choices.P02",
            ),
            (
                json!({"drawn_number": 8, "choices": {"P01": "even", "P02": "odd", "P09": "odd"}}),
                "result.details.choices.P09",
            ),
            (
                json!({"drawn_number": 8, "number_parity": "odd", "choices": {"P01": "even", "P02": "odd"}}),
                "result.details.number_parity",
            ),
        ] {
            let expected = Some((ErrorCode::InvalidFormat, path.to_owned()));
            assert_eq!(
                told(conformance, (3, 0), details.clone()),
                expected,
                "{conformance:?} {details}"
            );
        }
    }
}

#[test]
fn a_winner_whom_number_and_choices_contradict_is_refused() {
    for conformance in [Conformance::Strict, Conformance::Lenient] {
        for (score, number, choices, agrees) in [
            ((3, 0), 8, ["even", "odd"], true),
            ((3, 0), 7, ["even", "odd"], false),
            ((3, 0), 8, ["even", "even"], false),
            ((0, 3), 7, ["even", "odd"], true),
            ((0, 3), 8, ["even", "odd"], false),
            ((1, 1), 8, ["even", "even"], true),
            ((1, 1), 7, ["even", "even"], true),
            ((1, 1), 8, ["even", "odd"], false),
        ] {
            let details =
                json!({"drawn_number": number, "choices": {"P01": choices[0], "P02": choices[1]}});
            let expected =
                (!agrees).then(|| (ErrorCode::InvalidFormat, "result.winner".to_owned()));
            assert_eq!(
                told(conformance, score, details.clone()),
                expected,
                "{score:?} {details}"
            );
        }
    }
}

#[test]
fn a_technical_loss_may_lack_the_number_and_choices_but_names_no_strangers() {
    for conformance in [Conformance::Strict, Conformance::Lenient] {
        let nothing = json!({"drawn_number": null, "choices": {"P01": null, "P02": null}});
        assert_eq!(told(conformance, (0, 0), nothing), None);
        let stranger = json!({"drawn_number": null, "choices": {"P09": null}});
        let expected = Some((
            ErrorCode::InvalidFormat,
            "result.details.choices.P09".to_owned(),
        ));
        assert_eq!(told(conformance, (0, 0), stranger), expected);
    }
}

#[test]
fn a_match_of_another_game_is_replayed_from_its_moves() {
    let report = |winner: &str, moves: Value| {
        let settings = LeagueSettings {
            game_type: GameType::new("rock_paper_scissors"),
            ..quick()
        };
        let mut desk = Desk::new(settings.clone());
        for number in 1..=2 {
            let player_meta = PlayerMeta {
                game_types: vec![settings.game_type.clone()],
                ..player_meta(number)
            };
            desk.ask_as(
                &player(number),
                LeagueRegisterRequest {
                    join_code: None,
                    player_meta,
                },
            );
        }
        let referee_meta = RefereeMeta {
            game_types: vec![settings.game_type.clone()],
            ..referee_meta(1, 2)
        };
        let message = desk.message(
            &referee(1),
            RefereeRegisterRequest {
                join_code: None,
                referee_meta,
            },
        );
        let token = desk.ask(message).envelope.auth_token.unwrap();
        desk.tokens.insert(referee(1), token);
        desk.start();
        desk.players_hear_of_the_round();
        let mut report = desk.report_of("R1M1", if winner == "P01" { (3, 0) } else { (0, 3) });
        report.game_type = settings.game_type;
        let result = Arc::make_mut(&mut report.result);
        result.details = ResultDetails::of(GameDetails::Other(serde_json::Map::new()));
        result.details.turn_log = Some(serde_json::from_value(moves).unwrap());
        desk.ask_as(&referee(1), report)
    };
    let turn = |a: &str, b: &str| json!({"P01": a, "P02": b});
    let won_by_a = Value::from(vec![turn("rock", "scissors"); 15]);
    assert!(matches!(
        report("P01", won_by_a.clone()),
        Body::MatchResultAck(_)
    ));
    let Body::LeagueError(error) = report("P02", won_by_a) else {
        panic!("a false winner was recorded")
    };
    assert_eq!(error.context.as_ref().unwrap()["path"], "result.winner");
    let Body::LeagueError(error) = report("P01", json!([turn("rock", "lizard")])) else {
        panic!("a move outside of the rules was recorded")
    };
    assert_eq!(
        error.context.as_ref().unwrap()["path"],
        "result.details.turn_log[0]"
    );
}

fn scores<const N: usize>(entries: [(&str, u32); N]) -> ByPlayer<u32> {
    entries
        .into_iter()
        .map(|(id, points)| (PlayerId::new(id), points))
        .collect()
}

#[test]
fn where_a_foreign_referee_does_not_say_how_a_match_ended_it_is_read_from_the_result() {
    let silent = |report: &mut MatchResultReport| {
        if let GameDetails::Parity(details) = &mut Arc::make_mut(&mut report.result).details.game {
            details.choices = [("P01", Some(Parity::Even)), ("P02", None)]
                .into_iter()
                .map(|(id, choice)| (PlayerId::new(id), choice))
                .collect();
        }
    };
    for (score, is_silent, expected) in [
        ((3, 0), false, GameStatus::Win),
        ((1, 1), false, GameStatus::Draw),
        ((0, 0), false, GameStatus::TechnicalLoss),
        ((3, 0), true, GameStatus::TechnicalLoss),
    ] {
        let mut desk = started();
        let by = own_referee(&desk);
        let mut report = desk.report_of("R1M1", score);
        Arc::make_mut(&mut report.result).status = None;
        if is_silent {
            silent(&mut report);
        }
        desk.ask_as(&by, report);
        let decision = desk.manager.league().matches[&MatchId::new("R1M1")]
            .decision
            .clone()
            .unwrap();
        assert_eq!(decision.status, expected, "{score:?} silent: {is_silent}");
    }
}

#[test]
fn a_report_counts_for_the_attempt_that_its_conversation_names() {
    let mut desk = Desk::started(quick(), 2, 1);
    desk.settle_received();
    desk.pass(quick().overdue_after(&quick().timing));
    let (match_id, .., by) = desk.open_matches()[0].clone();
    assert_eq!(
        desk.manager.league().matches[&match_id].attempt(),
        Some(Attempt(2))
    );
    let mut message = desk.message(&Sender::Referee(by), desk.report_of("R1M1", (3, 0)));
    message.envelope.conversation_id = ConversationId::of_match(&match_id, Attempt(1));
    desk.ask(message);
    let decision = desk.manager.league().matches[&match_id]
        .decision
        .clone()
        .unwrap();
    assert_eq!(decision.attempt, Attempt(1));
}

#[test]
fn what_a_referee_let_pass_is_counted_against_the_player() {
    let mut desk = started();
    let by = own_referee(&desk);
    send(&mut desk, &by, |report| {
        let deviations = [("P01", vec!["missing sender".into()]), ("P02", vec![])];
        Arc::make_mut(&mut report.result).details.deviations = Some(Box::new(
            deviations
                .into_iter()
                .map(|(id, list)| (PlayerId::new(id), list))
                .collect(),
        ));
    });
    let counted = &desk.manager.league().players[&PlayerId::new("P01")].deviations;
    assert_eq!(counted.get("missing sender"), Some(&1));
}

#[test]
fn a_match_that_was_played_and_reported_without_points_is_a_draw_if_number_and_choices_make_it_one()
{
    let table = [
        (
            8,
            [Parity::Even, Parity::Even],
            None,
            Some((GameStatus::Draw, 1)),
        ),
        (
            5,
            [Parity::Even, Parity::Even],
            None,
            Some((GameStatus::Draw, 1)),
        ),
        (5, [Parity::Even, Parity::Odd], None, None),
        (
            5,
            [Parity::Even, Parity::Even],
            Some(GameStatus::TechnicalLoss),
            Some((GameStatus::TechnicalLoss, 0)),
        ),
    ];
    for (number, [choice_a, choice_b], status, expected) in table {
        let settings = LeagueSettings {
            conformance: Conformance::Lenient,
            ..quick()
        };
        let mut desk = Desk::started(settings, 2, 1);
        let mut report = desk.report_of("R1M1", (0, 0));
        let result = Arc::make_mut(&mut report.result);
        result.status = status;
        let [a, b] = [PlayerId::numbered(1), PlayerId::numbered(2)];
        result.details = ResultDetails::of(GameDetails::Parity(ParityDetails {
            drawn_number: Some(number),
            number_parity: Some(Parity::of(number)),
            choices: ByPlayer::pair((a, Some(choice_a)), (b, Some(choice_b))),
        }));
        let answer = desk.ask_as(&referee(1), report.clone());
        let league = desk.manager.league();
        let decided = league.matches[&MatchId::new("R1M1")].decision.as_ref();
        let own = PlayerId::numbered(1);
        let came = decided.map(|decision| {
            let points = *decision.result.score.get(&own).unwrap();
            (decision.status, points)
        });
        assert_eq!(came, expected);
        match expected {
            None => assert_eq!(error_code(&answer), ErrorCode::InvalidFormat),
            Some((GameStatus::Draw, _)) => {
                let deviations = &league.referees[&RefereeId::numbered(1)].deviations;
                assert_eq!(deviations["mismatch result.score"], 1);
                let again = desk.ask_as(&referee(1), report);
                assert!(matches!(again, Body::MatchResultAck(ack) if ack.duplicate == Some(true)));
            }
            Some(_) => {}
        }
    }
}

/// A league with a referee that has no token of ours, and how many others.
fn with_tokenless_referee(settings: LeagueSettings, others: u32) -> Desk {
    let mut desk = Desk::new(settings);
    let referee_meta = RefereeMeta {
        capabilities: Vec::new(),
        ..referee_meta(1, 5)
    };
    let request = RefereeRegisterRequest {
        referee_meta,
        join_code: None,
    };
    desk.ask_as(&referee(1), request);
    for number in 2..=1 + others {
        desk.register_referee(number, 5);
    }
    for number in 1..=2 {
        desk.register_player(number);
    }
    desk.start();
    desk.players_hear_of_the_round();
    desk
}

#[test]
fn a_report_without_a_token_is_refused_and_frees_the_match_for_another_referee_if_there_is_one() {
    for (others, client, moves) in [
        (1, "127.0.0.1", true),
        (0, "127.0.0.1", false),
        (1, "192.0.2.7", false),
    ] {
        let mut desk = with_tokenless_referee(quick(), others);
        desk.client = Some(client.parse().unwrap());
        let report = desk.report_of("R1M1", (3, 0));
        let answer = desk.ask_as(&referee(1), report);
        assert_eq!(error_code(&answer), ErrorCode::TokenMissing);
        let expected = if moves { 2 } else { 1 };
        assert_eq!(
            desk.open_matches()[0].3,
            RefereeId::numbered(expected),
            "{client}"
        );
        let league = desk.manager.league();
        assert_eq!(
            league.referees[&RefereeId::numbered(1)].lost,
            0,
            "it is no lost attempt"
        );
    }
}

#[test]
fn where_tokens_are_optional_a_report_without_one_counts_and_a_false_one_does_not() {
    let settings = LeagueSettings {
        tokens: TokenRule::Optional,
        ..quick()
    };
    let mut desk = with_tokenless_referee(settings, 0);
    let report = desk.report_of("R1M1", (3, 0));
    desk.tokens
        .insert(referee(1), Token::new("tok_ref01_guess"));
    let answer = desk.ask_as(&referee(1), report.clone());
    assert_eq!(error_code(&answer), ErrorCode::TokenInvalid);
    desk.tokens.remove(&referee(1));
    let answer = desk.ask_as(&referee(1), report);
    assert!(matches!(answer, Body::MatchResultAck(_)));
}

/// As the first of the documents prints it: neither sender nor token.
#[test]
fn where_tokens_are_optional_a_report_without_a_sender_is_that_of_the_referee_of_the_match() {
    let nameless = Sender::Referee(RefereeId::new("unknown"));
    for (tokens, counts) in [(TokenRule::Optional, true), (TokenRule::Required, false)] {
        let settings = LeagueSettings { tokens, ..quick() };
        let mut desk = with_tokenless_referee(settings, 0);
        let report = desk.report_of("R1M1", (3, 0));
        let answer = desk.ask_as(&nameless, report);
        assert_eq!(
            matches!(answer, Body::MatchResultAck(_)),
            counts,
            "{tokens:?}"
        );
    }
}
