//! The provably fair draw, by commit-reveal: nobody, the referee included, can change it afterwards.
//!
//! # The scheme `matchday-draw-2` A *list* is hashed part by part, each after its length in bytes as a big-endian
//! 64-bit number. Texts are UTF-8, the attempt is a big-endian 32-bit number, a counter a big-endian 64-bit one.
//!
//! 1. When a match is assigned, the referee draws a secret of 32 random bytes. The secret belongs to one attempt at the
//!    match: a referee that starts that attempt over keeps it, another attempt has another.
//! 2. GAME_INVITATION carries `draw_scheme` and `draw_commitment`, in hexadecimal digits:
//!    `SHA-256(list("matchday-draw-2/commitment", league_id, match_id, attempt, secret))`.
//! 3. Each player has a nonce of at most 64 bytes for each attempt. GAME_JOIN_ACK carries `nonce_commitment`:
//!    `SHA-256(list("matchday-draw-2/nonce", league_id, match_id, attempt, player_id, nonce))`.
//! 4. The question tells each player the other's nonce commitment. The move reveals the nonce and carries a signature
//!    over all of it: see [`crate::signed_move`].
//! 5. When the game asks for chance, block number `n` (from 0) of the stream is `HMAC-SHA256(secret,
//!    list("matchday-draw-2/draw", league_id, match_id, attempt, nonce A, nonce B, n))`, read as four big-endian 64-bit
//!    words, one after the other. A player that sends no nonce has its id for one.
//! 6. A number in `low..=high` is made of the next word below the greatest multiple of `span = high - low + 1` that
//!    does not exceed 2^64 - 1; greater words are passed over. The number is `low + word mod span`. Even/odd takes
//!    1..=10.
//! 7. GAME_OVER and the report reveal all of it: see [`Reveal`] and [`verify`].
//!
//! What a cheating referee can still do is told in `docs/protocol-draw.md`.

use crate::entropy::Entropy;
use crate::protocol::draw::{Commitment, Reveal};
use crate::protocol::ids::{Attempt, LeagueId, MatchId, PlayerId};
use crate::protocol::messages::ByPlayer;
use crate::protocol::nonce::{Nonce, NonceCommitment};
use crate::{hash_input, lower_hex};
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};
use smol_str::SmolStr;
use std::fmt;
use std::ops::RangeInclusive;

/// The name of the scheme, as `draw_scheme` and logs write it.
pub const SCHEME: &str = "matchday-draw-2";

const COMMITMENT_LABEL: &[u8] = b"matchday-draw-2/commitment";
const NONCE_LABEL: &[u8] = b"matchday-draw-2/nonce";
const DRAW_LABEL: &[u8] = b"matchday-draw-2/draw";

/// One attempt at a match, as the hashes name it.
#[derive(Debug, Clone, Copy)]
pub struct MatchDraw<'a> {
    /// Part of every hash, so that a draw is not valid in another league.
    pub league_id: &'a LeagueId,
    /// Part of every hash, so that a draw is not valid for another match.
    pub match_id: &'a MatchId,
    /// Each attempt has a secret, and so a draw, of its own.
    pub attempt: Attempt,
}

/// The referee's secret, never printed, and published only in a [`Reveal`].
#[derive(Clone, PartialEq, Eq)]
pub struct Secret([u8; 32]);

impl Secret {
    /// A new secret, for one attempt.
    pub fn draw(entropy: &mut Entropy) -> Self {
        Self(entropy.bytes())
    }

    /// A known secret, to verify or to test by.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    fn parse(digits: &str) -> Option<Self> {
        // Lower case only, so that a secret has one text form.
        lower_hex::decode(digits).map(Self)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex::encode(self.0))
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = SmolStr::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("not 64 hexadecimal digits"))
    }
}

impl MatchDraw<'_> {
    fn hash(&self, label: &[u8], rest: &[&[u8]]) -> [u8; 32] {
        let mut hash = Sha256::new();
        let attempt = self.attempt.0.to_be_bytes();
        let mut parts = vec![
            label,
            self.league_id.as_str().as_bytes(),
            self.match_id.as_str().as_bytes(),
            &attempt,
        ];
        parts.extend(rest);
        hash_input::feed(&parts, |bytes| hash.update(bytes));
        hash.finalize().into()
    }

    /// The commitment that the referee publishes before the match.
    pub fn commitment(&self, secret: &Secret) -> Commitment {
        Commitment(lower_hex::encode(
            &self.hash(COMMITMENT_LABEL, &[&secret.0]),
        ))
    }

    /// The nonce commitment that a player publishes when it joins.
    pub fn nonce_commitment(&self, player: &PlayerId, nonce: &Nonce) -> NonceCommitment {
        let parts = [player.as_str().as_bytes(), nonce.0.as_bytes()];
        NonceCommitment::new(self.hash(NONCE_LABEL, &parts))
    }

    /// The reveal that the referee publishes after the match. `nonces` in the order A, B.
    pub fn reveal(&self, secret: &Secret, nonces: ByPlayer<Nonce>) -> Reveal {
        self.reveal_promised(secret, self.commitment(secret), nonces)
    }

    /// As [`Self::reveal`], with the known commitment.
    pub fn reveal_promised(
        &self,
        secret: &Secret,
        commitment: Commitment,
        nonces: ByPlayer<Nonce>,
    ) -> Reveal {
        Reveal {
            scheme: SmolStr::new_static(SCHEME),
            secret: lower_hex::encode(&secret.0),
            commitment,
            nonces,
            nonce_commitments: None,
            signatures: None,
            proof: None,
        }
    }

    /// The random stream. `nonces` in the order A, B.
    pub fn dice(&self, secret: &Secret, nonces: [&Nonce; 2]) -> Dice {
        let [a, b] = nonces.map(|nonce| nonce.0.as_bytes());
        let attempt = self.attempt.0.to_be_bytes();
        let [league, match_id] =
            [self.league_id.as_str(), self.match_id.as_str()].map(str::as_bytes);
        let parts = [DRAW_LABEL, league, match_id, &attempt, a, b];
        // HMAC accepts keys of any length, so this never fails.
        let mut keyed = Hmac::<Sha256>::new_from_slice(&secret.0).ok();
        keyed
            .iter_mut()
            .for_each(|mac| hash_input::feed(&parts, |bytes| mac.update(bytes)));
        Dice {
            keyed,
            blocks: 0,
            words: [0; 4],
            used: 4,
            drawn: Vec::new(),
        }
    }
}

/// The random stream of one attempt at a match, determined by the secret and the nonces.
#[derive(Clone)]
pub struct Dice {
    /// Keyed with the secret, and updated with everything but the counter.
    keyed: Option<Hmac<Sha256>>,
    blocks: u64,
    words: [u64; 4],
    used: usize,
    drawn: Vec<u32>,
}

impl Dice {
    /// A uniform integer in `range`; its start if the range is empty.
    pub fn uniform(&mut self, range: RangeInclusive<u32>) -> u32 {
        let (low, high) = range.into_inner();
        let span = u64::from(high.saturating_sub(low)) + 1;
        // Rejection sampling: words past the last multiple of the span would favour small numbers.
        let limit = u64::MAX - u64::MAX % span;
        loop {
            let word = self.word();
            if word < limit {
                let offset = u32::try_from(word % span).unwrap_or(0);
                let number = low.saturating_add(offset);
                self.drawn.push(number);
                return number;
            }
        }
    }

    /// The numbers so far.
    pub fn drawn(&self) -> &[u32] {
        &self.drawn
    }

    fn word(&mut self) -> u64 {
        if let Some(word) = self.words.get(self.used) {
            self.used += 1;
            return *word;
        }
        let block: [u8; 32] = self.keyed.clone().map_or([0; 32], |mut mac| {
            hash_input::feed(&[&self.blocks.to_be_bytes()], |bytes| mac.update(bytes));
            mac.finalize().into_bytes().into()
        });
        for (word, bytes) in self.words.iter_mut().zip(block.as_chunks::<8>().0) {
            *word = u64::from_be_bytes(*bytes);
        }
        self.blocks = self.blocks.wrapping_add(1);
        self.used = 1;
        let [first, ..] = self.words;
        first
    }
}

impl fmt::Debug for Dice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Dice(..)")
    }
}

/// Why a reveal is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfair {
    /// It names another scheme than ours.
    #[error("the draw follows the scheme {0:?}, which is not known here")]
    Scheme(SmolStr),
    /// Its secret has another form than ours have.
    #[error("the secret is not 64 lower-case hexadecimal digits")]
    Secret,
    /// Its secret does not give its commitment.
    #[error("the secret does not belong to the commitment {0} for this league, match and attempt")]
    Commitment(SmolStr),
    /// Its nonces are of other players, or not of both.
    #[error("the nonces are not those of {0} and {1}, one each")]
    Nonces(PlayerId, PlayerId),
    /// A nonce does not give the commitment that its player joined with.
    #[error("the nonce of {0} is not the one that it had committed itself to when it joined")]
    NonceCommitment(PlayerId),
    /// It claims more or less proof for a player than the nonce and the signature give.
    #[error("the proof of {0} is not what its nonce and its signature make it")]
    Proof(PlayerId),
}

impl Unfair {
    /// The invalid field of the reveal.
    pub fn field(&self) -> &'static str {
        match self {
            Self::Scheme(_) => "scheme",
            Self::Secret => "secret",
            Self::Commitment(_) => "commitment",
            Self::Nonces(..) => "nonces",
            Self::NonceCommitment(_) => "nonce_commitments",
            Self::Proof(_) => "proof",
        }
    }
}

/// Verifies the consistency of a reveal, and returns the random stream of the match. A player also compares the
/// commitment with that of its invitation, and the nonce with its own. Signatures are verified by
/// [`crate::signed_move`].
pub fn verify(
    reveal: &Reveal,
    league_id: &LeagueId,
    match_id: &MatchId,
    attempt: Attempt,
    a: &PlayerId,
    b: &PlayerId,
) -> Result<Dice, Unfair> {
    if reveal.scheme != SCHEME {
        return Err(Unfair::Scheme(reveal.scheme.clone()));
    }
    let draw = MatchDraw {
        league_id,
        match_id,
        attempt,
    };
    let secret = Secret::parse(&reveal.secret).ok_or(Unfair::Secret)?;
    if draw.commitment(&secret) != reveal.commitment {
        return Err(Unfair::Commitment(reveal.commitment.0.clone()));
    }
    let (Some(nonce_a), Some(nonce_b), 2, true) = (
        reveal.nonces.get(a),
        reveal.nonces.get(b),
        reveal.nonces.len(),
        a != b,
    ) else {
        return Err(Unfair::Nonces(a.clone(), b.clone()));
    };
    for (player, nonce) in [(a, nonce_a), (b, nonce_b)] {
        // For a player that sent no nonce, its id stands in.
        let given = *nonce != Nonce::absent(player);
        let promised = reveal.nonce_commitment(player).filter(|_| given);
        if promised.is_some_and(|promised| draw.nonce_commitment(player, nonce) != *promised) {
            return Err(Unfair::NonceCommitment(player.clone()));
        }
        let told = reveal
            .proof
            .as_ref()
            .map(|proof| proof.get(player).copied());
        if told.is_some_and(|told| told != Some(reveal.proof_of(player))) {
            return Err(Unfair::Proof(player.clone()));
        }
    }
    Ok(draw.dice(&secret, [nonce_a, nonce_b]))
}
