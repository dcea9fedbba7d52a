//! What a player proves its part in a match with: a signing key, and a nonce for each attempt. Both follow from the
//! registration key that it has stored, so that nothing more has to be kept, and a crash changes neither.

use crate::digits;
use crate::fair::{Commitment, MatchDraw, Nonce};
use crate::list;
use crate::protocol::Token;
use crate::signature::{PublicKey, SigningKey};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use std::fmt;

const SIGNING_LABEL: &[u8] = b"matchday-signing-key";
const NONCE_KEY_LABEL: &[u8] = b"matchday-nonce-key";
const NONCE_LABEL: &[u8] = b"matchday-nonce";

/// How many bytes of chance are in a nonce.
const NONCE_BYTES: usize = 16;

/// A player's private keys. They are never printed.
#[derive(Clone)]
pub struct Keys {
    pub(super) signing: SigningKey,
    nonce_key: [u8; 32],
}

impl Keys {
    pub fn of(registration_key: &Token) -> Self {
        let derive = |label: &[u8]| {
            let mut hash = Sha256::new();
            list::feed(&[label, registration_key.reveal().as_bytes()], |bytes| hash.update(bytes));
            hash.finalize().into()
        };
        Self { signing: SigningKey::from_seed(derive(SIGNING_LABEL)), nonce_key: derive(NONCE_KEY_LABEL) }
    }

    pub fn public_key(&self) -> PublicKey {
        self.signing.public_key()
    }

    /// The nonce of one attempt: the same however often it is asked for, and nobody else can tell it beforehand. It also
    /// follows from the referee's commitment, so that a league that uses the same names again gets other nonces.
    pub(super) fn nonce(&self, draw: &MatchDraw<'_>, commitment: Option<&Commitment>) -> Nonce {
        let commitment = commitment.map_or("", |commitment| commitment.0.as_str());
        // HMAC takes keys of any length, so there always is one.
        let mac = Hmac::<Sha256>::new_from_slice(&self.nonce_key).ok().map(|mut mac| {
            let parts = [
                NONCE_LABEL,
                draw.league_id.as_str().as_bytes(),
                draw.match_id.as_str().as_bytes(),
                &draw.attempt.0.to_be_bytes(),
                commitment.as_bytes(),
            ];
            list::feed(&parts, |bytes| mac.update(bytes));
            mac.finalize().into_bytes()
        });
        let bytes = mac.unwrap_or_default();
        Nonce(digits::of(bytes.get(..NONCE_BYTES).unwrap_or_default()))
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keys(..)")
    }
}
