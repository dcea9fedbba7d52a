//! A player's signing key and nonces. Both are derived from its stored registration key, so a crash changes neither.

use crate::fair::MatchDraw;
use crate::protocol::draw::Commitment;
use crate::protocol::nonce::Nonce;
use crate::registration::Application;
use crate::signature::{PublicKey, SigningKey};
use crate::{hash_input, lower_hex};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt;

const NONCE_KEY_LABEL: &[u8] = b"matchday-nonce-key";
const NONCE_LABEL: &[u8] = b"matchday-nonce";

/// Random bytes in a nonce.
const NONCE_BYTES: usize = 16;

/// A player's private keys. They are never printed.
#[derive(Clone)]
pub struct Keys {
    pub(super) signing: SigningKey,
    nonce_key: [u8; 32],
}

impl Keys {
    /// The same registration key gives the same keys.
    pub fn of(application: &Application) -> Self {
        let nonce_key = hash_input::sha256(&[
            NONCE_KEY_LABEL,
            application.registration_key.reveal().as_bytes(),
        ]);
        Self {
            signing: application.signing_key(),
            nonce_key,
        }
    }

    /// Announced at registration, so that others can verify our moves.
    pub fn public_key(&self) -> PublicKey {
        self.signing.public_key()
    }

    /// The nonce of one attempt: deterministic, but unpredictable to others. It depends on the referee's commitment, so
    /// that a league that reuses ids gets other nonces.
    pub(super) fn nonce(&self, draw: &MatchDraw<'_>, commitment: Option<&Commitment>) -> Nonce {
        let commitment = commitment.map_or("", |commitment| commitment.0.as_str());
        // HMAC accepts keys of any length, so this never fails.
        let mac = Hmac::<Sha256>::new_from_slice(&self.nonce_key)
            .ok()
            .map(|mut mac| {
                let parts = [
                    NONCE_LABEL,
                    draw.league_id.as_str().as_bytes(),
                    draw.match_id.as_str().as_bytes(),
                    &draw.attempt.0.to_be_bytes(),
                    commitment.as_bytes(),
                ];
                hash_input::feed(&parts, |bytes| mac.update(bytes));
                mac.finalize().into_bytes()
            });
        let bytes = mac.unwrap_or_default();
        Nonce(lower_hex::encode(
            bytes.get(..NONCE_BYTES).unwrap_or_default(),
        ))
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keys(..)")
    }
}
