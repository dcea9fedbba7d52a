//! The provably fair draw: how a referee can draw a number that nobody, itself included, can bend afterwards.
//!
//! # The scheme `matchday-draw-1`
//! A *list* is hashed part by part, each part after its own length in bytes as a big-endian 64-bit number, so that no
//! two lists read alike. Texts are UTF-8, the attempt is a big-endian 32-bit number, a counter a big-endian 64-bit one.
//!
//! 1. When a match is assigned, the referee draws a secret of 32 random bytes. The secret belongs to one attempt at the
//!    match: a referee that starts that attempt over keeps it, another attempt has another.
//! 2. GAME_INVITATION carries `draw_commitment`, in hexadecimal digits:
//!    `SHA-256(list("matchday-draw-1/commitment", league_id, match_id, attempt, secret))`.
//! 3. Each player sends a nonce of at most 64 bytes *along with* its move, so that the referee cannot know the draw
//!    before the moves are in. The first nonce that a player sends counts; a player that sends none has its id for one.
//!    A player that is asked again within the attempt repeats its move *and its nonce*: with a fresh one, a referee
//!    that claims to have crashed could draw again.
//! 4. When the game asks for chance, block number `n` (from 0) of the stream is
//!    `HMAC-SHA256(secret, list("matchday-draw-1/draw", match_id, attempt, nonce A, nonce B, n))`, read as four
//!    big-endian 64-bit words, one after the other.
//! 5. A number in `low..=high` is made of the next word below the greatest multiple of `span = high - low + 1` that does
//!    not exceed 2^64 - 1; greater words are passed over. The number is `low + word mod span`. Even/odd takes 1..=10.
//! 6. GAME_OVER and the report reveal scheme, secret, commitment and both nonces: see [`Reveal`] and [`verify`]. A player
//!    also compares the commitment with the one it was invited with, and its nonce with the one it sent.
//!
//! # What a cheating referee could still do
//! - Collude with one player: hold back that player's move until the other's move and nonce are known, then try
//!   nonces for the partner until the draw suits it. The honest player sees nothing amiss.
//! - Know the draw beforehand, and tell a friend, when neither player sends a nonce.
//! - Refuse to finish a match whose draw it dislikes, or report one player as silent. No number is drawn then, but the
//!   manager sees a referee whose matches often end so.
//!
//! It cannot change the draw once both moves are in, nor foresee it while one honest nonce is still missing.

use crate::digits;
use crate::entropy::Entropy;
use crate::list;
use crate::protocol::ids::{Attempt, LeagueId, MatchId, PlayerId};
use crate::protocol::messages::ByPlayer;
use crate::protocol::schema::{NO_CONTROLS, Word};
use hmac::{Hmac, KeyInit, Mac};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};
use smol_str::SmolStr;
use std::borrow::Cow;
use std::fmt;
use std::ops::RangeInclusive;

/// The name of the scheme.
pub const SCHEME: &str = "matchday-draw-1";

const COMMITMENT_LABEL: &[u8] = b"matchday-draw-1/commitment";
const DRAW_LABEL: &[u8] = b"matchday-draw-1/draw";

/// The longest nonce, in bytes.
pub const NONCE_BYTES_MAX: usize = 64;

/// The hash to which a referee binds itself before anyone has chosen, in hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(with = "Word")]
pub struct Commitment(pub SmolStr);

/// A player's share in the draw: any text of at most 64 bytes, sent along with its choice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nonce(pub SmolStr);

impl JsonSchema for Nonce {
    fn schema_name() -> Cow<'static, str> {
        "Nonce".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "maxLength": NONCE_BYTES_MAX,
            "pattern": format!("^{NO_CONTROLS}*$"),
            "description": "A player's share in the draw: at most 64 bytes, without control or invisible characters.",
        })
    }
}

/// In a reveal the id of a player that sent no nonce stands for one, and an id may be longer than a nonce.
struct RevealedNonce;

impl JsonSchema for RevealedNonce {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "RevealedNonce".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [generator.subschema_for::<Nonce>(), generator.subschema_for::<Word>()],
        })
    }
}

impl Nonce {
    /// Whether it is short enough to count.
    pub fn fits(&self) -> bool {
        self.0.len() <= NONCE_BYTES_MAX
    }

    /// What stands in for the nonce of a player that sent none.
    pub fn absent(player: &PlayerId) -> Self {
        Self(SmolStr::new(player.as_str()))
    }
}

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
    #[schemars(with = "ByPlayer<RevealedNonce>")]
    pub nonces: ByPlayer<Nonce>,
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

    /// The hash to publish before the match.
    pub fn commitment(&self, league: &LeagueId, match_id: &MatchId, attempt: Attempt) -> Commitment {
        let mut hash = Sha256::new();
        let (league, match_id) = (league.as_str().as_bytes(), match_id.as_str().as_bytes());
        let parts = [COMMITMENT_LABEL, league, match_id, &attempt.0.to_be_bytes(), &self.0];
        list::feed(&parts, |bytes| hash.update(bytes));
        Commitment(digits::of(&hash.finalize()))
    }

    /// What to publish after the match. `nonces` in the order A, B.
    pub fn reveal(
        &self,
        league: &LeagueId,
        match_id: &MatchId,
        attempt: Attempt,
        nonces: ByPlayer<Nonce>,
    ) -> Reveal {
        self.reveal_promised(self.commitment(league, match_id, attempt), nonces)
    }

    /// The same, by whoever has the commitment at hand.
    pub fn reveal_promised(&self, commitment: Commitment, nonces: ByPlayer<Nonce>) -> Reveal {
        Reveal { scheme: SmolStr::new_static(SCHEME), secret: digits::of(&self.0), commitment, nonces }
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
    /// `nonces` in the order A, B.
    pub fn new(secret: &Secret, match_id: &MatchId, attempt: Attempt, nonces: [&Nonce; 2]) -> Self {
        let [a, b] = nonces.map(|nonce| nonce.0.as_bytes());
        // HMAC takes keys of any length, so there always is one.
        let mut keyed = Hmac::<Sha256>::new_from_slice(&secret.0).ok();
        let attempt = attempt.0.to_be_bytes();
        let parts = [DRAW_LABEL, match_id.as_str().as_bytes(), &attempt, a, b];
        keyed.iter_mut().for_each(|mac| list::feed(&parts, |bytes| mac.update(bytes)));
        Self { keyed, blocks: 0, words: [0; 4], used: 4 }
    }

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
    #[error("the draw follows the scheme {0:?}, and only {SCHEME:?} is known here")]
    Scheme(SmolStr),
    #[error("the secret is not 64 lower-case hexadecimal digits")]
    Secret,
    #[error("the secret does not belong to the commitment {0} for this league, match and attempt")]
    Commitment(SmolStr),
    #[error("the nonces are not those of {0} and {1}, one each")]
    Nonces(PlayerId, PlayerId),
}

/// Checks a reveal against itself, and gives the stream from which the match's chance must have come. Whoever remembers
/// the commitment or a nonce from the match itself compares those too.
pub fn verify(
    reveal: &Reveal,
    league: &LeagueId,
    match_id: &MatchId,
    attempt: Attempt,
    a: &PlayerId,
    b: &PlayerId,
) -> Result<Dice, Unfair> {
    if reveal.scheme != SCHEME {
        return Err(Unfair::Scheme(reveal.scheme.clone()));
    }
    let secret = Secret::parse(&reveal.secret).ok_or(Unfair::Secret)?;
    if secret.commitment(league, match_id, attempt) != reveal.commitment {
        return Err(Unfair::Commitment(reveal.commitment.0.clone()));
    }
    match (reveal.nonces.get(a), reveal.nonces.get(b)) {
        (Some(nonce_a), Some(nonce_b)) if reveal.nonces.len() == 2 && a != b => {
            Ok(Dice::new(&secret, match_id, attempt, [nonce_a, nonce_b]))
        }
        _ => Err(Unfair::Nonces(a.clone(), b.clone())),
    }
}
