//! The built-in strategies for even and odd. Each says which parity it favours, or that it has no opinion.

use super::Turn;
use crate::player::memory::Past;
use crate::protocol::messages::Parity;

/// A strategy in one function; `None` leaves it to chance.
pub(super) type Favour = fn(&Turn<'_>) -> Option<Parity>;

pub(super) fn chance(_: &Turn<'_>) -> Option<Parity> {
    None
}

pub(super) fn always_even(_: &Turn<'_>) -> Option<Parity> {
    Some(Parity::Even)
}

pub(super) fn always_odd(_: &Turn<'_>) -> Option<Parity> {
    Some(Parity::Odd)
}

/// Even in the first game, and then each time the other.
pub(super) fn alternating(turn: &Turn<'_>) -> Option<Parity> {
    Some(if turn.overall.played().is_multiple_of(2) { Parity::Even } else { Parity::Odd })
}

/// What was drawn more often so far.
pub(super) fn frequency(turn: &Turn<'_>) -> Option<Parity> {
    majority(drawn(turn.overall))
}

/// How many of the last draws make up the longest pattern.
const PATTERN_LEN: usize = 3;

/// What most often followed the last three draws; if they never came before, the last two, or the last one.
pub(super) fn pattern(turn: &Turn<'_>) -> Option<Parity> {
    let drawn: Vec<Parity> = drawn(turn.overall).collect();
    (1..=PATTERN_LEN.min(drawn.len())).rev().find_map(|length| {
        let recent = drawn.get(drawn.len() - length..)?;
        majority(drawn.windows(length + 1).filter_map(|window| {
            let (next, before) = window.split_last()?;
            (before == recent).then_some(*next)
        }))
    })
}

/// What the opponent chose when we last met.
pub(super) fn mirror(turn: &Turn<'_>) -> Option<Parity> {
    turn.against.games().rev().find_map(|game| game.opponent_choice)
}

/// The last choice again if it was right, the other one if it was wrong: a win is always right and a defeat always
/// wrong, and a draw may be either.
pub(super) fn win_stay_lose_shift(turn: &Turn<'_>) -> Option<Parity> {
    let (own, drawn) = turn.overall.games().rev().find_map(|game| game.own_choice.zip(game.drawn_parity))?;
    Some(if own == drawn { own } else { own.other() })
}

fn drawn(past: &Past) -> impl Iterator<Item = Parity> {
    past.games().filter_map(|game| game.drawn_parity)
}

/// `None` if neither is ahead.
fn majority(parities: impl Iterator<Item = Parity>) -> Option<Parity> {
    let lead = parities.fold(0_i64, |lead, parity| match parity {
        Parity::Even => lead + 1,
        Parity::Odd => lead - 1,
    });
    match lead {
        0 => None,
        1.. => Some(Parity::Even),
        _ => Some(Parity::Odd),
    }
}
