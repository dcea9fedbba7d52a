//! The tokens by which the player knows its manager and its referees. Both follow from the token that the manager gave
//! the player, which therefore never has to be shown to a referee.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

#[derive(Debug, Clone, Copy)]
pub enum Direction {
    RefereeToPlayer,
    PlayerToReferee,
}

/// What the manager shows in its notices.
pub fn notice_token(league_token: &str, league_id: &str) -> String {
    derived(league_token, "league_manager", &[b"notice", league_id.as_bytes(), b"", b"", b""])
}

/// What referee and player show each other in one attempt at a match, whose number ends the conversation id.
pub fn match_token(
    league_token: &str,
    league_id: &str,
    match_id: &str,
    conversation_id: &str,
    direction: Direction,
) -> String {
    let number = conversation_id.rsplit('-').next().and_then(|digits| digits.parse().ok());
    let attempt = u32::to_be_bytes(number.unwrap_or(1));
    let direction: &[u8] = match direction {
        Direction::RefereeToPlayer => b"referee-to-player",
        Direction::PlayerToReferee => b"player-to-referee",
    };
    let parts = [b"match", league_id.as_bytes(), match_id.as_bytes(), &attempt, direction];
    derived(league_token, &match_id.to_lowercase(), &parts)
}

/// Compares digests, so that nobody can guess a token digit by digit.
pub fn same(shown: &str, expected: &str) -> bool {
    Sha256::digest(shown) == Sha256::digest(expected)
}

fn derived(league_token: &str, owner: &str, parts: &[&[u8]]) -> String {
    let key = Sha256::digest(league_token);
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).expect("a key of any length will do");
    for part in parts {
        mac.update(&(part.len() as u64).to_be_bytes());
        mac.update(part);
    }
    format!("tok_{owner}_{}", hex::encode(mac.finalize().into_bytes()))
}
