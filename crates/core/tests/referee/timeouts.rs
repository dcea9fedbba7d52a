//! How long a referee waits for the answer to each kind of message.

use crate::bench::*;
use matchday_core::agent::Answer;
use matchday_core::protocol::MessageType::{self, *};
use matchday_core::protocol::messages::Parity;

/// The seconds from sending the last message of this type to giving up on its answer.
fn timeout(bench: &Bench, kind: MessageType) -> u64 {
    let (at, sent) = bench
        .all(kind)
        .pop()
        .unwrap_or_else(|| panic!("no {kind} was sent"));
    sent.deadline.resolve(at).since(at).as_secs()
}

#[test]
fn a_registration_waits_ten_seconds() {
    assert_eq!(
        timeout(&Bench::fresh(settings()), RefereeRegisterRequest),
        10
    );
}

#[test]
fn an_invitation_waits_five_seconds_and_a_question_thirty() {
    for (mut bench, seconds) in [(Bench::invited(), 5.0), (Bench::joined(), 30.0)] {
        bench.until(seconds - 0.1);
        assert!(bench.all(GameError).is_empty());
        bench.until(seconds);
        assert_eq!(bench.times(1, GameError), [seconds], "E001");
    }
}

#[test]
fn game_over_waits_five_seconds_and_the_report_ten() {
    let mut bench = Bench::joined();
    bench.chooses(1, "R1M1", Parity::Even);
    bench.chooses(2, "R1M1", Parity::Odd);
    assert_eq!(
        (
            timeout(&bench, GameOver),
            timeout(&bench, MatchResultReport)
        ),
        (5, 10)
    );
}

#[test]
fn queries_and_errors_wait_the_ten_seconds_of_everything_else() {
    let mut bench = Bench::fresh(settings());
    bench.register(false);
    bench.announce(&[Announced {
        briefed: false,
        ..even_odd("R1M1", 1, 2)
    }]);
    assert_eq!(timeout(&bench, LeagueQuery), 10);
    let mut bench = Bench::joined();
    bench.answers(
        2,
        ChooseParityCall,
        Answer::Message(Err(invalid_choice("\"Even\""))),
    );
    assert_eq!(timeout(&bench, GameError), 10);
}
