//! A referee that proves its results, for leagues of [`crate::instant_league`] whose players sign.

use crate::instant_league::{Fixture, choice, result, signing_key};
use matchday_core::fair::{MatchDraw, Secret};
use matchday_core::protocol::PlayerId;
use matchday_core::protocol::draw::Reveal;
use matchday_core::protocol::messages::{ByPlayer, MatchResult};
use matchday_core::protocol::nonce::{Nonce, NonceCommitment};
use matchday_core::signature::Signature;
use matchday_core::signed_move::SignedMoves;
use serde_json::json;

/// Everyone calls what its number is, and signs it; the number is drawn as the scheme says.
pub fn proving_referee(fixture: &Fixture) -> MatchResult {
    let Fixture {
        match_id,
        a,
        b,
        settings,
        attempt,
    } = fixture;
    let league_id = &settings.league_id;
    let draw = MatchDraw {
        league_id,
        match_id,
        attempt: *attempt,
    };
    let secret = Secret::from_bytes([7; 32]);
    let nonces = [Nonce("red".into()), Nonce("blue".into())];
    let promised = [
        draw.nonce_commitment(a, &nonces[0]),
        draw.nonce_commitment(b, &nonces[1]),
    ];
    let signed =
        |player, own: usize| sign(&draw, &secret, player, &nonces[own], &promised[1 - own]);
    let signatures = ByPlayer::pair((a.clone(), signed(a, 0)), (b.clone(), signed(b, 1)));
    let number = draw.dice(&secret, [&nonces[0], &nonces[1]]).uniform(1..=10);
    let mut result = result(a, b, u8::try_from(number).unwrap(), [choice(a), choice(b)]);
    let [nonce_a, nonce_b] = nonces;
    let [promised_a, promised_b] = promised;
    let reveal = Reveal {
        nonce_commitments: Some(Box::new(ByPlayer::pair(
            (a.clone(), promised_a),
            (b.clone(), promised_b),
        ))),
        signatures: Some(Box::new(signatures)),
        ..draw.reveal(
            &secret,
            ByPlayer::pair((a.clone(), nonce_a), (b.clone(), nonce_b)),
        )
    };
    result.details.fairness = Some(reveal.with_proof());
    result
}

fn sign(
    draw: &MatchDraw<'_>,
    secret: &Secret,
    player_id: &PlayerId,
    nonce: &Nonce,
    opponent_nonce: &NonceCommitment,
) -> Signature {
    let choice = json!(choice(player_id).as_str());
    let commitment = draw.commitment(secret);
    let moves = SignedMoves {
        draw: *draw,
        player_id,
        commitment: &commitment,
        opponent_nonce: Some(opponent_nonce),
        nonce,
        choices: vec![&choice],
    };
    moves.sign(&signing_key(player_id.as_str()[1..].parse().unwrap()))
}
