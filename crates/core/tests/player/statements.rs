//! What a referee and the manager have signed, the player keeps; what does not fit costs it no match.

use super::seat::*;
use matchday_core::player::PlayerEvent;
use matchday_core::protocol::draw::Commitment;
use matchday_core::protocol::messages::*;
use matchday_core::protocol::{Attempt, MatchId};
use matchday_core::referee_statement::{AttemptRef, Statement, result_text};
use matchday_core::signature::{Signature, SigningKey};

fn key() -> SigningKey {
    SigningKey::from_seed([3; 32])
}

fn commitment() -> Commitment {
    Commitment("ab".repeat(32).into())
}

fn sign(match_id: &MatchId, statement: Statement<'_>) -> Signature {
    let league_id = league();
    let attempt = Attempt(1);
    AttemptRef {
        league_id: &league_id,
        match_id,
        attempt,
    }
    .sign(&key(), statement)
}

/// A player that has heard of its match, whose referee has a key if `is_keyed`.
fn announced_to(is_keyed: bool) -> Seat {
    let mut seat = Seat::taken("always_odd");
    let referee_public_key = is_keyed.then(|| key().public_key());
    let game = AnnouncedMatch {
        referee_public_key,
        ..announced(&m(1, 1), 1, Some(true))
    };
    seat.tell(from_manager(announcement(1, vec![game])));
    seat
}

fn invite(seat: &mut Seat, commitment_signature: Option<Signature>) -> PlayerEvent {
    let invited = GameInvitation {
        commitment_signature,
        ..invitation(&m(1, 1), Some(commitment()))
    };
    seat.say(from_referee(&m(1, 1), 1, invited));
    seat.stored.last().unwrap().clone()
}

fn end(seat: &mut Seat, signature: impl FnOnce(&str) -> Option<Signature>) -> PlayerEvent {
    let over = game_over(&m(1, 1), p(2), Parity::Odd, Parity::Even, 3);
    let signature = signature(&result_text(&over.game_result));
    seat.tell(from_referee(&m(1, 1), 1, GameOver { signature, ..over }));
    seat.stored.last().unwrap().clone()
}

fn not_signed(seat: &Seat) -> Vec<&str> {
    let found = seat.stored.iter().filter_map(|event| match event {
        PlayerEvent::NotSigned { message_type, .. } => Some(message_type.as_str()),
        _ => None,
    });
    found.collect()
}

#[test]
fn what_a_referee_has_signed_is_kept() {
    for is_keyed in [true, false] {
        let mut seat = announced_to(is_keyed);
        let promised = sign(&m(1, 1), Statement::Commitment(&commitment()));
        let PlayerEvent::Invited {
            commitment_signature,
            ..
        } = invite(&mut seat, Some(promised))
        else {
            panic!()
        };
        assert_eq!(commitment_signature, Some(promised));
        let ended = end(&mut seat, |text| {
            Some(sign(&m(1, 1), Statement::Result(text)))
        });
        let PlayerEvent::Finished {
            signed: Some(signed),
            ..
        } = ended
        else {
            panic!("{ended:?}")
        };
        assert_eq!(
            signed.signature,
            sign(&m(1, 1), Statement::Result(&signed.game_result))
        );
        assert_eq!(signed.attempt, Attempt(1));
        assert_eq!(not_signed(&seat), [""; 0]);
    }
}

#[test]
fn a_referee_with_a_key_that_signs_wrongly_or_not_at_all_is_noted_and_the_match_is_played() {
    let other = sign(&m(2, 1), Statement::Commitment(&commitment()));
    for wrong in [Some(other), None] {
        let mut seat = announced_to(true);
        let PlayerEvent::Invited {
            commitment_signature: None,
            ..
        } = invite(&mut seat, wrong)
        else {
            panic!()
        };
        let ended = end(&mut seat, |_| wrong);
        assert!(
            matches!(ended, PlayerEvent::Finished { signed: None, .. }),
            "{ended:?}"
        );
        assert_eq!(not_signed(&seat), ["GAME_INVITATION", "GAME_OVER"]);
    }
}

#[test]
fn nothing_is_missed_of_a_referee_without_a_key() {
    let mut seat = announced_to(false);
    invite(&mut seat, None);
    end(&mut seat, |_| None);
    assert_eq!(not_signed(&seat), [""; 0]);
}

#[test]
fn every_new_checkpoint_of_the_manager_is_kept_once() {
    let mut seat = Seat::taken("always_odd");
    let completed = |note: &str| RoundCompleted {
        checkpoint: Some(note.into()),
        ..round_completed(1)
    };
    seat.tell(from_manager(completed("one")));
    seat.tell(from_manager(completed("one")));
    seat.crash();
    seat.tell(from_manager(completed("one")));
    seat.tell(from_manager(round_completed(1)));
    let checkpoint = Some("two".into());
    seat.tell(from_manager(LeagueCompleted {
        checkpoint,
        ..league_completed()
    }));
    let kept = seat.stored.iter().filter_map(|event| match event {
        PlayerEvent::CheckpointReceived { note } => Some(&**note),
        _ => None,
    });
    assert_eq!(kept.collect::<Vec<_>>(), ["one", "two"]);
}
