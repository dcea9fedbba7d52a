//! The signatures that a player's own store keeps with its choices. One that does not fit shows that the store was changed
//! after the player had signed. Pure.

use super::Fault;
use crate::agent_log::AgentLog;
use matchday_core::fair::MatchDraw;
use matchday_core::player::PlayerEvent;
use matchday_core::protocol::{Attempt, MatchId, PlayerId};
use matchday_core::signature::PublicKey;
use matchday_core::signed_move::SignedMoves;
use serde_json::Value;
use smol_str::SmolStr;
use std::collections::BTreeMap;

/// `registered` is the key that the manager has for the player; without it the one that the store itself leads to.
pub(super) fn check(
    log: &AgentLog<PlayerEvent>,
    registered: Option<PublicKey>,
) -> Result<(), Fault> {
    let player_id = PlayerId::new(log.id());
    let Some(league_id) = log
        .identity
        .as_ref()
        .and_then(|identity| identity.league_id.as_ref())
    else {
        return Ok(());
    };
    let mut key = registered;
    let mut commitments = BTreeMap::new();
    let mut made: BTreeMap<(&MatchId, Attempt), Vec<&Value>> = BTreeMap::new();
    for entry in &log.entries {
        match &entry.event {
            PlayerEvent::Applied(application) if registered.is_none() => {
                key = Some(application.signing_key().public_key());
            }
            PlayerEvent::Invited {
                match_id,
                attempt,
                draw_commitment: Some(commitment),
                ..
            } => {
                commitments
                    .entry((match_id, *attempt))
                    .or_insert(commitment);
            }
            PlayerEvent::Chosen {
                match_id,
                attempt,
                choice,
                opponent_nonce_commitment,
                ..
            } => {
                let choices = made.entry((match_id, *attempt)).or_default();
                choices.push(&choice.value);
                let (Some(key), Some(signature)) = (&key, &choice.signature) else {
                    continue;
                };
                let fits = commitments
                    .get(&(match_id, *attempt))
                    .is_some_and(|commitment| {
                        let moves = SignedMoves {
                            draw: MatchDraw {
                                league_id,
                                match_id,
                                attempt: *attempt,
                            },
                            player_id: &player_id,
                            commitment,
                            opponent_nonce: opponent_nonce_commitment.as_ref(),
                            nonce: &choice.nonce,
                            choices: choices.clone(),
                        };
                        moves.is_signed(key, signature)
                    });
                if !fits {
                    let why = format!(
                        "its signature is not that of {player_id} over this choice in attempt {attempt} at {match_id}: it \
                         was changed after it was signed"
                    );
                    let file = log.store.clone();
                    let stream = log.stream.clone();
                    let what = SmolStr::new_static("chosen");
                    return Err(Fault {
                        file,
                        stream,
                        seq: entry.seq,
                        at: entry.at,
                        what,
                        why,
                    });
                }
            }
            _ => {}
        }
    }
    Ok(())
}
