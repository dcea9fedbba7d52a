//! The provably fair draw: how a referee can draw a number that nobody, itself included, can bend afterwards.
//!
//! # The scheme `matchday-draw-2`
//! A *list* is hashed part by part, each part after its own length in bytes as a big-endian 64-bit number, so that no
//! two lists read alike. Texts are UTF-8, the attempt is a big-endian 32-bit number, a counter a big-endian 64-bit one.
//!
//! 1. When a match is assigned, the referee draws a secret of 32 random bytes. The secret belongs to one attempt at the
//!    match: a referee that starts that attempt over keeps it, another attempt has another.
//! 2. GAME_INVITATION carries `draw_scheme` and `draw_commitment`, in hexadecimal digits:
//!    `SHA-256(list("matchday-draw-2/commitment", league_id, match_id, attempt, secret))`.
//! 3. Each player has a nonce of at most 64 bytes for each attempt. GAME_JOIN_ACK carries `nonce_commitment`:
//!    `SHA-256(list("matchday-draw-2/nonce", league_id, match_id, attempt, player_id, nonce))`.
//! 4. The question tells each player the other's nonce commitment. The move reveals the nonce and carries a signature
//!    over all of it: see [`crate::signed_move`].
//! 5. When the game asks for chance, block number `n` (from 0) of the stream is
//!    `HMAC-SHA256(secret, list("matchday-draw-2/draw", league_id, match_id, attempt, nonce A, nonce B, n))`, read as
//!    four big-endian 64-bit words, one after the other. A player that sends no nonce has its id for one.
//! 6. A number in `low..=high` is made of the next word below the greatest multiple of `span = high - low + 1` that does
//!    not exceed 2^64 - 1; greater words are passed over. The number is `low + word mod span`. Even/odd takes 1..=10.
//! 7. GAME_OVER and the report reveal all of it: see [`Reveal`] and [`verify`].
//!
//! # The scheme `matchday-draw-1`
//! Of older referees: no nonce commitments, no signatures, and no league_id in the list of step 5.
//!
//! What a cheating referee can still do is told in `docs/protocol.md`, section 11.

mod nonce;

pub use nonce::{NONCE_BYTES_MAX, Nonce, NonceCommitment};

use crate::digits;
use crate::entropy::Entropy;
use crate::list;
use crate::protocol::ids::{Attempt, LeagueId, MatchId, PlayerId};
use crate::protocol::messages::ByPlayer;
use crate::protocol::schema::Word;
use crate::signature::Signature;
use hmac::{Hmac, KeyInit, Mac};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};
use smol_str::SmolStr;
use std::fmt;
use std::ops::RangeInclusive;

/// How chance is drawn, and what of it is proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scheme {
    /// Of older referees and older logs.
    Draw1,
    Draw2,
}

impl Scheme {
    pub const ALL: [Self; 2] = [Self::Draw1, Self::Draw2];

    pub fn name(self) -> &'static str {
        match self {
            Self::Draw1 => "matchday-draw-1",
            Self::Draw2 => "matchday-draw-2",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scheme| scheme.name() == name)
    }

    fn labels(self) -> [&'static [u8]; 2] {
        match self {
            Self::Draw1 => [b"matchday-draw-1/commitment", b"matchday-draw-1/draw"],
            Self::Draw2 => [b"matchday-draw-2/commitment", b"matchday-draw-2/draw"],
        }
    }
}

/// One attempt at a match, and the scheme by which chance in it is drawn.
#[derive(Debug, Clone, Copy)]
pub struct MatchDraw<'a> {
    pub scheme: Scheme,
    pub league_id: &'a LeagueId,
    pub match_id: &'a MatchId,
    pub attempt: Attempt,
}

const NONCE_LABEL: &[u8] = b"matchday-draw-2/nonce";

/// The hash to which a referee binds itself before anyone has chosen, in hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(with = "Word")]
pub struct Commitment(pub SmolStr);

/// All that is needed to recompute a draw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reveal {
    /// The name of the scheme, so that it can change one day.
    #[schemars(with = "Word")]
    pub scheme: SmolStr,
    /// The referee's secret, in hexadecimal digits.
    #[schemars(with = "Word")]
    pub secret: SmolStr,
    pub commitment: Commitment,
    /// Each player's nonce, or its id where it sent none; in the order A, B.
    #[schemars(with = "ByPlayer<nonce::RevealedNonce>")]
    pub nonces: ByPlayer<Nonce>,
    /// What those players that did so had bound themselves to when they joined.
    // In boxes, because reveals of the older scheme have none of these, and the manager keeps every result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nonce_commitments: Option<Box<ByPlayer<NonceCommitment>>>,
    /// Each player's last signature, which covers all of its moves; of those players that sign.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signatures: Option<Box<ByPlayer<Signature>>>,
    /// How much of each player's part in the match is proven.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Box<ByPlayer<Proof>>>,
}

impl Reveal {
    pub fn nonce_commitment(&self, player: &PlayerId) -> Option<&NonceCommitment> {
        self.nonce_commitments.as_ref()?.get(player)
    }

    pub fn signature(&self, player: &PlayerId) -> Option<&Signature> {
        self.signatures.as_ref()?.get(player)
    }

    /// How much of a player's part is proven, if what is told here is true.
    fn proof_of(&self, player: &PlayerId) -> Proof {
        match self.nonces.get(player) {
            _ if self.signature(player).is_some() => Proof::Signed,
            Some(nonce) if *nonce != Nonce::absent(player) => Proof::Nonce,
            _ => Proof::None,
        }
    }

    /// The same reveal with what each player's part comes to.
    #[must_use]
    pub fn with_proof(mut self) -> Self {
        let players: Vec<PlayerId> = self.nonces.iter().map(|(id, _)| id.clone()).collect();
        let entry = |id: PlayerId| {
            let proof = self.proof_of(&id);
            (id, proof)
        };
        self.proof = Some(Box::new(players.into_iter().map(entry).collect()));
        self
    }
}

/// How much of a player's part in a match is proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Proof {
    /// Its moves and its nonce are signed.
    Signed,
    /// It gave a nonce, so that the draw could not be foreseen; its moves are the referee's word.
    Nonce,
    /// Nothing.
    None,
}

/// What a referee draws from. It is never printed, and leaves the referee only in a [`Reveal`].
#[derive(Clone, PartialEq, Eq)]
pub struct Secret([u8; 32]);

impl Secret {
    pub fn draw(entropy: &mut Entropy) -> Self {
        Self(entropy.bytes())
    }

    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    fn parse(digits: &str) -> Option<Self> {
        // Lower case only: one secret is written in one way.
        digits::read(digits).map(Self)
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
        let mut parts =
            vec![label, self.league_id.as_str().as_bytes(), self.match_id.as_str().as_bytes(), &attempt];
        parts.extend(rest);
        list::feed(&parts, |bytes| hash.update(bytes));
        hash.finalize().into()
    }

    /// The hash that the referee publishes before the match.
    pub fn commitment(&self, secret: &Secret) -> Commitment {
        let [label, _] = self.scheme.labels();
        Commitment(digits::of(&self.hash(label, &[&secret.0])))
    }

    /// The hash that a player publishes when it joins.
    pub fn nonce_commitment(&self, player: &PlayerId, nonce: &Nonce) -> NonceCommitment {
        let parts = [player.as_str().as_bytes(), nonce.0.as_bytes()];
        NonceCommitment::new(self.hash(NONCE_LABEL, &parts))
    }

    /// What the referee publishes after the match. `nonces` in the order A, B.
    pub fn reveal(&self, secret: &Secret, nonces: ByPlayer<Nonce>) -> Reveal {
        self.reveal_promised(secret, self.commitment(secret), nonces)
    }

    /// The same where the commitment is known already.
    pub fn reveal_promised(
        &self,
        secret: &Secret,
        commitment: Commitment,
        nonces: ByPlayer<Nonce>,
    ) -> Reveal {
        Reveal {
            scheme: SmolStr::new_static(self.scheme.name()),
            secret: digits::of(&secret.0),
            commitment,
            nonces,
            nonce_commitments: None,
            signatures: None,
            proof: None,
        }
    }

    /// The stream of chance. `nonces` in the order A, B.
    pub fn dice(&self, secret: &Secret, nonces: [&Nonce; 2]) -> Dice {
        let [a, b] = nonces.map(|nonce| nonce.0.as_bytes());
        let [_, label] = self.scheme.labels();
        let attempt = self.attempt.0.to_be_bytes();
        let league = self.league_id.as_str().as_bytes();
        let of_match = [self.match_id.as_str().as_bytes(), &attempt, a, b];
        // HMAC takes keys of any length, so there always is one.
        let mut keyed = Hmac::<Sha256>::new_from_slice(&secret.0).ok();
        let head: &[&[u8]] = match self.scheme {
            Scheme::Draw1 => &[label],
            Scheme::Draw2 => &[label, league],
        };
        let parts = [head, &of_match].concat();
        keyed.iter_mut().for_each(|mac| list::feed(&parts, |bytes| mac.update(bytes)));
        Dice { keyed, blocks: 0, words: [0; 4], used: 4 }
    }
}

/// The stream of chance of one attempt at a match. The same secret and nonces always give the same stream.
#[derive(Clone)]
pub struct Dice {
    /// Keyed with the secret, and fed with everything but the counter.
    keyed: Option<Hmac<Sha256>>,
    blocks: u64,
    words: [u64; 4],
    used: usize,
}

impl Dice {
    /// A whole number in `range`, uniformly; its start if the range is empty.
    pub fn uniform(&mut self, range: RangeInclusive<u32>) -> u32 {
        let (low, high) = range.into_inner();
        let span = u64::from(high.saturating_sub(low)) + 1;
        // The words past the last whole multiple of the span would favour the small numbers.
        let limit = u64::MAX - u64::MAX % span;
        loop {
            let word = self.word();
            if word < limit {
                let offset = u32::try_from(word % span).unwrap_or(0);
                return low.saturating_add(offset);
            }
        }
    }

    fn word(&mut self) -> u64 {
        if let Some(word) = self.words.get(self.used) {
            self.used += 1;
            return *word;
        }
        let block: [u8; 32] = self.keyed.clone().map_or([0; 32], |mut mac| {
            list::feed(&[&self.blocks.to_be_bytes()], |bytes| mac.update(bytes));
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

/// Why a reveal proves nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfair {
    #[error("the draw follows the scheme {0:?}, which is not known here")]
    Scheme(SmolStr),
    #[error("the secret is not 64 lower-case hexadecimal digits")]
    Secret,
    #[error("the secret does not belong to the commitment {0} for this league, match and attempt")]
    Commitment(SmolStr),
    #[error("the nonces are not those of {0} and {1}, one each")]
    Nonces(PlayerId, PlayerId),
    #[error("the nonce of {0} is not the one that it had committed itself to when it joined")]
    NonceCommitment(PlayerId),
    #[error("the proof of {0} is not what its nonce and its signature make it")]
    Proof(PlayerId),
}

impl Unfair {
    /// Which field of the reveal is wrong.
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

/// Checks a reveal against itself, and gives the stream from which the match's chance must have come. A player compares
/// the commitment with the one it was invited with, and its nonce with the one it gave. Signatures are checked by
/// [`crate::signed_move`].
pub fn verify(
    reveal: &Reveal,
    league_id: &LeagueId,
    match_id: &MatchId,
    attempt: Attempt,
    a: &PlayerId,
    b: &PlayerId,
) -> Result<Dice, Unfair> {
    let scheme = Scheme::parse(&reveal.scheme).ok_or_else(|| Unfair::Scheme(reveal.scheme.clone()))?;
    let draw = MatchDraw { scheme, league_id, match_id, attempt };
    let secret = Secret::parse(&reveal.secret).ok_or(Unfair::Secret)?;
    if draw.commitment(&secret) != reveal.commitment {
        return Err(Unfair::Commitment(reveal.commitment.0.clone()));
    }
    let (Some(nonce_a), Some(nonce_b), 2, true) =
        (reveal.nonces.get(a), reveal.nonces.get(b), reveal.nonces.len(), a != b)
    else {
        return Err(Unfair::Nonces(a.clone(), b.clone()));
    };
    for (player, nonce) in [(a, nonce_a), (b, nonce_b)] {
        // A player that joined and gave no nonce afterwards has its id for one.
        let given = *nonce != Nonce::absent(player);
        let promised = reveal.nonce_commitment(player).filter(|_| given);
        if promised.is_some_and(|promised| draw.nonce_commitment(player, nonce) != *promised) {
            return Err(Unfair::NonceCommitment(player.clone()));
        }
        let told = reveal.proof.as_ref().map(|proof| proof.get(player).copied());
        if told.is_some_and(|told| told != Some(reveal.proof_of(player))) {
            return Err(Unfair::Proof(player.clone()));
        }
    }
    Ok(draw.dice(&secret, [nonce_a, nonce_b]))
}
