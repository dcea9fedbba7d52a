//! A game whose rules are kept outside: the referee asks for every position, and a program that fails costs nobody a match.

use crate::bench::*;
use matchday_core::agent::{Answer, ExternalResult, Input, RulesRequest};
use matchday_core::protocol::GameType;
use matchday_core::protocol::MessageType::{GameError, GameInvitation, GameMoveCall};
use matchday_core::protocol::messages::{GameMoveResponse, MoveData};
use matchday_core::referee::{Referee, RefereeEvent};
use serde_json::{Value, json};
use std::time::Duration;

const GAME: &str = "first_to_two";

fn begun() -> Bench {
    let mut settings = settings();
    settings.game_types.push(GameType::new(GAME));
    let referee = Referee::with_external_rules(
        settings.clone(),
        GameType::new(GAME),
        Duration::from_secs(3),
    );
    let mut bench = Bench::of(referee, settings);
    bench.register(true);
    let mut announced = even_odd("R1M1", 1, 2);
    announced.game = GAME;
    bench.announce(&[announced]);
    join(&mut bench);
    bench
}

fn join(bench: &mut Bench) {
    bench.joins(1, "R1M1");
    bench.joins(2, "R1M1");
}

fn asked(bench: &Bench) -> RulesRequest {
    bench
        .appeals
        .last()
        .expect("the rules have been asked")
        .clone()
}

fn rule(bench: &mut Bench, decision: ExternalResult) {
    let id = asked(bench).id;
    bench.input(Input::External {
        id,
        result: decision,
        usage: None,
    });
}

fn play(bench: &mut Bench, player: u32, choice: Value) {
    let response = GameMoveResponse {
        match_id: m("R1M1"),
        player_id: p(player),
        game_type: GameType::new(GAME),
        move_data: MoveData {
            move_type: "step".into(),
            choice,
        },
        nonce: None,
        signature: None,
    };
    let answer = incoming(bench.player_envelope(player, &m("R1M1")), response);
    bench.answers(player, GameMoveCall, Answer::Message(Ok(answer)));
}

fn turn_of(seat: &str) -> Value {
    json!({"turn": seat, "move_type": "step", "moves": {seat: [1, 2]}, "context": {seat: {"hint": "two"}}})
}

#[test]
fn every_position_is_asked_for_with_all_moves_before_it() {
    let mut bench = begun();
    assert_eq!(asked(&bench).history, Vec::<Value>::new());
    assert!(
        bench.all(GameMoveCall).is_empty(),
        "nobody is asked before the rules have spoken"
    );
    rule(&mut bench, Ok(turn_of("A")));
    let request = written(&bench.last_to(1, GameMoveCall))["move_request"].clone();
    assert_eq!(
        (&request["valid_options"], &request["context"]["hint"]),
        (&json!([1, 2]), &json!("two"))
    );
    play(&mut bench, 1, json!(7));
    let error = written(&bench.last_to(1, GameError));
    assert_eq!(
        (&error["error_code"], &error["context"]["valid_choices"]),
        (&json!("E010"), &json!([1, 2]))
    );
    bench.until(1.0);
    play(&mut bench, 1, json!(2));
    assert_eq!(asked(&bench).history, [json!({"A": 2})]);
    rule(
        &mut bench,
        Ok(json!({"turn": "over", "winner": "A", "reason": "A has two", "details": {"sum": 2}})),
    );
    assert_eq!(
        (bench.verdict().as_str(), bench.reason().as_str()),
        ("P01 WIN 3-0", "A has two")
    );
    let details = json!(bench.report().details);
    assert_eq!(
        (&details["turn_log"], &details["told"]),
        (&json!([{"P01": 2}]), &json!({"sum": 2}))
    );
}

#[test]
fn rules_that_fail_or_talk_nonsense_start_the_match_over_and_nobody_loses() {
    for (number, failure) in [Err("crashed".to_owned()), Ok(json!({"turn": "A"}))]
        .into_iter()
        .enumerate()
    {
        let mut bench = begun();
        rule(&mut bench, Ok(turn_of("A")));
        play(&mut bench, 1, json!(1));
        rule(&mut bench, failure);
        assert_eq!(bench.decisions(), 0, "case {number}");
        bench.until(3.0);
        assert_eq!(bench.all_to(1, GameInvitation).len(), 2, "case {number}");
        join(&mut bench);
        assert_eq!(asked(&bench).history, Vec::<Value>::new(), "it begins anew");
        rule(&mut bench, Ok(json!({"turn": "over", "winner": "draw"})));
        assert_eq!(bench.verdict(), "nobody DRAW 1-1");
    }
}

#[test]
fn rules_that_keep_failing_hand_the_match_back_with_the_reason() {
    let mut bench = begun();
    rule(&mut bench, Err("no board".to_owned()));
    bench.until(3.0);
    join(&mut bench);
    rule(&mut bench, Err("no board".to_owned()));
    let reasons: Vec<_> = bench
        .events
        .iter()
        .filter_map(|event| match event {
            RefereeEvent::HandedBack { reason, .. } => Some(reason.raw()),
            _ => None,
        })
        .collect();
    assert_eq!(reasons, ["the game program failed 2 times: no board"]);
    bench.until(60.0);
    assert_eq!(
        bench.all_to(1, GameInvitation).len(),
        2,
        "it is the manager's again"
    );
}

#[test]
fn rules_that_say_nothing_are_waited_for_no_longer_than_their_time() {
    let mut bench = begun();
    bench.until(2.9);
    assert_eq!(bench.all_to(1, GameInvitation).len(), 1);
    bench.until(5.1);
    assert_eq!(bench.all_to(1, GameInvitation).len(), 2);
    let late = bench.appeals[0].id;
    bench.input(Input::External {
        id: late,
        result: Ok(json!({"turn": "over", "winner": "A"})),
        usage: None,
    });
    assert_eq!(
        bench.decisions(),
        0,
        "an answer that nobody waits for any more counts for nothing"
    );
}
