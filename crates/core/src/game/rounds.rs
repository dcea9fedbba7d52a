//! Positions of the games of repeated simultaneous choice: choices are numbers, and what followed what is counted as the
//! match goes on. Pure.

use super::fast::Position;
use super::repeated::Matrix;
use super::{Outcome, Seat, Turn};

/// The most options that such a game has.
const OPTIONS_MAX: usize = 3;

#[derive(Debug, Clone)]
pub(super) struct Rounds {
    options: u32,
    rounds_left: u32,
    payoff: [[[u32; 2]; OPTIONS_MAX]; OPTIONS_MAX],
    totals: [u32; 2],
    /// What A has chosen, until B has.
    of_a: u32,
    made: [Choices; 2],
}

/// How often each option was counted, a byte each.
#[derive(Debug, Clone, Copy, Default)]
struct Counts(u32);

impl Counts {
    fn add(&mut self, option: u32) {
        self.0 += 1 << (8 * option);
    }

    fn has(self, option: u32) -> bool {
        self.0 >> (8 * option) & 0xFF != 0
    }

    /// `None` if it is a tie.
    fn most_common(self) -> Option<u32> {
        let [first, second, third, _] = self.0.to_le_bytes();
        match (first, second, third) {
            (first, second, third) if first > second && first > third => Some(0),
            (first, second, third) if second > first && second > third => Some(1),
            (first, second, third) if third > first && third > second => Some(2),
            _ => None,
        }
    }
}

/// What one seat has chosen.
#[derive(Debug, Clone, Default)]
pub(super) struct Choices {
    /// The last two, the latest first.
    last: [Option<u32>; 2],
    all: Counts,
    after_one: [Counts; OPTIONS_MAX],
    after_two: [Counts; OPTIONS_MAX * OPTIONS_MAX],
}

fn place(option: u32) -> usize {
    usize::try_from(option).unwrap_or_default()
}

impl Choices {
    pub(super) fn last(&self) -> Option<u32> {
        let [last, _] = self.last;
        last
    }

    pub(super) fn has(&self, option: u32) -> bool {
        self.all.has(option)
    }

    fn after_last(&self) -> Option<usize> {
        self.last().map(place)
    }

    fn after_last_two(&self) -> Option<usize> {
        let [last, before] = self.last;
        Some(place(before?) * OPTIONS_MAX + place(last?))
    }

    fn push(&mut self, option: u32) {
        let two = self.after_last_two();
        two.and_then(|place| self.after_two.get_mut(place)).into_iter().for_each(|counts| counts.add(option));
        let one = self.after_last();
        one.and_then(|place| self.after_one.get_mut(place)).into_iter().for_each(|counts| counts.add(option));
        self.all.add(option);
        self.last = [Some(option), self.last()];
    }

    /// What most often came after the last two choices; where that was nothing, or a tie, after the last one, and at last
    /// altogether.
    pub(super) fn predicted(&self) -> Option<u32> {
        let two = self.after_last_two().and_then(|place| self.after_two.get(place)?.most_common());
        let one = || self.after_last().and_then(|place| self.after_one.get(place)?.most_common());
        two.or_else(one).or_else(|| self.most_common())
    }

    pub(super) fn most_common(&self) -> Option<u32> {
        self.all.most_common()
    }
}

impl Rounds {
    pub(super) fn new(matrix: &Matrix) -> Self {
        let mut payoff = [[[0; 2]; OPTIONS_MAX]; OPTIONS_MAX];
        for (row, a) in payoff.iter_mut().zip(matrix.options) {
            for (cell, b) in row.iter_mut().zip(matrix.options) {
                *cell = (matrix.payoff)(a, b);
            }
        }
        let options = u32::try_from(matrix.options.len()).unwrap_or_default();
        Self {
            options,
            rounds_left: matrix.rounds,
            payoff,
            totals: [0; 2],
            of_a: 0,
            made: Default::default(),
        }
    }

    /// What this seat has chosen so far.
    pub(super) fn made_by(&self, seat: Seat) -> &Choices {
        seat.of(&self.made)
    }
}

impl Position for Rounds {
    fn turn(&self) -> Turn {
        if self.rounds_left > 0 { Turn::Both } else { Turn::Over }
    }

    fn options(&self) -> u32 {
        self.options
    }

    fn play(&mut self, seat: Seat, option: u32) {
        if seat == Seat::A {
            self.of_a = option;
            return;
        }
        let scored = self.payoff.get(place(self.of_a)).and_then(|row| row.get(place(option)));
        let ([a, b], [more_a, more_b]) = (self.totals, scored.copied().unwrap_or_default());
        self.totals = [a + more_a, b + more_b];
        let [of_a, of_b] = &mut self.made;
        of_a.push(self.of_a);
        of_b.push(option);
        self.rounds_left -= 1;
    }

    fn outcome(&self) -> Outcome {
        let [a, b] = self.totals;
        match a.cmp(&b) {
            std::cmp::Ordering::Greater => Outcome::Win(Seat::A),
            std::cmp::Ordering::Less => Outcome::Win(Seat::B),
            std::cmp::Ordering::Equal => Outcome::Draw,
        }
    }

    fn totals(&self) -> Option<[u32; 2]> {
        Some(self.totals)
    }
}
