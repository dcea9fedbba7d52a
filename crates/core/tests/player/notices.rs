//! What needs no answer is received, and stored only where it is news.

use super::seat::*;
use matchday_core::protocol::ErrorCode;
use matchday_core::protocol::messages::{GameError, LeagueError, Parity};

fn game_error() -> GameError {
    let code = ErrorCode::InvalidParityChoice;
    GameError {
        league_id: None,
        round_id: None,
        match_id: Some(m(1, 1)),
        player_id: Some(p(1)),
        affected_player: None,
        error_name: None,
        error_description: code.name().into(),
        error_code: code,
        error_message: None,
        action_required: None,
        game_state: None,
        retryable: None,
        retry_info: None,
        retry_count: None,
        max_retries: None,
        time_remaining: None,
        context: None,
        consequence: None,
    }
}

#[test]
fn errors_are_received_and_store_nothing() {
    let mut seat = Seat::taken("random");
    let stored = seat.stored.len();
    seat.tell(from_referee(&m(1, 1), 1, game_error()));
    let error = LeagueError::new(ErrorCode::InvalidState, "so", None, None);
    seat.tell(from_manager(error));
    assert_eq!(seat.stored.len(), stored);
    let forged = with_token(from_referee(&m(1, 1), 1, game_error()), None);
    assert_eq!(seat.refused(forged).error_code, ErrorCode::TokenMissing);
}

#[test]
fn a_notice_told_twice_is_stored_once() {
    let mut seat = Seat::taken("random");
    let over = game_over(&m(1, 1), p(2), Parity::Even, Parity::Odd, 4);
    for (message, news) in [
        (
            from_manager(announcement(1, vec![announced(&m(1, 1), 1, Some(true))])),
            1,
        ),
        (from_manager(round_completed(1)), 0),
        (from_referee(&m(1, 1), 1, over), 1),
        (from_manager(round_completed(1)), 1),
        (from_manager(league_completed()), 1),
    ] {
        let stored = seat.stored.len();
        seat.tell(message.clone());
        seat.tell(message.clone());
        assert_eq!(
            seat.stored.len(),
            stored + news,
            "{}",
            message.message_type()
        );
    }
}
