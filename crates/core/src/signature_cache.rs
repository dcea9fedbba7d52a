//! Signature cache: remembers signatures that are known to be valid, so that agents of one process verify each once. A player,
//! a referee and a manager look at the same signature; verifying it costs forty times as much as finding it here.
//!
//! Verification is a pure function, and this is its memo: an answer never depends on what the cache holds, only its cost does.
//! An entry is the SHA-256 of public key, signature and message, so that nothing but the very same triple is found.

use sha2::{Digest, Sha256};
use std::sync::{LazyLock, Mutex, PoisonError};

/// A direct-mapped table: a new entry replaces the one in its slot. 8192 signatures are those of 4096 matches in play.
const SLOTS: usize = 8192;

type Entry = [u8; 32];

static VALID: LazyLock<Mutex<Vec<Entry>>> = LazyLock::new(|| Mutex::new(vec![[0; 32]; SLOTS]));

pub(crate) fn entry(public_key: &[u8; 32], signature: &[u8; 64], message: &[u8]) -> Entry {
    Sha256::new()
        .chain_update(public_key)
        .chain_update(signature)
        .chain_update(message)
        .finalize()
        .into()
}

pub(crate) fn contains(entry: &Entry) -> bool {
    with_slot(entry, |slot| slot == entry)
}

pub(crate) fn insert(entry: Entry) {
    with_slot(&entry, |slot| *slot = entry);
}

fn with_slot<T: Default>(entry: &Entry, then: impl FnOnce(&mut Entry) -> T) -> T {
    let [first, second, ..] = *entry;
    let slot = usize::from(u16::from_le_bytes([first, second])) % SLOTS;
    let mut valid = VALID.lock().unwrap_or_else(PoisonError::into_inner);
    valid.get_mut(slot).map(then).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_of_one_key_one_signature_and_one_message() {
        let key = [1; 32];
        let signature = [2; 64];
        let message = b"a move".as_slice();
        insert(entry(&key, &signature, message));
        assert!(contains(&entry(&key, &signature, message)));
        assert!(!contains(&entry(&[9; 32], &signature, message)));
        assert!(!contains(&entry(&key, &[9; 64], message)));
        assert!(!contains(&entry(&key, &signature, b"another move")));
    }
}
