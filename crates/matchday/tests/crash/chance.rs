//! Random numbers that can be had again.

use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn any_seed() -> u64 {
        u64::from(
            SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap()
                .subsec_nanos(),
        )
    }

    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number in `0..bound`, by SplitMix64.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}
