//! Histogram, such as response times and their deadline.

use crate::Mark;
use crate::bars::{Bar, Bars};
use crate::colour::hue;
use crate::frame::{Frame, STEPS_X, STEPS_Y, margin};
use crate::scale::Range;
use crate::svg::Svg;
use crate::text::{number, some_of};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Histogram {
    pub title: String,
    /// The labels of the axes.
    pub x: String,
    pub y: String,
    pub bins: Vec<Bin>,
    /// Vertical lines.
    pub marks: Vec<Mark>,
}

/// The count of values in `from..to`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Bin {
    pub from: f64,
    pub to: f64,
    pub count: u64,
}

const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 220.0;

impl Bin {
    /// About so many bins with round bounds.
    pub fn of(values: &[f64], about: usize) -> Vec<Self> {
        Self::sorted(values, about, false)
    }

    /// The same, starting at zero.
    pub fn from_zero(values: &[f64], about: usize) -> Vec<Self> {
        Self::sorted(values, about, true)
    }

    fn sorted(values: &[f64], about: usize, from_zero: bool) -> Vec<Self> {
        let finite = || values.iter().copied().filter(|value| value.is_finite());
        if finite().next().is_none() {
            return Vec::new();
        }
        let edges = Range::of(finite(), from_zero).rounded(about).ticks(about);
        let mut bins: Vec<Self> = edges
            .iter()
            .zip(edges.iter().skip(1))
            .map(|(from, to)| Self {
                from: *from,
                to: *to,
                count: 0,
            })
            .collect();
        let Some((first, width)) = bins.first().map(|bin| (bin.from, bin.to - bin.from)) else {
            return bins;
        };
        let last = bins.len().saturating_sub(1);
        for value in finite() {
            // The maximum belongs to the last bin.
            let place = (((value - first) / width).floor().max(0.0) as usize).min(last);
            if let Some(bin) = bins.get_mut(place) {
                bin.count += 1;
            }
        }
        bins
    }

    fn label(&self) -> String {
        format!("{} to {}", number(self.from), number(self.to))
    }
}

impl Histogram {
    pub fn svg(&self) -> String {
        let edges = self.bins.iter().flat_map(|bin| [bin.from, bin.to]);
        let x = Range::of(edges.chain(self.marks.iter().map(|mark| mark.at)), false);
        let y = Range::of(self.bins.iter().map(|bin| bin.count as f64), true).rounded(STEPS_Y);
        let x = if self.bins.is_empty() {
            x.rounded(STEPS_X)
        } else {
            x
        };
        let frame = Frame {
            left: margin(y),
            right: WIDTH - 12.0,
            top: 28.0,
            bottom: HEIGHT - 42.0,
            x,
            y,
            counts: true,
        };
        let mut svg = Svg::new("histogram", WIDTH, HEIGHT, &self.title, &self.alternative());
        frame.draw(&mut svg, &self.x, &self.y);
        for bin in self.bins.iter().filter(|bin| bin.count > 0) {
            let (left, top) = frame.at(bin.from, bin.count as f64);
            let (right, _) = frame.at(bin.to, 0.0);
            // Thin bars must stay visible.
            let size = ((right - left - 1.0).max(1.5), frame.bottom - top);
            svg.rect(
                (left, top),
                size,
                &hue(0),
                &format!("{}: {}", bin.label(), bin.count),
            );
        }
        for mark in &self.marks {
            frame.upright(&mut svg, mark);
        }
        svg.finish()
    }

    pub fn alternative(&self) -> String {
        let counted = self.bins.iter().filter(|bin| bin.count > 0);
        let told = some_of(
            counted.map(|bin| format!("{}: {}", bin.label(), bin.count)),
            30,
        );
        if told.is_empty() {
            return format!("{} by {}. There is nothing to show yet.", self.y, self.x);
        }
        let marks: String = self
            .marks
            .iter()
            .map(|mark| format!(" {} at {}.", mark.label, number(mark.at)))
            .collect();
        format!("{} by {}. {told}.{marks}", self.y, self.x)
    }

    /// One line for each bin.
    pub fn sketch(&self, width: usize) -> String {
        let bars = self
            .bins
            .iter()
            .map(|bin| Bar::new(bin.label(), bin.count as f64))
            .collect();
        Bars {
            bars,
            ..Bars::default()
        }
        .sketch(width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times() -> Histogram {
        let values: Vec<f64> = (0..50_u32).map(|n| f64::from(n * n % 97)).collect();
        Histogram {
            title: "Answer times".into(),
            x: "ms".into(),
            y: "answers".into(),
            bins: Bin::of(&values, 8),
            marks: vec![Mark::new("deadline", 120.0)],
        }
    }

    #[test]
    fn values_and_a_deadline() {
        insta::assert_snapshot!("histogram_svg", times().svg());
        insta::assert_snapshot!("histogram_sketch", times().sketch(50));
    }

    #[test]
    fn every_value_is_in_one_bin() {
        for values in [
            vec![],
            vec![3.0],
            vec![0.0, 10.0, 10.0],
            vec![-1.5, 2.0, f64::NAN, 1e6],
        ] {
            let finite = values
                .iter()
                .filter(|value: &&f64| value.is_finite())
                .count() as u64;
            for bins in [Bin::of(&values, 10), Bin::from_zero(&values, 10)] {
                assert_eq!(
                    bins.iter().map(|bin| bin.count).sum::<u64>(),
                    finite,
                    "{values:?}: {bins:?}"
                );
            }
        }
    }

    #[test]
    fn no_values_are_said_to_be_none() {
        let empty = Histogram {
            bins: Vec::new(),
            ..times()
        };
        assert!(empty.svg().contains("nothing to show yet"));
    }
}
