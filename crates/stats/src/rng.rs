//! A seeded random number generator: a seed always gives the same results. Pure.

use crate::null_model::ResultProbabilities;
use crate::results::Verdict;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

#[derive(Debug, Clone)]
pub struct SeededRng(ChaCha8Rng);

impl SeededRng {
    /// A generator for one purpose; those of other purposes are independent streams.
    pub fn new(seed: u64, purpose: u64) -> Self {
        let mut stream = ChaCha8Rng::seed_from_u64(seed);
        stream.set_stream(purpose);
        Self(stream)
    }

    /// Uniform in [0, 1).
    pub fn share(&mut self) -> f64 {
        const STEPS: f64 = (1_u64 << 53) as f64;
        (self.0.next_u64() >> 11) as f64 / STEPS
    }

    /// Standard normal, by the method of Box and Muller (1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * libm::log(1.0 - self.share())).sqrt();
        radius * libm::cos(std::f64::consts::TAU * self.share())
    }

    /// A random result with these probabilities of the first side.
    pub fn verdict(&mut self, first: ResultProbabilities) -> Verdict {
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
