//! The player checks that the number was drawn as it had been promised.

use super::seat::*;
use matchday_core::entropy::Entropy;
use matchday_core::fair::{MatchDraw, Secret};
use matchday_core::game::past::DrawCheck;
use matchday_core::protocol::Attempt;
use matchday_core::protocol::draw::{Commitment, Reveal};
use matchday_core::protocol::messages::{ByPlayer, GameOver, Parity};
use matchday_core::protocol::nonce::Nonce;

/// A match up to our choice: the seat, and an honest end of it.
fn played(promised: bool) -> (Seat, GameOver) {
    let id = m(1, 1);
    let league = league();
    let draw = MatchDraw {
        league_id: &league,
        match_id: &id,
        attempt: Attempt(1),
    };
    let secret = Secret::draw(&mut Entropy::numbered(5));
    let mut seat = Seat::taken("always_even");
    let commitment = promised.then(|| draw.commitment(&secret));
    let _ = seat.say(from_referee(&id, 1, invitation(&id, commitment)));
    let ours = seat
        .parity(from_referee(&id, 1, parity_call(&id)))
        .nonce
        .unwrap();
    let theirs = Nonce::absent(&p(2));
    let number = draw.dice(&secret, [&ours, &theirs]).uniform(1..=10);
    let nonces = ByPlayer::pair((p(1), ours), (p(2), theirs));
    let mut over = game_over(&id, p(2), Parity::Even, Parity::Odd, number as u8);
    over.game_result.fairness = Some(draw.reveal(&secret, nonces));
    (seat, over)
}

fn verdict(mut seat: Seat, over: GameOver) -> DrawCheck {
    seat.crash();
    seat.tell(from_referee(&m(1, 1), 1, over));
    seat.player.history().overall().games().next().unwrap().draw
}

fn tampered(tamper: impl FnOnce(&mut Reveal)) -> DrawCheck {
    let (seat, mut over) = played(true);
    tamper(over.game_result.fairness.as_mut().unwrap());
    verdict(seat, over)
}

#[test]
fn an_honest_draw_is_proven() {
    let (seat, over) = played(true);
    assert_eq!(verdict(seat, over), DrawCheck::Proven);
}

#[test]
fn without_a_promise_nothing_is_checked() {
    let (seat, over) = played(false);
    assert_eq!(verdict(seat, over), DrawCheck::NotPromised);
}

#[test]
fn a_promise_without_a_reveal_or_by_another_scheme_is_unproven() {
    let (seat, mut over) = played(true);
    over.game_result.fairness = None;
    assert_eq!(verdict(seat, over), DrawCheck::Unproven);
    assert_eq!(
        tampered(|reveal| reveal.scheme = "dice-9".into()),
        DrawCheck::Unproven
    );
}

#[test]
fn another_number_is_a_broken_promise() {
    let (seat, over) = played(true);
    let mut lie = game_over(&m(1, 1), p(2), Parity::Even, Parity::Odd, 11);
    lie.game_result.fairness = over.game_result.fairness;
    assert_eq!(verdict(seat, lie), DrawCheck::Broken);
}

#[test]
fn another_secret_is_a_broken_promise_even_if_it_agrees_with_itself() {
    let other = Secret::draw(&mut Entropy::numbered(6));
    let nonces = |reveal: &Reveal| reveal.nonces.clone();
    let id = m(1, 1);
    let league = league();
    let draw = MatchDraw {
        league_id: &league,
        match_id: &id,
        attempt: Attempt(1),
    };
    let broken = tampered(|reveal| *reveal = draw.reveal(&other, nonces(reveal)));
    assert_eq!(broken, DrawCheck::Broken);
    let broken = tampered(|reveal| reveal.commitment = Commitment("00".into()));
    assert_eq!(broken, DrawCheck::Broken);
}

#[test]
fn another_nonce_than_ours_is_a_broken_promise() {
    let broken = tampered(|reveal| {
        let theirs = Nonce::absent(&p(2));
        reveal.nonces = ByPlayer::pair((p(1), Nonce("not ours".into())), (p(2), theirs));
    });
    assert_eq!(broken, DrawCheck::Broken);
}

#[test]
fn a_second_promise_for_the_same_attempt_does_not_replace_the_first() {
    let (mut seat, over) = played(true);
    let late = Some(Commitment("ff".into()));
    let _ = seat.say(from_referee(&m(1, 1), 1, invitation(&m(1, 1), late)));
    assert_eq!(verdict(seat, over), DrawCheck::Proven);
}
