//! The draw of even/odd, recomputed from what was revealed, by the published scheme and by nothing else.

use crate::failure::{Checker, Fault};
use hmac::{Hmac, KeyInit, Mac};
use matchday_core::protocol::draw::Reveal;
use matchday_core::protocol::messages::{GameDetails, GameOver, GameStatus};
use matchday_core::protocol::{Attempt, LeagueId, MatchId, PlayerId};
use sha2::{Digest, Sha256};

const SCHEME: &str = "matchday-draw-2";

/// Whether what GAME_OVER reveals leads to the promise in the invitation, and to the number that was drawn.
pub fn recomputes(
    over: &GameOver,
    league: &LeagueId,
    attempt: Attempt,
    promise: &str,
) -> Result<(), Fault> {
    let broken = |what: String| {
        Err(Fault::new(
            Checker::FairDraws,
            format!("{}: {what}", over.match_id),
        ))
    };
    let GameDetails::Parity(details) = &over.game_result.details else {
        return Ok(());
    };
    let Some(drawn) = details.drawn_number else {
        return match over.game_result.status {
            GameStatus::TechnicalLoss => Ok(()),
            _ => broken("it was played, and no number was drawn".into()),
        };
    };
    let Some(reveal) = &over.game_result.fairness else {
        return broken("nothing is revealed".into());
    };
    let Ok(secret) = hex::decode(reveal.secret.as_bytes()) else {
        return broken("the secret is not written in hexadecimal digits".into());
    };
    let attempt = attempt.0.to_be_bytes();
    let league = league.as_str().as_bytes();
    let match_id = over.match_id.as_str().as_bytes();
    if reveal.scheme != SCHEME {
        return broken(format!("it is drawn by {:?}", reveal.scheme));
    }
    let label: &[u8] = b"matchday-draw-2/commitment";
    let commitment = hex::encode(Sha256::digest(listed(&[
        label, league, match_id, &attempt, &secret,
    ])));
    if reveal.commitment.0 != commitment || promise != commitment {
        return broken(format!(
            "promised {promise}, revealed {}, but the secret gives {commitment}",
            reveal.commitment.0
        ));
    }
    let nonces: Vec<_> = reveal
        .nonces
        .iter()
        .map(|(_, nonce)| nonce.0.as_bytes())
        .collect();
    let [a, b] = nonces.as_slice() else {
        return broken("there are not two nonces".into());
    };
    match first_number(&secret, &[league, match_id, &attempt, a, b]) {
        Some(number) if number == u64::from(drawn) => Ok(()),
        number => broken(format!(
            "{drawn} was drawn, where the secret gives {number:?}"
        )),
    }
}

/// The first number that a reveal gives to players A and B, whatever it was committed to.
pub fn number(
    reveal: &Reveal,
    league: &LeagueId,
    match_id: &MatchId,
    attempt: Attempt,
    [a, b]: [&PlayerId; 2],
) -> Option<u64> {
    let secret = hex::decode(reveal.secret.as_bytes()).ok()?;
    let nonce = |player| Some(reveal.nonces.get(player)?.0.as_bytes());
    first_number(
        &secret,
        &[
            league.as_str().as_bytes(),
            match_id.as_str().as_bytes(),
            &attempt.0.to_be_bytes(),
            nonce(a)?,
            nonce(b)?,
        ],
    )
}

/// Every part after its own length.
fn listed(parts: &[&[u8]]) -> Vec<u8> {
    parts
        .iter()
        .flat_map(|part| {
            (part.len() as u64)
                .to_be_bytes()
                .into_iter()
                .chain(part.iter().copied())
        })
        .collect()
}

/// The first number in 1..=10 that the stream gives.
fn first_number(secret: &[u8], of: &[&[u8]; 5]) -> Option<u64> {
    const USABLE: u64 = u64::MAX - u64::MAX % 10;
    (0_u64..8).find_map(|block| {
        let mut mac = Hmac::<Sha256>::new_from_slice(secret).ok()?;
        let [league, match_id, attempt, a, b] = of;
        let label: &[u8] = b"matchday-draw-2/draw";
        mac.update(&listed(&[
            label,
            league,
            match_id,
            attempt,
            a,
            b,
            &block.to_be_bytes(),
        ]));
        let bytes = mac.finalize().into_bytes();
        bytes.chunks_exact(8).find_map(|word| {
            let word = u64::from_be_bytes(word.try_into().ok()?);
            (word < USABLE).then_some(1 + word % 10)
        })
    })
}
