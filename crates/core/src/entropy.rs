//! Randomness as an argument: the driver seeds an [`Entropy`]; the core has no source of its own.

use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};

/// A stream of random bits, cryptographically strong if its seed is.
#[derive(Debug, Clone)]
pub struct Entropy(ChaCha12Rng);

impl Entropy {
    /// The stream of this seed; secret if the seed is.
    pub fn from_seed(seed: [u8; 32]) -> Self {
        Self(ChaCha12Rng::from_seed(seed))
    }

    /// A stream from a small seed, for simulations.
    pub fn numbered(seed: u64) -> Self {
        Self(ChaCha12Rng::seed_from_u64(seed))
    }

    /// The next 64 bits of the stream.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// The next `N` bytes of the stream.
    pub fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.0.fill_bytes(&mut bytes);
        bytes
    }

    /// A uniform integer in `0..bound`; 0 if `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 {
            return 0;
        }
        loop {
            let drawn = self.next_u64();
            // Rejection sampling: numbers past the last multiple of `bound` would favour small ones. Most numbers are so
            // far from it that it need not be computed.
            if drawn < u64::MAX - bound || drawn < u64::MAX - u64::MAX % bound {
                return drawn % bound;
            }
        }
    }

    /// True with a chance of `percent` in a hundred.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}
