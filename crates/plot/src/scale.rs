//! Scales: values to positions, and round ticks. Pure.

/// A range of values. Never empty, which prevents division by zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Range {
    /// The range of the finite values, with zero if `from_zero`.
    pub(crate) fn of(values: impl Iterator<Item = f64>, from_zero: bool) -> Self {
        let start = if from_zero {
            (0.0, 0.0)
        } else {
            (f64::INFINITY, f64::NEG_INFINITY)
        };
        let finite = values.filter(|value| value.is_finite());
        let (low, high) = finite.fold(start, |(low, high), value| {
            (low.min(value), high.max(value))
        });
        if low > high {
            Self {
                low: 0.0,
                high: 1.0,
            }
        } else {
            Self { low, high }.with_room()
        }
    }

    fn with_room(self) -> Self {
        if self.high > self.low {
            self
        } else {
            Self {
                low: self.low,
                high: self.low + 1.0,
            }
        }
    }

    /// Extended to round numbers.
    pub(crate) fn rounded(self, steps: usize) -> Self {
        let step = self.step(steps);
        Self {
            low: (self.low / step).floor() * step,
            high: (self.high / step).ceil() * step,
        }
    }

    /// The position of a value, from 0 to 1.
    pub(crate) fn share(self, value: f64) -> f64 {
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    /// The position of a value between two coordinates.
    pub(crate) fn place(self, value: f64, from: f64, to: f64) -> f64 {
        from + self.share(value) * (to - from)
    }

    /// About so many round ticks.
    pub(crate) fn ticks(self, steps: usize) -> Vec<f64> {
        let step = self.step(steps);
        let first = (self.low / step).ceil();
        let count = ((self.high / step).floor() - first).clamp(0.0, 100.0) as usize;
        (0..=count).map(|n| (first + n as f64) * step).collect()
    }

    /// 1, 2 or 5 times a power of ten.
    fn step(self, steps: usize) -> f64 {
        let raw = (self.high - self.low) / steps.max(1) as f64;
        let power = libm::pow(10.0, libm::log10(raw).floor());
        let step = match raw / power {
            share if share <= 1.0 => 1.0,
            share if share <= 2.0 => 2.0,
            share if share <= 5.0 => 5.0,
            _ => 10.0,
        };
        step * power
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers_within_the_range() {
        assert_eq!(
            Range {
                low: 0.0,
                high: 98.0
            }
            .ticks(5),
            [0.0, 20.0, 40.0, 60.0, 80.0]
        );
        assert_eq!(
            Range {
                low: 1.0,
                high: 3.0
            }
            .ticks(4),
            [1.0, 1.5, 2.0, 2.5, 3.0]
        );
        assert_eq!(
            Range {
                low: 0.0,
                high: 98.0
            }
            .rounded(5),
            Range {
                low: 0.0,
                high: 100.0
            }
        );
    }

    #[test]
    fn a_range_is_never_empty() {
        assert_eq!(
            Range::of([].into_iter(), false),
            Range {
                low: 0.0,
                high: 1.0
            }
        );
        assert_eq!(
            Range::of([7.0, f64::NAN].into_iter(), false),
            Range {
                low: 7.0,
                high: 8.0
            }
        );
        assert_eq!(
            Range::of([0.0].into_iter(), true),
            Range {
                low: 0.0,
                high: 1.0
            }
        );
    }
}
