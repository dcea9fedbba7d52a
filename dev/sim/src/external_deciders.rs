//! External deciders of players, sound and unsound: late, silent, repeating and contradicting themselves, choosing illegal
//! moves.

use super::faults::pick;
use matchday_core::entropy::Entropy;

/// Who decides for a player.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decider {
    /// The player itself, by its strategy.
    Own,
    /// An external decider, which answers this percentage of requests soundly.
    External {
        /// From 0 to 100.
        sound_percent: u64,
    },
}

impl Decider {
    /// A random decider: `Own` in most cases.
    pub fn drawn(chance: &mut Entropy) -> Self {
        if chance.chance(60) {
            return Self::Own;
        }
        Self::External {
            sound_percent: pick(chance, &[0, 50, 90, 100]).copied().unwrap_or(50),
        }
    }
}

/// The unsound way in which a request is answered.
#[derive(Debug, Clone, Copy)]
pub(super) enum UnsoundAnswer {
    Late,
    Never,
    Twice,
    NoMove,
    Fails,
}

pub(super) const UNSOUND_ANSWERS: [UnsoundAnswer; 5] = [
    UnsoundAnswer::Late,
    UnsoundAnswer::Never,
    UnsoundAnswer::Twice,
    UnsoundAnswer::NoMove,
    UnsoundAnswer::Fails,
];
