//! Messages to players: invitation, call for a move, GAME_OVER.

use super::event::Assignment;
use super::one_match::{OngoingMatch, Phase};
use crate::fair::SCHEME;
use crate::game::{MoveMessage, Seat};
use crate::protocol::messages::{
    ChoiceContext, ChooseParityCall, GameInvitation, GameMoveCall, GameOver, GameResult,
    MatchResult, Role,
};
use crate::protocol::{Body, Timestamp};
use crate::referee_statement::{Statement, result_text};
use crate::signature::SigningKey;
use serde_json::json;
use smol_str::SmolStr;

/// The current question to a player, to be answered before `closes`.
pub(super) fn question(ongoing: &OngoingMatch, seat: Seat, closes: Timestamp) -> Body {
    match (ongoing.phase, ongoing.game.move_message()) {
        (Phase::WaitingForPlayers, _) => invitation(ongoing, seat).into(),
        (_, MoveMessage::ChooseParity) => choose_parity(ongoing, seat, closes).into(),
        (_, MoveMessage::GameMove) => choose_move(ongoing, seat, closes).into(),
    }
}

fn invitation(ongoing: &OngoingMatch, seat: Seat) -> GameInvitation {
    let assignment = &ongoing.assignment;
    GameInvitation {
        league_id: assignment.league_id.clone(),
        round_id: assignment.round_id,
        match_id: assignment.match_id.clone(),
        game_type: assignment.game_type.clone(),
        role_in_match: match seat {
            Seat::A => Role::PlayerA,
            Seat::B => Role::PlayerB,
        },
        opponent_id: assignment.player(seat.other()).player_id.clone(),
        player_id: Some(assignment.player(seat).player_id.clone()),
        draw_commitment: Some(ongoing.commitment.clone()),
        commitment_signature: ongoing.commitment_signature,
        draw_scheme: Some(SmolStr::new_static(SCHEME)),
    }
}

fn choose_parity(ongoing: &OngoingMatch, seat: Seat, closes: Timestamp) -> ChooseParityCall {
    let assignment = &ongoing.assignment;
    let player = assignment.player(seat);
    ChooseParityCall {
        league_id: Some(assignment.league_id.clone()),
        round_id: Some(assignment.round_id),
        match_id: assignment.match_id.clone(),
        player_id: player.player_id.clone(),
        game_type: assignment.game_type.clone(),
        context: Some(ChoiceContext {
            opponent_id: Some(assignment.player(seat.other()).player_id.clone()),
            round_id: Some(assignment.round_id),
            your_standings: Some(player.record.unwrap_or_default()),
        }),
        deadline: closes,
        turn: Some(ongoing.turn),
        opponent_nonce_commitment: ongoing.side(seat.other()).nonce_commitment,
    }
}

fn choose_move(ongoing: &OngoingMatch, seat: Seat, closes: Timestamp) -> GameMoveCall {
    let assignment = &ongoing.assignment;
    let player = assignment.player(seat);
    let mut move_request = ongoing.game.request(seat);
    let context = &mut move_request.context;
    context.insert(
        "opponent_id".into(),
        json!(assignment.player(seat.other()).player_id),
    );
    context.insert(
        "your_standings".into(),
        json!(player.record.unwrap_or_default()),
    );
    GameMoveCall {
        league_id: Some(assignment.league_id.clone()),
        round_id: Some(assignment.round_id),
        match_id: assignment.match_id.clone(),
        player_id: player.player_id.clone(),
        game_type: assignment.game_type.clone(),
        move_request,
        deadline: closes,
        turn: Some(ongoing.turn),
        opponent_nonce_commitment: ongoing.side(seat.other()).nonce_commitment,
    }
}

/// GAME_OVER, identical for both players, signed if the referee has a key.
pub(super) fn game_over(
    assignment: &Assignment,
    result: &MatchResult,
    key: Option<&SigningKey>,
) -> GameOver {
    let game_result = GameResult::of(result);
    let statement = |key| {
        let text = result_text(&game_result);
        assignment.attempt_ref().sign(key, Statement::Result(&text))
    };
    GameOver {
        league_id: Some(assignment.league_id.clone()),
        round_id: Some(assignment.round_id),
        match_id: assignment.match_id.clone(),
        game_type: assignment.game_type.clone(),
        signature: key.map(statement),
        game_result,
        reason: result.reason.clone(),
    }
}
