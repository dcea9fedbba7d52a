//! What is recorded of a player's moves is what the player made of them, by its own disk; and the number is the one that was
//! drawn.

use super::draw;
use crate::failure::{Checker, Fault};
use matchday_core::player::PlayerEvent;
use matchday_core::protocol::messages::{GameDetails, MatchResult};
use matchday_core::protocol::{Attempt, LeagueId, MatchId, PlayerId};
use serde_json::Value;

/// All that a player chose in one attempt at a match, in order.
pub fn chosen<'a>(
    events: impl Iterator<Item = &'a PlayerEvent>,
    match_id: &MatchId,
    attempt: Attempt,
) -> Vec<Value> {
    events
        .filter_map(|event| match event {
            PlayerEvent::Chosen {
                match_id: of,
                attempt: at,
                choice,
                ..
            } if of == match_id && *at == attempt => Some(choice.value.clone()),
            _ => None,
        })
        .collect()
}

/// Whether what a result tells of a player is what that player chose.
pub fn are_made(
    result: &MatchResult,
    match_id: &MatchId,
    player: &PlayerId,
    made: &[Value],
) -> Result<(), Fault> {
    let told = told(result, player);
    if told.len() <= made.len() && told.iter().zip(made).all(|(told, made)| told == made) {
        Ok(())
    } else {
        Err(Fault::new(
            Checker::SignedIsRecorded,
            format!("{match_id}: {player} chose {made:?}, and {told:?} is recorded"),
        ))
    }
}

/// Whether what a result tells of a player shows that player's signature.
pub fn is_signed(result: &MatchResult, match_id: &MatchId, player: &PlayerId) -> Result<(), Fault> {
    let told = told(result, player);
    let reveal = result.details.fairness.as_ref();
    if told.is_empty() || reveal.is_some_and(|reveal| reveal.signature(player).is_some()) {
        Ok(())
    } else {
        Err(Fault::new(
            Checker::SignedIsRecorded,
            format!(
                "{match_id}: {told:?} is recorded of {player}, which has a key, without its signature"
            ),
        ))
    }
}

fn told(result: &MatchResult, player: &PlayerId) -> Vec<Value> {
    match &result.details.game {
        GameDetails::Parity(details) => {
            let choice = details.choices.get(player).copied().flatten();
            choice
                .map(|choice| Value::from(choice.as_str()))
                .into_iter()
                .collect()
        }
        GameDetails::Other(_) => {
            let turns = result.details.turn_log.iter().flatten();
            turns.filter_map(|turn| turn.get(player).cloned()).collect()
        }
    }
}

/// Whether the number is the one that the reveal gives, and the winner the one that number and choices give.
pub fn is_drawn(
    result: &MatchResult,
    league: &LeagueId,
    match_id: &MatchId,
    attempt: Attempt,
    players: [&PlayerId; 2],
) -> Result<(), Fault> {
    let GameDetails::Parity(details) = &result.details.game else {
        return Ok(());
    };
    let (Some(number), Some(reveal)) = (details.drawn_number, &result.details.fairness) else {
        return Ok(());
    };
    let broken = |what: String| {
        Err(Fault::new(
            Checker::SignedIsRecorded,
            format!("{match_id}: {what}"),
        ))
    };
    let drawn = draw::number(reveal, league, match_id, attempt, players);
    if drawn != Some(u64::from(number)) {
        return broken(format!("{number} is recorded, where {drawn:?} was drawn"));
    }
    let word = if number.is_multiple_of(2) {
        "even"
    } else {
        "odd"
    };
    let right: Vec<&PlayerId> = (details.choices.iter())
        .filter(|(_, choice)| choice.is_some_and(|choice| choice.as_str() == word))
        .map(|(id, _)| id)
        .collect();
    let winner = match right.as_slice() {
        [one] => Some(*one),
        _ => None,
    };
    if result.winner.as_ref() == winner {
        Ok(())
    } else {
        broken(format!(
            "{:?} is recorded as the winner, where {winner:?} has won",
            result.winner
        ))
    }
}
