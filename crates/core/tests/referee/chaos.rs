//! Whatever two players do, a match has exactly one result within its computed bound.

use crate::bench::*;
use matchday_core::agent::{Agent, Answer, Ask, CallId, Failure, Input, Outgoing};
use matchday_core::entropy::Entropy;
use matchday_core::protocol::messages::{GameMoveResponse, MoveData, Parity};
use matchday_core::protocol::{Body, GameType, MessageType};
use serde_json::json;
use std::time::Duration;

/// A player's good or bad answer to a question; nothing to anything else.
fn reply(bench: &Bench, chance: &mut Entropy, sent: &Outgoing) -> Option<Answer> {
    let player = if sent.to == endpoint(1) { 1 } else { 2 };
    let good = match body(sent) {
        Body::GameInvitation(_) => bench.join_ack(player, "R1M1", !chance.chance(3)),
        Body::ChooseParityCall(_) => {
            let parity = if chance.chance(50) {
                Parity::Even
            } else {
                Parity::Odd
            };
            bench.choice(player, "R1M1", parity)
        }
        Body::GameMoveCall(call) => {
            let response = GameMoveResponse {
                match_id: m("R1M1"),
                player_id: p(player),
                game_type: GameType::new("tic_tac_toe"),
                move_data: MoveData {
                    move_type: "place_mark".into(),
                    choice: match call.move_request.valid_options.first() {
                        Some(option) if chance.chance(80) => option.clone(),
                        _ => json!(chance.below(12)),
                    },
                },
                nonce: None,
                signature: None,
            };
            incoming(bench.player_envelope(player, &m("R1M1")), response)
        }
        _ => return None,
    };
    Some(match chance.below(10) {
        0 => Answer::Garbled("?".into()),
        1 => Answer::Undelivered(Failure::NoConnection),
        2 => Answer::Undelivered(Failure::TimedOut),
        3 => Answer::Received,
        4 => Answer::Message(Err(invalid_choice("\"Odd\""))),
        _ => Answer::Message(Ok(good)),
    })
}

/// Plays one match against chance; gives back how it ended.
fn play(seed: u64, game: &'static str, turns: u32) -> String {
    let mut chance = Entropy::numbered(seed);
    let mut bench = Bench::new();
    let mut announced = even_odd("R1M1", 1, 2);
    announced.game = game;
    bench.announce(&[announced]);
    let end = start() + bench.settings.timing.match_bound(turns);
    let mut open: Vec<(Duration, CallId, Answer)> = Vec::new();
    let mut seen = 0;
    while bench.decisions() == 0 {
        for (at, sent) in bench.sent.clone().drain(seen..) {
            if let Some(answer) = reply(&bench, &mut chance, &sent) {
                let most = sent.deadline.resolve(at).since(at).as_millis() as u64;
                let delay = Duration::from_millis(chance.below(most + 500));
                open.push((at.since(start()) + delay, sent.call, answer));
            }
        }
        seen = bench.sent.len();
        open.sort_by_key(|(at, call, _)| (*at, *call));
        let due = bench.referee.deadline();
        let next = open.first().map(|(at, ..)| start() + *at);
        assert!(due.is_some(), "seed {seed}: a match that waits for nothing");
        match next.filter(|next| due.is_none_or(|due| *next < due)) {
            Some(next) => {
                let (_, call, answer) = open.remove(0);
                bench.now = next;
                match answer {
                    Answer::Message(Ok(apart)) if chance.chance(30) => {
                        drop(bench.request(Ask::Message(Ok(apart))))
                    }
                    answer => bench.answer(call, answer),
                }
            }
            None => {
                bench.now = due.unwrap_or(end);
                bench.input(Input::Tick);
            }
        }
        assert!(
            bench.now <= end,
            "seed {seed}: not decided within its bound"
        );
        if chance.chance(2) && bench.all(MessageType::RefereeRegisterRequest).len() == 1 {
            // One crash at most: each gives the match its whole time again.
            open.clear();
            bench.crash();
            return play_on(bench);
        }
    }
    bench.verdict()
}

/// After a crash nobody answers any more: still there is a result.
fn play_on(mut bench: Bench) -> String {
    bench.until(bench.now.since(start()).as_secs_f64() + 3600.0);
    bench.verdict()
}

#[test]
fn every_match_of_even_odd_is_decided_once_and_in_time() {
    let verdicts: Vec<_> = (0..400).map(|seed| play(seed, "even_odd", 1)).collect();
    for wanted in ["P01 WIN", "P02 WIN", "nobody DRAW", "TECHNICAL_LOSS"] {
        assert!(
            verdicts.iter().any(|verdict| verdict.contains(wanted)),
            "{wanted}"
        );
    }
}

#[test]
fn every_match_of_tic_tac_toe_is_decided_once_and_in_time() {
    let verdicts: Vec<_> = (0..100).map(|seed| play(seed, "tic_tac_toe", 9)).collect();
    assert!(verdicts.iter().any(|verdict| verdict.contains(" WIN ")));
}
