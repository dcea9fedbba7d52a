//! The provably fair draw: how a referee can draw a number that nobody, itself included, can bend afterwards.

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

/// The hash to which a referee binds itself before anyone has chosen, in hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Commitment(pub SmolStr);

/// A player's share in the draw: any text of at most 64 bytes, sent along with its choice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nonce(pub SmolStr);

/// All that is needed to recompute a draw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reveal {
    /// The name of the scheme, so that it can change one day.
    pub scheme: SmolStr,
    /// The referee's secret, in hexadecimal digits.
    pub secret: SmolStr,
    pub commitment: Commitment,
    /// Each player's nonce, or its id where it sent none; in the order A, B.
    pub nonces: crate::protocol::messages::ByPlayer<Nonce>,
}
