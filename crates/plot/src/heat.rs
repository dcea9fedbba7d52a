//! Heat map, such as a cross table.

use crate::colour::{INK, SHADES, heat, shade};
use crate::scale::Range;
use crate::svg::{Anchor, Svg, place};
use crate::text::{cut, left, number, pixels, right, some_of, widest};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct HeatMap {
    pub title: String,
    pub rows: Vec<String>,
    pub columns: Vec<String>,
    /// One row of cells for each row; `None` is left blank.
    pub cells: Vec<Vec<Option<HeatCell>>>,
    /// The ends of the scale: value and label.
    pub low: (f64, String),
    pub high: (f64, String),
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct HeatCell {
    pub value: f64,
    /// The text in the cell, where it fits.
    pub text: String,
}

impl HeatCell {
    pub fn new(value: f64, text: impl Into<String>) -> Self {
        Self {
            value,
            text: text.into(),
        }
    }
}

/// With more rows or columns, cells are too small for text and tooltips.
const WRITTEN_MAX: usize = 30;
const LABEL_COLUMNS_MAX: usize = 20;
/// The height of the legend.
const KEY: f64 = 34.0;

impl HeatMap {
    pub fn svg(&self) -> String {
        let wide = self.rows.len().max(self.columns.len());
        let (step, written) = match wide {
            0..=12 => (40.0, true),
            13..=WRITTEN_MAX => (26.0, true),
            31..=60 => (14.0, false),
            _ => (9.0, false),
        };
        let [rows, columns] = [&self.rows, &self.columns].map(|labels| {
            labels
                .iter()
                .map(|label| cut(label, LABEL_COLUMNS_MAX))
                .collect::<Vec<_>>()
        });
        let room =
            |labels: &[String]| labels.iter().map(|label| pixels(label)).fold(0.0, f64::max) + 10.0;
        let x0 = room(&rows);
        let y0 = room(&columns).min(150.0);
        let width = (x0 + columns.len() as f64 * step + 12.0).max(320.0);
        let height = y0 + rows.len() as f64 * step + KEY;
        let mut svg = Svg::new("heat-map", width, height, &self.title, &self.alternative());
        let letters = match step {
            step if step > 20.0 => "12",
            step if step > 10.0 => "10",
            _ => "8",
        };
        svg.open("g", &[("font-size", letters)]);
        for (number, label) in rows.iter().enumerate() {
            svg.text(
                x0 - 6.0,
                y0 + (number as f64 + 0.5) * step + 4.0,
                Anchor::End,
                &INK,
                label,
            );
        }
        for (number, label) in columns.iter().enumerate() {
            let x = x0 + (number as f64 + 0.5) * step + 4.0;
            let y = y0 - 6.0;
            let turn = format!("translate({} {}) rotate(-90)", place(x), place(y));
            svg.leaf("text", &[("transform", &turn)], label);
        }
        svg.close("g");
        if written {
            self.cells_written(&mut svg, (x0, y0), step)
        } else {
            self.cells_small(&mut svg, (x0, y0), step)
        }
        self.key(&mut svg, height);
        svg.finish()
    }

    fn cells_written(&self, svg: &mut Svg, (x0, y0): (f64, f64), step: f64) {
        for (row, column, cell) in self.all() {
            let x = x0 + column as f64 * step;
            let y = y0 + row as f64 * step;
            let (fill, ink) = heat(self.shade(cell));
            let name =
                |labels: &[String], number: usize| labels.get(number).cloned().unwrap_or_default();
            let hint = format!(
                "{}, {}: {}",
                name(&self.rows, row),
                name(&self.columns, column),
                cell.text
            );
            svg.rect((x + 0.5, y + 0.5), (step - 1.0, step - 1.0), &fill, &hint);
            if pixels(&cell.text) <= step {
                svg.text(
                    x + step / 2.0,
                    y + step / 2.0 + 4.0,
                    Anchor::Middle,
                    &ink,
                    &cell.text,
                );
            }
        }
    }

    /// One path for each shade instead of thousands of elements.
    fn cells_small(&self, svg: &mut Svg, (x0, y0): (f64, f64), step: f64) {
        let mut paths = vec![String::new(); SHADES];
        for (row, column, cell) in self.all() {
            let x = place(x0 + column as f64 * step);
            let y = place(y0 + row as f64 * step);
            if let Some(path) = paths.get_mut(self.shade(cell)) {
                let side = place(step - 1.0);
                path.push_str(&format!("M{x} {y}h{side}v{side}h-{side}z"));
            }
        }
        for (shade, path) in paths
            .iter()
            .enumerate()
            .filter(|(_, path)| !path.is_empty())
        {
            svg.path(path, &heat(shade).0, None, "");
        }
    }

    fn key(&self, svg: &mut Svg, height: f64) {
        let low = self.end(&self.low);
        let high = self.end(&self.high);
        let from = pixels(&low) + 8.0;
        let top = height - 20.0;
        svg.text(0.0, top + 11.0, Anchor::Start, &INK, &low);
        for shade in 0..SHADES {
            svg.rect(
                (from + shade as f64 * 14.0, top),
                (14.0, 14.0),
                &heat(shade).0,
                "",
            );
        }
        svg.text(
            from + SHADES as f64 * 14.0 + 8.0,
            top + 11.0,
            Anchor::Start,
            &INK,
            &high,
        );
    }

    fn end(&self, (value, words): &(f64, String)) -> String {
        if words.is_empty() {
            number(*value)
        } else {
            words.clone()
        }
    }

    pub fn alternative(&self) -> String {
        let name =
            |labels: &[String], number: usize| labels.get(number).cloned().unwrap_or_default();
        let told = self.all().map(|(row, column, cell)| {
            format!(
                "{} against {}: {}",
                name(&self.rows, row),
                name(&self.columns, column),
                cell.text
            )
        });
        match some_of(told, 60) {
            told if told.is_empty() => "There is nothing to show yet.".to_owned(),
            told => format!(
                "A matrix of {} rows and {} columns, from {} to {}. {told}.",
                self.rows.len(),
                self.columns.len(),
                self.end(&self.low),
                self.end(&self.high)
            ),
        }
    }

    /// Two or more characters for each cell: its text where that fits, else a shade.
    pub fn sketch(&self, width: usize) -> String {
        let texts = self.all().map(|(.., cell)| cell.text.as_str());
        let each = widest(texts, 8).max(2) + 1;
        let numbers = self.rows.len().to_string().len();
        let wanted = numbers + 1 + widest(self.rows.iter().map(String::as_str), width / 3);
        let written = wanted + 1 + self.columns.len() * each <= width;
        let each = if written { each } else { 2 };
        let labels = wanted.min(
            width
                .saturating_sub(1 + self.columns.len() * each)
                .max(numbers),
        );
        let shown = (width.saturating_sub(labels + 1) / each).min(self.columns.len());
        let mut lines = Vec::new();
        let head: String = (1..=shown)
            .map(|number| right(&(number % 100).to_string(), each))
            .collect();
        lines.push(format!("{}{head}", " ".repeat(labels + 1)));
        for (number, label) in self.rows.iter().enumerate() {
            let row = self.cells.get(number);
            let cells: String = (0..shown)
                .map(
                    |column| match row.and_then(|row| row.get(column)?.as_ref()) {
                        Some(cell) if written => right(&cell.text, each),
                        Some(cell) => {
                            right(SKETCHED.get(self.shade(cell)).copied().unwrap_or("?"), each)
                        }
                        None => right("·", each),
                    },
                )
                .collect();
            let number = right(&(number + 1).to_string(), numbers);
            // Labels that would be truncated to nothing are left out.
            let name = if labels > numbers + 2 {
                format!("{number} {label}")
            } else {
                number
            };
            lines.push(
                format!("{} {cells}", left(&name, labels))
                    .trim_end()
                    .to_owned(),
            );
        }
        if shown < self.columns.len() {
            lines.push(cut(
                &format!("{} more columns have no room", self.columns.len() - shown),
                width,
            ));
        }
        if !written {
            let ends = format!("░ {}  █ {}", self.end(&self.low), self.end(&self.high));
            lines.push(cut(&ends, width));
        }
        lines.join("\n")
    }

    fn all(&self) -> impl Iterator<Item = (usize, usize, &HeatCell)> {
        self.cells.iter().enumerate().flat_map(|(row, cells)| {
            cells
                .iter()
                .enumerate()
                .filter_map(move |(column, cell)| Some((row, column, cell.as_ref()?)))
        })
    }

    fn shade(&self, cell: &HeatCell) -> usize {
        let ends = [self.low.0, self.high.0].into_iter();
        shade(Range::of(ends, false).share(cell.value))
    }
}

const SKETCHED: [&str; SHADES] = ["░", "░", "░", "▒", "▒", "▓", "▓", "█", "█"];

#[cfg(test)]
mod tests {
    use super::*;

    fn cross(players: usize) -> HeatMap {
        let names: Vec<String> = (1..=players).map(|n| format!("P{n:02}")).collect();
        let cell = |row: usize, column: usize| {
            let points = [3, 1, 0][(row + column) % 3];
            (row != column).then(|| HeatCell::new(f64::from(points), points.to_string()))
        };
        HeatMap {
            title: "Who beat whom".into(),
            cells: (0..players)
                .map(|row| (0..players).map(|column| cell(row, column)).collect())
                .collect(),
            rows: names.clone(),
            columns: names,
            low: (0.0, "lost".into()),
            high: (3.0, "won".into()),
        }
    }

    #[test]
    fn a_small_matrix_is_written_on() {
        insta::assert_snapshot!("heat_svg", cross(3).svg());
        insta::assert_snapshot!("heat_sketch", cross(4).sketch(40));
    }

    #[test]
    fn a_large_matrix_is_a_path_for_each_shade() {
        let svg = cross(99).svg();
        assert!(svg.len() < 250_000, "{}", svg.len());
        assert_eq!(svg.matches("<path").count(), 3);
    }

    #[test]
    fn a_matrix_that_does_not_fit_is_shaded_and_then_cut() {
        insta::assert_snapshot!("heat_sketch_shaded", cross(12).sketch(34));
        insta::assert_snapshot!("heat_sketch_cut", cross(12).sketch(20));
    }

    #[test]
    fn an_empty_matrix_is_said_to_be_empty() {
        assert!(HeatMap::default().svg().contains("nothing to show yet"));
    }
}
