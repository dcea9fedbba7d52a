//! The axes of a plot: grid, ticks, labels. Pure.

use crate::Mark;
use crate::colour::{GRID, INK, MARK, QUIET};
use crate::scale::Range;
use crate::svg::{Anchor, Svg};
use crate::text::{number, pixels};

/// The plot area within the drawing, and the ranges of its axes.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
    pub(crate) x: Range,
    pub(crate) y: Range,
    /// Whether the y axis has integer ticks only.
    pub(crate) counts: bool,
}

/// About how many ticks an axis has.
pub(crate) const STEPS_X: usize = 8;
pub(crate) const STEPS_Y: usize = 5;

impl Frame {
    pub(crate) fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (
            self.x.place(x, self.left, self.right),
            self.y.place(y, self.bottom, self.top),
        )
    }

    pub(crate) fn draw(&self, svg: &mut Svg, x_label: &str, y_label: &str) {
        for value in self
            .y
            .ticks(STEPS_Y)
            .into_iter()
            .filter(|value| !self.counts || value.fract() == 0.0)
        {
            let (_, y) = self.at(self.x.low, value);
            svg.line((self.left, y), (self.right, y), &GRID);
            svg.text(
                self.left - 6.0,
                y + 4.0,
                Anchor::End,
                &QUIET,
                &number(value),
            );
        }
        self.along_x(svg, x_label);
        svg.text(self.left, self.top - 10.0, Anchor::Start, &QUIET, y_label);
    }

    /// Draws the x axis alone.
    pub(crate) fn along_x(&self, svg: &mut Svg, label: &str) {
        svg.line((self.left, self.bottom), (self.right, self.bottom), &INK);
        for value in self.x.ticks(STEPS_X) {
            let (x, _) = self.at(value, self.y.low);
            svg.line((x, self.bottom), (x, self.bottom + 4.0), &INK);
            svg.text(
                x,
                self.bottom + 17.0,
                Anchor::Middle,
                &QUIET,
                &number(value),
            );
        }
        svg.text(self.right, self.bottom + 34.0, Anchor::End, &QUIET, label);
    }

    /// A vertical line, with its label on the side where it fits.
    pub(crate) fn upright(&self, svg: &mut Svg, mark: &Mark) {
        let (x, _) = self.at(mark.at, self.y.low);
        svg.line((x, self.top), (x, self.bottom), &MARK);
        let fits = x + 4.0 + pixels(&mark.label) <= self.right;
        let (x, anchor) = if fits {
            (x + 4.0, Anchor::Start)
        } else {
            (x - 4.0, Anchor::End)
        };
        svg.text(x, self.top + 10.0, anchor, &MARK, &mark.label);
    }

    pub(crate) fn across(&self, svg: &mut Svg, mark: &Mark) {
        let (_, y) = self.at(self.x.low, mark.at);
        svg.line((self.left, y), (self.right, y), &MARK);
        svg.text(self.left + 4.0, y - 4.0, Anchor::Start, &MARK, &mark.label);
    }
}

/// The width of the widest tick label of the y axis.
pub(crate) fn margin(y: Range) -> f64 {
    let widest = y
        .ticks(STEPS_Y)
        .into_iter()
        .map(|value| pixels(&number(value)))
        .fold(0.0, f64::max);
    widest + 12.0
}
