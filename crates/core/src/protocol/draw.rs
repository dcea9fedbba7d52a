//! The fields by which a commit-reveal draw is published and proven. How they are computed is in [`crate::fair`].

use super::ids::PlayerId;
use super::messages::ByPlayer;
#[cfg(feature = "schema")]
use super::nonce::RevealedNonce;
use super::nonce::{Nonce, NonceCommitment};
#[cfg(feature = "schema")]
use super::schema_words::Word;
use crate::signature::Signature;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

/// The hash to which a referee binds itself before anyone has chosen, in hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
#[cfg_attr(feature = "schema", schemars(with = "Word"))]
pub struct Commitment(pub SmolStr);

/// All that is needed to recompute a draw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reveal {
    /// The name of the scheme, so that it can change one day.
    #[cfg_attr(feature = "schema", schemars(with = "Word"))]
    pub scheme: SmolStr,
    /// The referee's secret, in hexadecimal digits.
    #[cfg_attr(feature = "schema", schemars(with = "Word"))]
    pub secret: SmolStr,
    /// As in the invitation: the hash of `secret` with the ids of league and match, and the attempt.
    pub commitment: Commitment,
    /// Each player's nonce, or its id where it sent none; in the order A, B.
    #[cfg_attr(feature = "schema", schemars(with = "ByPlayer<RevealedNonce>"))]
    pub nonces: ByPlayer<Nonce>,
    /// What those players that did so had bound themselves to when they joined.
    // Boxed, because players without a key have none of these, and the manager keeps every result.
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
    /// What this player bound itself to when it joined, if it did.
    pub fn nonce_commitment(&self, player: &PlayerId) -> Option<&NonceCommitment> {
        self.nonce_commitments.as_ref()?.get(player)
    }

    /// The last signature of this player, if it signs.
    pub fn signature(&self, player: &PlayerId) -> Option<&Signature> {
        self.signatures.as_ref()?.get(player)
    }

    /// How much of a player's part is proven, if this reveal is valid.
    pub fn proof_of(&self, player: &PlayerId) -> Proof {
        match self.nonces.get(player) {
            _ if self.signature(player).is_some() => Proof::Signed,
            Some(nonce) if *nonce != Nonce::absent(player) => Proof::Nonce,
            _ => Proof::None,
        }
    }

    /// With `proof` filled in.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Proof {
    /// Its moves and its nonce are signed.
    Signed,
    /// It gave a nonce, so that the draw could not be foreseen; its moves are the referee's word.
    Nonce,
    /// Nothing.
    None,
}
