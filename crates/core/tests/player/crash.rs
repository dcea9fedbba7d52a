//! A crash between any two steps of a league changes nothing that anyone can see.

use super::seat::*;
use matchday_core::agent::{Answer, Ask, Content};
use matchday_core::protocol::Message;
use matchday_core::protocol::messages::Parity;
use serde_json::json;

/// A small league, every message twice, as a network may deliver them.
fn script() -> Vec<Message> {
    let mut messages = Vec::new();
    for round in 1..=3 {
        let id = m(round, 1);
        let options = [json!(0), json!(4), json!(8)];
        messages.extend([
            from_manager(announcement(round, vec![announced(&id, 1, Some(true))])),
            from_referee(&id, 1, invitation(&id, None)),
            from_referee(&id, 1, parity_call(&id)),
            from_referee(&id, 2, parity_call(&id)),
            from_referee(
                &m(round, 2),
                1,
                move_call(&m(round, 2), "tic_tac_toe", "place_mark", &options),
            ),
            from_referee(
                &id,
                1,
                game_over(&id, p(3), Parity::Even, Parity::Odd, round as u8),
            ),
            from_manager(round_completed(round)),
        ]);
    }
    messages
        .into_iter()
        .flat_map(|message| [message.clone(), message])
        .collect()
}

/// Plays the script with a crash before step `crash_at`; what was answered, and the state in the end.
fn run(crash_at: usize) -> (Vec<Content>, Seat) {
    let mut seat = Seat::taken("win_stay_lose_shift");
    let mut answers = Vec::new();
    for (index, message) in script().into_iter().enumerate() {
        if index == crash_at {
            let before = seat.player.durable().clone();
            seat.crash();
            assert_eq!(seat.player.durable(), &before);
            let call = seat.wake().call;
            let _ = seat.answer(call, Answer::Message(Ok(incoming(accepted(Some(true))))));
        }
        answers.push(seat.ask(Ask::Message(Ok(incoming(message)))));
    }
    (answers, seat)
}

#[test]
fn every_pair_of_equal_messages_gets_equal_answers_wherever_the_crash_falls() {
    let steps = script().len();
    let (_, undisturbed) = run(steps);
    let history = undisturbed.player.history().overall().played();
    assert_eq!(history, 3);
    for crash_at in 0..steps {
        let (answers, seat) = run(crash_at);
        for pair in answers.chunks(2) {
            assert_eq!(pair[0], pair[1], "crash before step {crash_at}");
        }
        assert_eq!(seat.player.history(), undisturbed.player.history());
    }
}
