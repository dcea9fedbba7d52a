//! Horizontal bars, each with label and value.

use crate::colour::{INK, hue};
use crate::scale::Range;
use crate::svg::{Anchor, Svg};
use crate::text::{cut, left, number, pixels, right, some_of, widest};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bars {
    pub title: String,
    /// The unit of the values.
    pub unit: String,
    pub bars: Vec<Bar>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bar {
    pub label: String,
    /// Negative values have no bar.
    pub value: f64,
    /// The text beside the bar, if not the number.
    pub text: Option<String>,
}

impl Bar {
    pub fn new(label: impl Into<String>, value: f64) -> Self {
        Self {
            label: label.into(),
            value,
            text: None,
        }
    }

    fn value_text(&self) -> String {
        self.text.clone().unwrap_or_else(|| number(self.value))
    }
}

const WIDTH: f64 = 640.0;
const STEP: f64 = 24.0;
const LABEL_COLUMNS_MAX: usize = 40;
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

impl Bars {
    pub fn svg(&self) -> String {
        let height = (self.bars.len() as f64 * STEP).max(STEP) + 4.0;
        let labels: Vec<String> = self
            .bars
            .iter()
            .map(|bar| cut(&bar.label, LABEL_COLUMNS_MAX))
            .collect();
        let room = |texts: &[String]| texts.iter().map(|text| pixels(text)).fold(0.0, f64::max);
        let value_text: Vec<String> = self.bars.iter().map(Bar::value_text).collect();
        let from = room(&labels) + 12.0;
        let to = WIDTH - room(&value_text) - 10.0;
        let range = self.range();
        let mut svg = Svg::new("bars", WIDTH, height, &self.title, &self.alternative());
        for (place, ((bar, label), value_text)) in
            self.bars.iter().zip(&labels).zip(&value_text).enumerate()
        {
            let top = place as f64 * STEP + 4.0;
            let end = range.place(bar.value, from, to.max(from));
            svg.text(from - 8.0, top + 13.0, Anchor::End, &INK, label);
            svg.rect(
                (from, top),
                (end - from, STEP - 7.0),
                &hue(0),
                &format!("{}: {value_text}", bar.label),
            );
            svg.text(end + 6.0, top + 13.0, Anchor::Start, &INK, value_text);
        }
        svg.finish()
    }

    pub fn alternative(&self) -> String {
        if self.bars.is_empty() {
            return "There is nothing to show yet.".to_owned();
        }
        let all = self
            .bars
            .iter()
            .map(|bar| format!("{}: {}", bar.label, bar.value_text()));
        let unit = if self.unit.is_empty() {
            String::new()
        } else {
            format!("{}. ", self.unit)
        };
        format!("{unit}{}.", some_of(all, 30))
    }

    /// One line for each bar.
    pub fn sketch(&self, width: usize) -> String {
        let labels = widest(
            self.bars.iter().map(|bar| bar.label.as_str()),
            width * 2 / 5,
        );
        let value_text: Vec<String> = self.bars.iter().map(Bar::value_text).collect();
        let numbers = widest(value_text.iter().map(String::as_str), width / 3);
        let columns = width.saturating_sub(labels + numbers + 4);
        let range = self.range();
        let lines = self.bars.iter().zip(&value_text).map(|(bar, value_text)| {
            let eighths = (range.share(bar.value) * (columns * 8) as f64).round() as usize;
            let part = EIGHTHS.get(eighths % 8).copied().unwrap_or_default();
            let drawn = "█".repeat(eighths / 8) + part;
            let line = format!(
                "{}  {}  {}",
                left(&bar.label, labels),
                left(&drawn, columns),
                right(value_text, numbers)
            );
            cut(line.trim_end(), width)
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    fn range(&self) -> Range {
        let range = Range::of(self.bars.iter().map(|bar| bar.value), true);
        Range { low: 0.0, ..range }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bars() -> Bars {
        let bar = |label: &str, value, text: Option<&str>| Bar {
            label: label.into(),
            value,
            text: text.map(Into::into),
        };
        Bars {
            title: "Errors by kind".into(),
            unit: "matches".into(),
            bars: vec![
                bar("silent", 12.0, None),
                bar("<late>", 3.0, Some("3 of 40")),
                bar("none", 0.0, None),
            ],
        }
    }

    #[test]
    fn each_bar_has_its_label_and_its_value() {
        insta::assert_snapshot!("bars_svg", bars().svg());
        insta::assert_snapshot!("bars_sketch", bars().sketch(44));
    }

    #[test]
    fn no_bars_are_said_to_be_none() {
        assert!(Bars::default().svg().contains("nothing to show yet"));
        assert_eq!(Bars::default().sketch(40), "");
    }

    #[test]
    fn a_narrow_terminal_is_not_overrun() {
        for width in [8, 16, 30] {
            let sketch = bars().sketch(width);
            assert!(
                sketch.lines().all(|line| crate::text::width(line) <= width),
                "{width}:\n{sketch}"
            );
        }
    }
}
