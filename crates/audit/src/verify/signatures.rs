//! Checks that the players signed the moves in a result. Pure.

use super::result::Played;
use matchday_core::fair::{MatchDraw, SCHEME};
use matchday_core::protocol::PlayerId;
use matchday_core::protocol::draw::Reveal;
use matchday_core::protocol::messages::{GameDetails, MatchResult};
use matchday_core::signature::PublicKey;
use matchday_core::signed_move::SignedMoves;
use serde_json::Value;

/// Every move of a player with a key is signed by it, if the match was drawn by the scheme that knows signatures.
pub(super) fn check(played: &Played<'_>, result: &MatchResult) -> Result<(), String> {
    let Some(reveal) = result
        .details
        .fairness
        .as_ref()
        .filter(|it| it.scheme == SCHEME)
    else {
        return Ok(());
    };
    let [key_a, key_b] = &played.keys;
    for (player, opponent, key) in [(played.a, played.b, key_a), (played.b, played.a, key_b)] {
        let choices = choices_of(player, result);
        let fits = match key {
            Some(key) if !choices.is_empty() => {
                signed(played, reveal, (player, opponent), key, choices)
            }
            _ => reveal.signature(player).is_none(),
        };
        if !fits {
            return Err(format!(
                "{player} has not signed the moves that are recorded for it"
            ));
        }
    }
    Ok(())
}

/// Whether the moves that are told of a player have its valid signature.
pub(super) fn has_signed(played: &Played<'_>, player: &PlayerId, result: &MatchResult) -> bool {
    let reveal = result
        .details
        .fairness
        .as_ref()
        .filter(|it| it.scheme == SCHEME);
    let seats = if player == played.a {
        (player, played.b)
    } else {
        (player, played.a)
    };
    let [key_a, key_b] = &played.keys;
    let key = if player == played.a { key_a } else { key_b };
    let choices = choices_of(player, result);
    match (reveal, key) {
        (Some(reveal), Some(key)) if !choices.is_empty() => {
            signed(played, reveal, seats, key, choices)
        }
        _ => false,
    }
}

fn signed(
    played: &Played<'_>,
    reveal: &Reveal,
    (player_id, opponent): (&PlayerId, &PlayerId),
    key: &PublicKey,
    choices: Vec<Value>,
) -> bool {
    let Played {
        league_id,
        match_id,
        attempt,
        ..
    } = *played;
    let (Some(nonce), Some(signature)) =
        (reveal.nonces.get(player_id), reveal.signature(player_id))
    else {
        return false;
    };
    let moves = SignedMoves {
        draw: MatchDraw {
            league_id,
            match_id,
            attempt,
        },
        player_id,
        commitment: &reveal.commitment,
        opponent_nonce: reveal.nonce_commitment(opponent),
        nonce,
        choices: choices.iter().collect(),
    };
    moves.is_signed(key, signature)
}

/// What is told of a player's moves, in order.
pub(super) fn choices_of(player: &PlayerId, result: &MatchResult) -> Vec<Value> {
    match &result.details.game {
        GameDetails::Parity(details) => {
            let choice = details.choices.get(player).copied().flatten();
            choice
                .into_iter()
                .map(|choice| Value::from(choice.as_str()))
                .collect()
        }
        GameDetails::Other(_) => {
            let turns = result.details.turn_log.iter().flatten();
            turns.filter_map(|turn| turn.get(player).cloned()).collect()
        }
    }
}
