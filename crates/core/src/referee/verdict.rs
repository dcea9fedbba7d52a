//! The result of a finished match: winner, score, reason, and the proof of the draw.

use super::one_match::OngoingMatch;
use super::side::Side;
use super::window::AnswerState;
use crate::game::{MoveMessage, Outcome, Seat};
use crate::protocol::PlayerId;
use crate::protocol::messages::{
    Blame, ByPlayer, Cause, GameStatus, MatchResult, ResultDetails, TURNS_TOLD_MAX,
};
use serde_json::Value;

/// The result of a match in which no answer is awaited.
pub(super) fn of(ended: &OngoingMatch) -> MatchResult {
    let players = ended.assignment.player_ids();
    let blames = ended.sides.each_ref().map(|side| match &side.answer_state {
        AnswerState::Forfeit(lost) => Some(&lost.blame),
        AnswerState::NotAwaited | AnswerState::Awaited(_) => None,
    });
    let (status, winner, reason) = match blames.map(|blame| blame.map(|blame| blame.cause)) {
        [None, None] => {
            let reason = ended.game.reason(&players);
            match ended.game.outcome() {
                Some(Outcome::Win(seat)) => (GameStatus::Win, Some(seat), reason),
                Some(Outcome::Draw) | None => (GameStatus::Draw, None, reason),
            }
        }
        [Some(cause), None] => by_default(Seat::A, cause, &players),
        [None, Some(cause)] => by_default(Seat::B, cause, &players),
        [Some(a), Some(b)] => {
            let [id_a, id_b] = &players;
            let reason = format!(
                "{id_a} {} and {id_b} {} - double forfeit",
                a.words(),
                b.words()
            );
            (GameStatus::TechnicalLoss, None, reason)
        }
    };
    let points = Seat::BOTH.map(|seat| status.points(winner.map(|winner| winner == seat)));
    let answer_ms = ended.sides.each_ref().map(Side::answer_ms);
    let deviations = ended.sides.each_ref().map(|side| side.deviations.clone());
    MatchResult {
        winner: winner.map(|seat| seat.of(&players).clone()),
        score: by_player(&players, points),
        details: ResultDetails {
            game: ended.game.details(&players),
            turn_log: turn_log(ended, &players),
            fairness: ended.reveal(),
            answer_ms: Some(by_player(&players, answer_ms)),
            deviations: deviations
                .iter()
                .any(|some| !some.is_empty())
                .then(|| Box::new(by_player(&players, deviations))),
            blame: blame(&players, blames).map(Box::new),
        },
        status: Some(status),
        reason: Some(reason.into()),
    }
}

/// Whether the report has all moves: without them a signature proves nothing.
pub(super) fn tells_moves(ended: &OngoingMatch) -> bool {
    ended.plays.len() <= TURNS_TOLD_MAX
}

/// Every move of the match, for a replay. The details of even/odd have its moves already.
fn turn_log(ended: &OngoingMatch, players: &[PlayerId; 2]) -> Option<Vec<ByPlayer<Value>>> {
    let moves_of = |plays: &[Option<Value>; 2]| {
        Seat::BOTH
            .into_iter()
            .filter_map(|seat| Some((seat.of(players).clone(), seat.of(plays).clone()?)))
            .collect()
    };
    let is_told = ended.game.move_message() == MoveMessage::GameMove && tells_moves(ended);
    is_told.then(|| ended.plays.iter().map(moves_of).collect())
}

fn by_default(
    loser: Seat,
    cause: Cause,
    players: &[PlayerId; 2],
) -> (GameStatus, Option<Seat>, String) {
    let lost = loser.of(players);
    let won = loser.other().of(players);
    let reason = format!("{lost} {} - {won} wins by default", cause.words());
    (GameStatus::TechnicalLoss, Some(loser.other()), reason)
}

/// The players that forfeited, and why.
fn blame(players: &[PlayerId; 2], blames: [Option<&Blame>; 2]) -> Option<ByPlayer<Blame>> {
    let entries: Vec<_> = players
        .iter()
        .zip(blames)
        .filter_map(|(player, blame)| Some((player.clone(), blame?.clone())))
        .collect();
    (!entries.is_empty()).then(|| entries.into_iter().collect())
}

fn by_player<T>(players: &[PlayerId; 2], values: [T; 2]) -> ByPlayer<T> {
    let ([a, b], [for_a, for_b]) = (players, values);
    ByPlayer::pair((a.clone(), for_a), (b.clone(), for_b))
}
