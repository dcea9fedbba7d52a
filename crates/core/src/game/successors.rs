//! What followed what in a run of choices, counted as it goes on: what strategies play by that look for patterns. Pure.

use std::ops::RangeInclusive;

/// The longest pattern.
const LENGTH_MAX: u32 = 3;

/// How many patterns there are that are shorter than this: a choice is one of four.
pub(super) const fn patterns_below(length: u32) -> usize {
    (4_usize.pow(length) - 1) / 3
}

/// Choices have numbers below 3. `PATTERNS` bounds the patterns: see [`patterns_below`].
#[derive(Debug, Clone)]
pub(super) struct Successors<const PATTERNS: usize> {
    /// The choices so far, two bits each, the latest lowest.
    recent: usize,
    made: u32,
    /// How often each choice followed each pattern, the empty one first.
    followed: [[u32; 3]; PATTERNS],
}

impl<const PATTERNS: usize> Default for Successors<PATTERNS> {
    fn default() -> Self {
        Self {
            recent: 0,
            made: 0,
            followed: [[0; 3]; PATTERNS],
        }
    }
}

impl<const PATTERNS: usize> Successors<PATTERNS> {
    pub(super) fn push(&mut self, choice: usize) {
        for length in 0..=LENGTH_MAX.min(self.made) {
            let place = self.place(length);
            let followed = self.followed.get_mut(place);
            followed
                .and_then(|counts| counts.get_mut(choice))
                .into_iter()
                .for_each(|count| *count += 1);
        }
        self.recent = self.recent << 2 | choice;
        self.made += 1;
    }

    /// Where the last choices, so many of them, stand among the patterns.
    fn place(&self, length: u32) -> usize {
        patterns_below(length) + (self.recent & ((1 << (2 * length)) - 1))
    }

    pub(super) fn last(&self) -> Option<usize> {
        (self.made > 0).then_some(self.recent & 3)
    }

    pub(super) fn has(&self, choice: usize) -> bool {
        self.followed
            .first()
            .and_then(|counts| counts.get(choice))
            .is_some_and(|count| *count > 0)
    }

    /// What most often followed the last choices, as many of them as the longest of these lengths; where that was nothing, or
    /// a tie, fewer of them.
    pub(super) fn expected(&self, lengths: RangeInclusive<u32>) -> Option<usize> {
        let mut known = lengths.rev().filter(|length| *length <= self.made);
        known.find_map(|length| most_common(self.followed.get(self.place(length))?))
    }
}

/// `None` if it is a tie.
fn most_common(counts: &[u32; 3]) -> Option<usize> {
    match *counts {
        [first, second, third] if first > second && first > third => Some(0),
        [first, second, third] if second > first && second > third => Some(1),
        [first, second, third] if third > first && third > second => Some(2),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_followed_the_last_choices_is_expected_again() {
        for (made, expected) in [
            (&[][..], None),
            (&[0], Some(0)),
            (&[0, 1], None),
            (&[0, 1, 0], Some(1)),
            (&[0, 0, 1, 0, 0, 1], Some(0)),
            (&[0, 1, 0, 1, 0, 0, 1, 0], Some(1)),
        ] {
            let mut successors = Successors::<{ patterns_below(3) }>::default();
            made.iter().for_each(|choice| successors.push(*choice));
            assert_eq!(successors.expected(0..=2), expected, "{made:?}");
        }
    }
}
