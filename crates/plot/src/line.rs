//! Line chart, such as points over rounds. The first lines have a colour and a label at their end instead of a
//! legend; the others are thin and grey.

use crate::Mark;
use crate::braille::Braille;
use crate::colour::{HUES, OTHER, hue};
use crate::frame::{Frame, STEPS_X, STEPS_Y, margin};
use crate::scale::Range;
use crate::svg::{Anchor, Svg, place};
use crate::text::{cut, left, number, pixels, right, some_of, widest};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct LineChart {
    pub title: String,
    /// The labels of the axes.
    pub x: String,
    pub y: String,
    /// Most important first.
    pub lines: Vec<Line>,
    /// Horizontal lines.
    pub marks: Vec<Mark>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Line {
    pub name: String,
    /// Ordered by x; points that are not finite are left out.
    pub points: Vec<(f64, f64)>,
}

impl Line {
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self {
            name: name.into(),
            points,
        }
    }

    fn drawn(&self) -> impl Iterator<Item = (f64, f64)> {
        self.points
            .iter()
            .copied()
            .filter(|(x, y)| x.is_finite() && y.is_finite())
    }

    fn end(&self) -> Option<(f64, f64)> {
        self.drawn().last()
    }
}

/// From one point of a line to the next.
type Segment = [(f64, f64); 2];

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 340.0;
const LABEL_COLUMNS_MAX: usize = 22;
const LABEL_HEIGHT: f64 = 14.0;
const SKETCH_ROWS: usize = 12;

impl LineChart {
    pub fn svg(&self) -> String {
        let (x, y) = self.ranges();
        let labels: Vec<String> = self
            .lines
            .iter()
            .take(HUES)
            .map(|line| cut(&line.name, LABEL_COLUMNS_MAX))
            .collect();
        let room = labels.iter().map(|label| pixels(label)).fold(0.0, f64::max);
        let right = WIDTH - room - 16.0;
        let frame = Frame {
            left: margin(y),
            right,
            top: 28.0,
            bottom: HEIGHT - 42.0,
            x,
            y,
            counts: false,
        };
        let mut svg = Svg::new(
            "line-chart",
            WIDTH,
            HEIGHT,
            &self.title,
            &self.alternative(),
        );
        frame.draw(&mut svg, &self.x, &self.y);
        // Grey lines are drawn first.
        for (number, line) in self.lines.iter().enumerate().rev() {
            let width = if number < HUES { "2" } else { "1" };
            let paint = if number < HUES { hue(number) } else { OTHER };
            svg.path(&path(line, &frame), &paint, Some(width), &line.name);
        }
        for (number, over, ends) in self.shared() {
            let [from, to] = ends
                .map(|(x, y)| frame.at(x, y))
                .map(|(x, y)| format!("{} {}", place(x), place(y)));
            svg.dashed(&format!("M{from}L{to}"), &hue(number), over);
        }
        for mark in &self.marks {
            frame.across(&mut svg, mark);
        }
        let ends = self
            .lines
            .iter()
            .take(HUES)
            .map(|line| line.end().map(|(x, y)| frame.at(x, y)));
        let ends: Vec<_> = ends.collect();
        let heights: Vec<Option<f64>> = ends.iter().map(|end| end.map(|(_, y)| y)).collect();
        let placed = apart(&heights, LABEL_HEIGHT, frame.top, frame.bottom);
        for (number, (label, y)) in labels.iter().zip(placed).enumerate() {
            if let Some(y) = y {
                svg.text(right + 8.0, y + 4.0, Anchor::Start, &hue(number), label);
            }
        }
        svg.finish()
    }

    /// The segments that a coloured line shares with lines before it, and with how many: there it is drawn over them,
    /// dashed, so that level lines do not hide each other.
    fn shared(&self) -> Vec<(usize, usize, Segment)> {
        let segments = |line: &Line| -> Vec<Segment> {
            let points: Vec<(f64, f64)> = line.drawn().collect();
            points
                .iter()
                .zip(points.iter().skip(1))
                .map(|(from, to)| [*from, *to])
                .collect()
        };
        let all: Vec<_> = self.lines.iter().take(HUES).map(segments).collect();
        let numbered = all.iter().enumerate();
        let shared = numbered.flat_map(|(number, own)| {
            let before = all.get(..number).unwrap_or_default();
            own.iter().map(move |segment| {
                (
                    number,
                    before
                        .iter()
                        .filter(|other| other.contains(segment))
                        .count(),
                    *segment,
                )
            })
        });
        shared.filter(|(_, over, _)| *over > 0).collect()
    }

    /// A text alternative.
    pub fn alternative(&self) -> String {
        let ends = self
            .lines
            .iter()
            .filter_map(|line| Some(format!("{}: {}", line.name, number(line.end()?.1))));
        if self.lines.iter().any(|line| line.end().is_some()) {
            format!(
                "{} by {}. At the end: {}.",
                self.y,
                self.x,
                some_of(ends, HUES)
            )
        } else {
            format!("{} by {}. There is nothing to show yet.", self.y, self.x)
        }
    }

    /// In braille characters, 2 by 4 dots each.
    pub fn sketch(&self, width: usize) -> String {
        if !self.lines.iter().any(|line| line.end().is_some()) {
            return cut("There is nothing to show yet.", width);
        }
        let (x, y) = self.ranges();
        let ticks = [number(y.high), number(y.low)];
        let margin = widest(ticks.iter().map(String::as_str), width / 4);
        let labels = widest(
            self.lines.iter().take(HUES).map(|line| line.name.as_str()),
            width / 4,
        );
        let columns = width.saturating_sub(margin + 2 + labels + 1).max(4);
        let mut grid = Braille::new(columns, SKETCH_ROWS);
        let (across, down) = grid.dots();
        let last_x = across as f64 - 1.0;
        let last_y = down as f64 - 1.0;
        let at = |(px, py): (f64, f64)| (x.place(px, 0.0, last_x), y.place(py, last_y, 0.0));
        for line in &self.lines {
            let points: Vec<_> = line.drawn().map(at).collect();
            if let [only] = points.as_slice() {
                grid.line(*only, *only);
            }
            for (from, to) in points.iter().zip(points.iter().skip(1)) {
                grid.line(*from, *to);
            }
        }
        let mut rows = grid.lines();
        let ends = self
            .lines
            .iter()
            .take(HUES)
            .map(|line| line.end().map(|end| at(end).1 / 4.0))
            .collect::<Vec<_>>();
        for (line, place) in self
            .lines
            .iter()
            .zip(apart(&ends, 1.0, 0.0, SKETCH_ROWS as f64 - 1.0))
        {
            if let Some(row) = place.and_then(|place| rows.get_mut(place.round().max(0.0) as usize))
            {
                row.push(' ');
                row.push_str(&cut(&line.name, labels));
            }
        }
        let [high, low] = &ticks;
        let sides = rows.iter().enumerate().map(|(place, row)| {
            let tick = match place {
                0 => high,
                place if place + 1 == SKETCH_ROWS => low,
                _ => "",
            };
            format!("{} ┤{row}", right(tick, margin))
                .trim_end()
                .to_owned()
        });
        let sides: Vec<String> = sides.collect();
        let blank = " ".repeat(margin + 2);
        let first = number(x.low);
        let last = number(x.high);
        let words = format!("{first} {}", self.x);
        let gap = columns.saturating_sub(last.chars().count());
        format!("{}\n{blank}{}{last}", sides.join("\n"), left(&words, gap))
    }

    fn ranges(&self) -> (Range, Range) {
        let points = || self.lines.iter().flat_map(Line::drawn);
        let marks = self.marks.iter().map(|mark| mark.at);
        let y = Range::of(points().map(|(_, y)| y).chain(marks), true);
        // Round numbers are integers, and the first and last are at the edges.
        let x = Range::of(points().map(|(x, _)| x), false);
        let x = if x.high - x.low < 1.0 {
            x.rounded(STEPS_X)
        } else {
            x
        };
        (x, y.rounded(STEPS_Y))
    }
}

fn path(line: &Line, frame: &Frame) -> String {
    let mut path = String::new();
    for (number, (x, y)) in line.drawn().map(|(x, y)| frame.at(x, y)).enumerate() {
        path.push(if number == 0 { 'M' } else { 'L' });
        path.push_str(&place(x));
        path.push(' ');
        path.push_str(&place(y));
    }
    // A single point is drawn as a dot.
    if line.drawn().count() == 1 {
        path.push_str("h.1");
    }
    path
}

/// Positions at least `distance` apart, each as near as possible to the wanted one, within bounds.
fn apart(wanted: &[Option<f64>], distance: f64, low: f64, high: f64) -> Vec<Option<f64>> {
    let mut order: Vec<(usize, f64)> = wanted
        .iter()
        .enumerate()
        .filter_map(|(number, place)| Some((number, (*place)?)))
        .collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut next = low;
    for (_, place) in &mut order {
        *place = place.max(next);
        next = *place + distance;
    }
    let mut most = high;
    for (_, place) in order.iter_mut().rev() {
        *place = place.min(most);
        most = *place - distance;
    }
    let mut placed = vec![None; wanted.len()];
    for (number, place) in order {
        if let Some(slot) = placed.get_mut(number) {
            *slot = Some(place);
        }
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(names: &[&str]) -> LineChart {
        let line = |(number, name): (usize, &&str)| {
            let points = (1..=6).map(|round| {
                (
                    f64::from(round),
                    f64::from(round) * (3.0 - number as f64 * 0.4),
                )
            });
            Line::new(*name, points.collect())
        };
        let lines = names.iter().enumerate().map(line).collect();
        LineChart {
            title: "Points".into(),
            x: "round".into(),
            y: "points".into(),
            lines,
            marks: Vec::new(),
        }
    }

    #[test]
    fn a_few_lines() {
        let chart = chart(&["Ada", "Grace <b>", "Barbara"]);
        insta::assert_snapshot!("few_svg", chart.svg());
        insta::assert_snapshot!("few_sketch", chart.sketch(60));
    }

    #[test]
    fn of_many_lines_the_first_have_labels() {
        let names: Vec<String> = (1..=20).map(|n| format!("Player {n}")).collect();
        let chart = chart(&names.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(chart.svg().matches("class=\"other\"").count(), 20 - HUES);
        assert!(
            chart.alternative().ends_with("and 12 more."),
            "{}",
            chart.alternative()
        );
    }

    #[test]
    fn level_lines_do_not_hide_each_other() {
        let mut chart = chart(&["Ada", "Grace", "Barbara"]);
        chart.lines[1].points = chart.lines[0].points.clone();
        let svg = chart.svg();
        assert_eq!(
            svg.matches("stroke-dasharray").count(),
            5,
            "each of the segments that they share"
        );
        let solid = svg.find("<title>Ada</title>");
        let dashed = svg.find("stroke-dasharray");
        assert!(solid < dashed, "dashes are drawn over the other line");
    }

    #[test]
    fn nothing_to_show_is_said() {
        let empty = chart(&[]);
        assert!(empty.svg().contains("nothing to show yet"));
        assert_eq!(empty.sketch(40), "There is nothing to show yet.");
    }

    #[test]
    fn a_sketch_is_no_wider_than_it_may_be() {
        let chart = chart(&["a very long name of a player that goes on", "b"]);
        for width in [20, 40, 80] {
            let sketch = chart.sketch(width);
            assert!(
                sketch.lines().all(|line| crate::text::width(line) <= width),
                "{width}:\n{sketch}"
            );
        }
    }

    #[test]
    fn labels_do_not_stand_on_one_another() {
        let placed = apart(
            &[Some(9.0), Some(9.0), None, Some(1.0), Some(9.5)],
            1.0,
            0.0,
            10.0,
        );
        assert_eq!(placed, [Some(8.0), Some(9.0), None, Some(1.0), Some(10.0)]);
    }
}
