//! A cache of values that take long to compute. Pure: callers cannot tell whether a value was remembered.

use std::sync::atomic::{AtomicU64, Ordering};

/// Remembers values of a pure function, those of the latest keys.
pub(super) struct Memo<const SLOTS: usize>([AtomicU64; SLOTS]);

impl<const SLOTS: usize> Memo<SLOTS> {
    pub(super) const fn new() -> Self {
        Self([const { AtomicU64::new(0) }; SLOTS])
    }

    /// The value for a key below 2⁵⁶. Key and value share a word, so that threads never see one without the other.
    pub(super) fn get(&self, key: u64, value: impl FnOnce() -> Option<u8>) -> Option<u8> {
        let scattered = key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let slot = usize::try_from(scattered)
            .ok()
            .and_then(|place| self.0.get(place % SLOTS))?;
        let word = slot.load(Ordering::Relaxed);
        let [known, ..] = word.to_le_bytes();
        if known != 0 && word >> 8 == key {
            return Some(known - 1);
        }
        let value = value()?;
        slot.store(key << 8 | (u64::from(value) + 1), Ordering::Relaxed);
        Some(value)
    }
}
