//! Signs the head of an agent's hash chain with the keys that are kept for it. Pure, but for a new key, which is written to
//! the file of keys.

use matchday_core::agent::{Signed, SigningDue};
use matchday_core::entropy::Entropy;
use matchday_core::league::{checkpoint_origin, sign_successor};
use matchday_core::signed_note::Checkpoint;
use matchday_store::chain::{self, Hash};
use matchday_store::checkpoint_keys::CheckpointKeys;
use matchday_store::{Store, StoreError, Stream};

#[derive(Debug)]
pub(super) struct CheckpointSigner {
    keys: CheckpointKeys,
    stream: Stream,
    /// How many events the stream has, those included that are not durable yet.
    size: u64,
    head: Hash,
}

impl CheckpointSigner {
    pub(super) fn new(
        keys: CheckpointKeys,
        store: &Store,
        stream: &Stream,
    ) -> Result<Self, StoreError> {
        let (size, head) = store.head(stream)?;
        Ok(Self {
            keys,
            stream: stream.clone(),
            size,
            head,
        })
    }

    /// These events are the next of the stream.
    pub(super) fn extend(&mut self, lines: &[String]) {
        for line in lines {
            self.size = self.size.saturating_add(1);
            self.head = chain::link(&self.head, &self.stream, self.size, line);
        }
    }

    /// What is due next, signed.
    pub(super) fn sign(&mut self, due: &SigningDue<'_>, entropy: &mut Entropy) -> Option<Signed> {
        if due.rotation
            && let Err(error) = self.keys.add(entropy)
        {
            return Some(Signed::Failed(error.to_string()));
        }
        let key = self.keys.newest()?;
        let public_key = key.public_key();
        if due.key != Some(&public_key) {
            let before = due.key.and_then(|before| self.keys.find(before));
            let signature = before.map(|before| sign_successor(before, due.league_id, &public_key));
            return Some(Signed::Key {
                public_key,
                signature,
            });
        }
        due.checkpoint.then(|| {
            let checkpoint = Checkpoint {
                origin: checkpoint_origin(due.league_id),
                size: self.size,
                root: self.head.0,
                extensions: vec![format!("{} {}", chain::SCHEME, self.stream)],
            };
            Signed::Checkpoint {
                note: checkpoint.sign(key),
            }
        })
    }
}
