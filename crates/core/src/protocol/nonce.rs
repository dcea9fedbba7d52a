//! A player's nonce for the draw, and the commitment to it.

use super::ids::PlayerId;
#[cfg(feature = "schema")]
use super::schema_words::{NO_CONTROLS, Word};
use crate::lower_hex;
#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smol_str::SmolStr;
use std::fmt;

/// The longest nonce, in bytes.
pub const NONCE_BYTES_MAX: usize = 64;

/// The hash to which a player binds itself when it joins a match, of the nonce that it will reveal with its move.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct NonceCommitment([u8; 32]);

impl NonceCommitment {
    pub(crate) fn new(hash: [u8; 32]) -> Self {
        Self(hash)
    }

    /// Exactly 64 hexadecimal digits in lower case, else `None`.
    pub fn parse(text: &str) -> Option<Self> {
        lower_hex::decode(text).map(Self)
    }

    /// As it is written and signed: 64 hexadecimal digits in lower case.
    pub fn text(&self) -> SmolStr {
        lower_hex::encode(&self.0)
    }
}

impl fmt::Debug for NonceCommitment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NonceCommitment({})", self.text())
    }
}

impl Serialize for NonceCommitment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

impl<'de> Deserialize<'de> for NonceCommitment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = SmolStr::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("not 64 hexadecimal digits"))
    }
}

#[cfg(feature = "schema")]
impl JsonSchema for NonceCommitment {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "NonceCommitment".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^[0-9a-f]{64}$",
            "description": "The SHA-256 by which a player binds itself to its nonce.",
        })
    }
}

/// A player's share in the draw: any text of at most 64 bytes, sent along with its choice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nonce(pub SmolStr);

#[cfg(feature = "schema")]
impl JsonSchema for Nonce {
    fn schema_name() -> std::borrow::Cow<'static, str> {
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
#[cfg(feature = "schema")]
pub(super) struct RevealedNonce;

#[cfg(feature = "schema")]
impl JsonSchema for RevealedNonce {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
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

    /// Stands in for the nonce of a player that sent none.
    pub fn absent(player: &PlayerId) -> Self {
        Self(SmolStr::new(player.as_str()))
    }
}
