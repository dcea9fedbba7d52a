//! The draws that a player remembers, with running counts, so that majority and most frequent successor take constant
//! time. Pure.

use matchday_core::game::past::GAMES_MAX;
use matchday_core::protocol::messages::Parity;

/// The longest pattern whose successors are counted.
pub(crate) const PATTERN_LEN: usize = 3;
/// Larger than the memory, so that the next slot is always free.
const RING: usize = 1024;
const WORDS: usize = RING / 64;
const _: () = assert!(GAMES_MAX < RING, "the ring must hold every game that is remembered");

#[derive(Debug, Clone)]
pub(crate) struct Draws {
    /// Ring buffer of bits: set if the draw was odd.
    ring: [u64; WORDS],
    /// The number of draws so far, forgotten ones included.
    total: usize,
    /// The last draws, the latest in the lowest bit.
    recent: usize,
    /// The number of even draws minus the number of odd ones.
    lead: i32,
    /// The same for the draws that followed each pattern of length one, two and three.
    after: [[i32; 1 << PATTERN_LEN]; PATTERN_LEN],
}

impl Default for Draws {
    fn default() -> Self {
        Self { ring: [0; WORDS], total: 0, recent: 0, lead: 0, after: [[0; 1 << PATTERN_LEN]; PATTERN_LEN] }
    }
}

fn ahead(lead: i32) -> Option<Parity> {
    match lead {
        0 => None,
        1.. => Some(Parity::Even),
        _ => Some(Parity::Odd),
    }
}

fn weight(bit: usize) -> i32 {
    if bit == 0 { 1 } else { -1 }
}

fn last(bits: usize, length: usize) -> usize {
    bits & ((1 << length) - 1)
}

impl Draws {
    pub(crate) fn clear(&mut self) {
        // The ring is written before it is read.
        self.total = 0;
        self.recent = 0;
        self.lead = 0;
        self.after = [[0; 1 << PATTERN_LEN]; PATTERN_LEN];
    }

    pub(crate) fn push(&mut self, drawn: Parity) {
        let bit = usize::from(drawn == Parity::Odd);
        let known = self.total.min(GAMES_MAX);
        for (length, after) in (1..=PATTERN_LEN.min(known)).zip(&mut self.after) {
            if let Some(lead) = after.get_mut(last(self.recent, length)) {
                *lead += weight(bit);
            }
        }
        if let Some(word) = self.ring.get_mut(self.total % RING / 64) {
            let place = self.total % 64;
            *word = *word & !(1 << place) | (bit as u64) << place;
        }
        self.lead += weight(bit);
        self.recent = last(self.recent << 1 | bit, PATTERN_LEN);
        self.total += 1;
        if self.total > GAMES_MAX {
            self.forget(self.total - GAMES_MAX - 1);
        }
    }

    /// Removes the oldest draw, and the patterns that begin with it.
    fn forget(&mut self, oldest: usize) {
        let mut run = self.at(oldest);
        self.lead -= weight(run);
        for length in 1..=PATTERN_LEN {
            let next = self.at(oldest + length);
            if let Some(lead) = self.after.get_mut(length - 1).and_then(|after| after.get_mut(run)) {
                *lead -= weight(next);
            }
            run = run << 1 | next;
        }
    }

    fn at(&self, place: usize) -> usize {
        let word = self.ring.get(place % RING / 64).copied().unwrap_or(0);
        usize::from(word >> (place % 64) & 1 == 1)
    }

    pub(crate) fn majority(&self) -> Option<Parity> {
        ahead(self.lead)
    }

    /// The most frequent successor of the last three draws; without one, of the last two, or of the last.
    pub(crate) fn successor(&self) -> Option<Parity> {
        (1..=PATTERN_LEN.min(self.total)).rev().find_map(|length| {
            let after = self.after.get(length - 1)?;
            ahead(*after.get(last(self.recent, length))?)
        })
    }
}
