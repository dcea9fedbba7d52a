//! Ed25519 (RFC 8032): signing keys, public keys and signatures, each with one text form.
//!
//! A public key is written `ed25519:` and 64 hexadecimal digits in lower case, a signature as 128 such digits. What is
//! signed are the bytes of a length-prefixed list of parts, so that no two lists read alike.

use crate::{hash_input, lower_hex, signature_cache};
use ed25519_dalek::Signer;
#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smol_str::SmolStr;
use std::fmt;

/// The prefix of a public key's text.
const PREFIX: &str = "ed25519:";

/// A private key, never printed.
#[derive(Clone)]
pub struct SigningKey(ed25519_dalek::SigningKey);

/// The key that verifies signatures.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PublicKey([u8; 32]);

/// A signature of 64 bytes. Not known to be valid until it is verified.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Signature([u8; 64]);

impl SigningKey {
    /// The key of this seed, which is as secret as the key.
    pub fn from_seed(seed: [u8; 32]) -> Self {
        Self(ed25519_dalek::SigningKey::from_bytes(&seed))
    }

    /// What others verify this key's signatures with.
    pub fn public_key(&self) -> PublicKey {
        PublicKey(self.0.verifying_key().to_bytes())
    }

    /// Signs exactly these bytes.
    pub fn sign(&self, message: &[u8]) -> Signature {
        let signature = Signature(self.0.sign(message).to_bytes());
        signature_cache::insert(signature_cache::entry(
            &self.public_key().0,
            &signature.0,
            message,
        ));
        signature
    }

    /// Signs a length-prefixed list of parts.
    pub fn sign_list(&self, parts: &[&[u8]]) -> Signature {
        self.sign(&hash_input::bytes(parts))
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey(..)")
    }
}

impl PublicKey {
    /// The raw bytes, for other text formats.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// A key from its raw bytes, if they are a point of the curve that is not of small order, with which anything
    /// verifies.
    pub fn from_bytes(bytes: [u8; 32]) -> Option<Self> {
        let key = ed25519_dalek::VerifyingKey::from_bytes(&bytes).ok()?;
        (!key.is_weak()).then_some(Self(bytes))
    }

    /// Reads the text form; `None` for any other form, and for weak keys.
    pub fn parse(text: &str) -> Option<Self> {
        Self::from_bytes(lower_hex::decode(text.strip_prefix(PREFIX)?)?)
    }

    /// Whether the signature of exactly these bytes was made with the private key. Strict: every signature has one form.
    pub fn verifies(&self, message: &[u8], signature: &Signature) -> bool {
        let entry = signature_cache::entry(&self.0, &signature.0, message);
        if signature_cache::contains(&entry) {
            return true;
        }
        let signature = ed25519_dalek::Signature::from_bytes(&signature.0);
        let is_valid = ed25519_dalek::VerifyingKey::from_bytes(&self.0)
            .is_ok_and(|key| key.verify_strict(message, &signature).is_ok());
        if is_valid {
            signature_cache::insert(entry);
        }
        is_valid
    }

    /// The same for a length-prefixed list of parts.
    pub fn verifies_list(&self, parts: &[&[u8]], signature: &Signature) -> bool {
        self.verifies(&hash_input::bytes(parts), signature)
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", lower_hex::encode(&self.0))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({self})")
    }
}

impl Signature {
    /// A signature from its raw bytes, which are not checked here.
    pub fn from_bytes(bytes: [u8; 64]) -> Self {
        Self(bytes)
    }

    /// The raw bytes, for other text formats.
    pub fn as_bytes(&self) -> &[u8; 64] {
        &self.0
    }

    /// Reads the text form; `None` for any other form.
    pub fn parse(text: &str) -> Option<Self> {
        lower_hex::decode(text).map(Self)
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&lower_hex::encode(&self.0))
    }
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signature({self})")
    }
}

impl Serialize for PublicKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PublicKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = SmolStr::deserialize(deserializer)?;
        let expected =
            "expected an Ed25519 public key: \"ed25519:\" and 64 hexadecimal digits in lower case";
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom(expected))
    }
}

impl Serialize for Signature {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Signature {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = SmolStr::deserialize(deserializer)?;
        let expected = "expected an Ed25519 signature: 128 hexadecimal digits in lower case";
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom(expected))
    }
}

#[cfg(feature = "schema")]
impl JsonSchema for PublicKey {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "PublicKey".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^ed25519:[0-9a-f]{64}$",
            "description": "An Ed25519 public key.",
        })
    }
}

#[cfg(feature = "schema")]
impl JsonSchema for Signature {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Signature".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^[0-9a-f]{128}$",
            "description": "An Ed25519 signature.",
        })
    }
}
