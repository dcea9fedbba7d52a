//! Entropy streams: one for every series and every league, derived from the seed, the purpose and the number, so that
//! results do not depend on the order of execution.

use matchday_core::entropy::Entropy;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The series of the pair with this number.
    Duel(u64),
    League,
    Openings,
}

pub(crate) fn stream(seed: u64, purpose: Purpose, number: u64) -> Entropy {
    let (label, pair) = match purpose {
        Purpose::Duel(pair) => (*b"md-duels", pair),
        Purpose::League => (*b"md-leagu", 0),
        Purpose::Openings => (*b"md-openi", 0),
    };
    let mut bytes = [0; 32];
    let parts = [
        label,
        seed.to_le_bytes(),
        pair.to_le_bytes(),
        number.to_le_bytes(),
    ];
    for (place, part) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(parts) {
        *place = part;
    }
    Entropy::from_seed(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_streams_begin_alike() {
        let mut seen = BTreeSet::new();
        for seed in 0..3 {
            for purpose in [
                Purpose::Duel(0),
                Purpose::Duel(1),
                Purpose::Duel(2),
                Purpose::League,
            ] {
                for number in 0..10 {
                    assert!(seen.insert(stream(seed, purpose, number).next_u64()));
                }
            }
        }
    }
}
