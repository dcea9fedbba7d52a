//! Chance from a seed: the same number always gives the same results. Pure.

use crate::chance::Chance;
use crate::results::Verdict;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

#[derive(Debug, Clone)]
pub struct Dice(ChaCha8Rng);

impl Dice {
    /// Dice for one purpose; those of another purpose are independent of them.
    pub fn new(seed: u64, purpose: u64) -> Self {
        let mut stream = ChaCha8Rng::seed_from_u64(seed);
        stream.set_stream(purpose);
        Self(stream)
    }

    /// A number from 0 up to, but not including, 1.
    pub fn share(&mut self) -> f64 {
        const STEPS: f64 = (1_u64 << 53) as f64;
        (self.0.next_u64() >> 11) as f64 / STEPS
    }

    /// How a match ends of which these are the chances of the first side.
    pub fn verdict(&mut self, first: Chance) -> Verdict {
        let share = self.share();
        if share < first.win {
            Verdict::A
        } else if share < first.win + first.draw {
            Verdict::Draw
        } else {
            Verdict::B
        }
    }
}
