//! What the player remembers: each game once, under the opponent with whom it was played.

use super::seat::*;
use matchday_core::game::past::{DrawCheck, GAMES_MAX, Outcome, Past, PastGame};
use matchday_core::protocol::RoundId;
use matchday_core::protocol::messages::{GameStatus, Parity, Record};

use Parity::{Even, Odd};

fn played(seat: &mut Seat, number: u32, opponent: u32, own: Parity, theirs: Parity, drawn: u8) {
    let over = game_over(&m(1, number), p(opponent), own, theirs, drawn);
    seat.tell(from_referee(&m(1, number), 1, over));
}

#[test]
fn games_are_kept_by_opponent_and_altogether() {
    let mut seat = Seat::taken("random");
    played(&mut seat, 1, 2, Even, Odd, 4);
    played(&mut seat, 2, 3, Even, Odd, 7);
    played(&mut seat, 3, 2, Odd, Odd, 8);
    let history = seat.player.history();
    let of = |wins, losses, draws| Record {
        wins,
        losses,
        draws,
    };
    assert_eq!(history.against(&p(2)).record(), of(1, 0, 1));
    assert_eq!(history.against(&p(3)).record(), of(0, 1, 0));
    assert_eq!(history.against(&p(4)).record(), of(0, 0, 0));
    assert_eq!(history.overall().record(), of(1, 1, 1));
    let last = history.against(&p(2)).games().next_back().unwrap();
    assert_eq!(
        last,
        &PastGame {
            match_id: m(1, 3),
            round_id: Some(RoundId(1)),
            game_type: even_odd(),
            opponent_id: Some(p(2)),
            own_choice: Some(Odd),
            opponent_choice: Some(Odd),
            drawn_parity: Some(Even),
            outcome: Outcome::Draw,
            technical: false,
            draw: DrawCheck::NotPromised,
            summary: None,
        }
    );
}

#[test]
fn a_result_told_twice_counts_once_even_after_its_round_and_a_crash() {
    let mut seat = Seat::taken("random");
    played(&mut seat, 1, 2, Even, Odd, 4);
    let stored = seat.stored.len();
    played(&mut seat, 1, 2, Even, Odd, 4);
    seat.tell(from_manager(round_completed(1)));
    seat.crash();
    played(&mut seat, 1, 2, Even, Odd, 4);
    assert_eq!(seat.stored.len(), stored);
    assert_eq!(seat.player.history().overall().played(), 1);
}

#[test]
fn a_double_forfeit_is_a_loss() {
    let mut seat = Seat::taken("random");
    let mut over = game_over(&m(1, 1), p(2), Even, Even, 4);
    over.game_result.status = GameStatus::TechnicalLoss;
    over.game_result.winner_player_id = None;
    seat.tell(from_referee(&m(1, 1), 1, over));
    let game = seat.player.history().overall().games().next().unwrap();
    assert_eq!((game.outcome, game.technical), (Outcome::Loss, true));
}

#[test]
fn what_was_announced_wins_over_what_the_invitation_says() {
    let mut seat = Seat::taken("random");
    let id = m(1, 1);
    seat.tell(from_manager(announcement(
        4,
        vec![announced(&id, 1, Some(true))],
    )));
    let _ = seat.say(from_referee(&id, 1, invitation(&id, None)));
    let known = seat.player.durable().find(&id).unwrap();
    assert_eq!(
        (known.opponent_id.clone(), known.round_id),
        (Some(p(3)), Some(RoundId(4)))
    );
}

#[test]
fn an_announcement_of_other_peoples_matches_stores_nothing() {
    let mut seat = Seat::taken("random");
    let mut other = announced(&m(1, 1), 1, Some(true));
    other.player_b_id = p(4);
    let stored = seat.stored.len();
    seat.tell(from_manager(announcement(1, vec![other])));
    assert_eq!(seat.stored.len(), stored);
}

#[test]
fn a_match_whose_end_was_never_told_is_forgotten_after_the_next_round() {
    let mut seat = Seat::taken("random");
    let _ = seat.say(from_referee(&m(1, 1), 1, invitation(&m(1, 1), None)));
    seat.tell(from_manager(round_completed(1)));
    assert!(seat.player.durable().find(&m(1, 1)).is_some());
    seat.tell(from_manager(round_completed(2)));
    assert!(seat.player.durable().find(&m(1, 1)).is_none());
}

#[test]
fn old_games_make_room_and_stay_in_the_record() {
    let mut seat = Seat::taken("random");
    played(&mut seat, 1, 2, Even, Odd, 4);
    let game = seat
        .player
        .history()
        .overall()
        .games()
        .next()
        .unwrap()
        .clone();
    let past: Past = std::iter::repeat_n(game, GAMES_MAX + 5).collect();
    assert_eq!(past.games().len(), GAMES_MAX);
    assert_eq!(past.played() as usize, GAMES_MAX + 5);
}
