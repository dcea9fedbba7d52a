//! Dot plot with intervals.

use crate::Mark;
use crate::colour::{GRID, INK, hue};
use crate::frame::{Frame, STEPS_X};
use crate::scale::Range;
use crate::svg::{Anchor, Svg, place};
use crate::text::{cut, left, number, pixels, some_of, widest};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Dots {
    pub title: String,
    /// The label of the axis.
    pub x: String,
    pub dots: Vec<Dot>,
    /// Vertical lines.
    pub marks: Vec<Mark>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Dot {
    pub label: String,
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl Dot {
    pub fn new(label: impl Into<String>, value: f64, low: f64, high: f64) -> Self {
        Self {
            label: label.into(),
            value,
            low,
            high,
        }
    }

    fn value_text(&self) -> String {
        format!(
            "{}: {} ({} to {})",
            self.label,
            number(self.value),
            number(self.low),
            number(self.high)
        )
    }
}

const WIDTH: f64 = 640.0;
const STEP: f64 = 20.0;
const LABEL_COLUMNS_MAX: usize = 28;

impl Dots {
    pub fn svg(&self) -> String {
        let labels: Vec<String> = self
            .dots
            .iter()
            .map(|dot| cut(&dot.label, LABEL_COLUMNS_MAX))
            .collect();
        let left = labels.iter().map(|label| pixels(label)).fold(0.0, f64::max) + 12.0;
        let marks = if self.marks.is_empty() { 6.0 } else { 20.0 };
        let bottom = marks + self.dots.len().max(1) as f64 * STEP;
        let y = Range {
            low: 0.0,
            high: 1.0,
        };
        let frame = Frame {
            left,
            right: WIDTH - 16.0,
            top: 4.0,
            bottom,
            x: self.range().rounded(STEPS_X),
            y,
            counts: false,
        };
        let mut svg = Svg::new(
            "dots",
            WIDTH,
            bottom + 42.0,
            &self.title,
            &self.alternative(),
        );
        for value in frame.x.ticks(STEPS_X) {
            let (x, _) = frame.at(value, 0.0);
            svg.line((x, marks), (x, bottom), &GRID);
        }
        frame.along_x(&mut svg, &self.x);
        for mark in &self.marks {
            frame.upright(&mut svg, mark);
        }
        for (number, (dot, label)) in self.dots.iter().zip(&labels).enumerate() {
            let y = marks + (number as f64 + 0.5) * STEP;
            let [low, value, high] =
                [dot.low, dot.value, dot.high].map(|value| frame.at(value, 0.0).0);
            svg.text(left - 8.0, y + 4.0, Anchor::End, &INK, label);
            let path = format!("M{} {}H{}", place(low), place(y), place(high));
            svg.path(&path, &hue(0), Some("2"), &dot.value_text());
            let at = [("cx", place(value)), ("cy", place(y))];
            let mut attributes: Vec<_> = hue(0).attributes().collect();
            attributes.extend(at.iter().map(|(key, value)| (*key, value.as_str())));
            attributes.extend([("r", "4.5"), ("fill", "currentColor")]);
            svg.shape("circle", &attributes, &dot.value_text());
        }
        svg.finish()
    }

    pub fn alternative(&self) -> String {
        match some_of(self.dots.iter().map(Dot::value_text), 30) {
            told if told.is_empty() => "There is nothing to show yet.".to_owned(),
            told => format!("{}. {told}.", self.x),
        }
    }

    /// One line each: `Ada  ├───●──┤`.
    pub fn sketch(&self, width: usize) -> String {
        let labels = widest(
            self.dots.iter().map(|dot| dot.label.as_str()),
            width * 2 / 5,
        );
        let columns = width.saturating_sub(labels + 2).max(3);
        let range = self.range();
        let at = |value: f64| range.place(value, 0.0, columns as f64 - 1.0).round() as usize;
        let lines = self.dots.iter().map(|dot| {
            let low = at(dot.low);
            let value = at(dot.value);
            let high = at(dot.high);
            let sign = |column: usize| match column {
                column if column == value => '●',
                column if column == low => '├',
                column if column == high => '┤',
                column if column > low && column < high => '─',
                _ => ' ',
            };
            let drawn: String = (0..columns).map(sign).collect();
            format!("{}  {drawn}", left(&dot.label, labels))
                .trim_end()
                .to_owned()
        });
        let mut lines: Vec<String> = lines.collect();
        let low = number(range.low);
        let high = number(range.high);
        let words = left(
            &format!("{low} {}", self.x),
            columns.saturating_sub(high.len()),
        );
        lines.push(format!("{}  {words}{high}", " ".repeat(labels)));
        lines.join("\n")
    }

    fn range(&self) -> Range {
        let dots = self
            .dots
            .iter()
            .flat_map(|dot| [dot.low, dot.value, dot.high]);
        Range::of(dots.chain(self.marks.iter().map(|mark| mark.at)), false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratings() -> Dots {
        Dots {
            title: "Ratings".into(),
            x: "rating".into(),
            dots: vec![
                Dot::new("Ada", 1620.0, 1510.0, 1730.0),
                Dot::new("Grace & co", 1480.0, 1300.0, 1660.0),
            ],
            marks: vec![Mark::new("average", 1500.0)],
        }
    }

    #[test]
    fn a_value_stands_within_its_interval() {
        insta::assert_snapshot!("dots_svg", ratings().svg());
        insta::assert_snapshot!("dots_sketch", ratings().sketch(60));
    }

    #[test]
    fn none_are_said_to_be_none() {
        assert!(Dots::default().svg().contains("nothing to show yet"));
    }
}
