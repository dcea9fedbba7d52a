//! Chance, as an argument. Whoever runs an agent seeds an [`Entropy`] and hands it in; the core has none of its own.

use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};

/// A stream of random bits, cryptographically strong if its seed is.
#[derive(Debug, Clone)]
pub struct Entropy(ChaCha12Rng);

impl Entropy {
    pub fn from_seed(seed: [u8; 32]) -> Self {
        Self(ChaCha12Rng::from_seed(seed))
    }

    /// A stream from a small number, for simulations: the same number always gives the same stream.
    pub fn numbered(seed: u64) -> Self {
        Self(ChaCha12Rng::seed_from_u64(seed))
    }

    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    pub fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.0.fill_bytes(&mut bytes);
        bytes
    }

    /// A whole number in `0..bound`, uniformly; 0 if `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 {
            return 0;
        }
        // Rejection: the numbers past the last whole multiple of `bound` would favour the small ones.
        let limit = u64::MAX - u64::MAX % bound;
        loop {
            let drawn = self.next_u64();
            if drawn < limit {
                return drawn % bound;
            }
        }
    }

    /// True with a chance of `percent` in a hundred.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}
