//! The last positions of matches, drawn as SVG.

use super::writer::Html;
use crate::report::{Match, Report};
use matchday_core::game::view::Grid;

/// How many boards a report draws.
const BOARDS_MAX: usize = 60;
/// The side of a cell.
const CELL: usize = 20;

/// Whether every board of the report is drawn; otherwise those of its last round are.
pub(super) fn all_fit(report: &Report) -> bool {
    report.rounds.iter().flat_map(|round| &round.matches).filter(|game| game.position.is_some()).count()
        <= BOARDS_MAX
}

pub(super) fn of_matches(html: &mut Html, matches: &[Match]) {
    let drawn = matches.iter().filter_map(|game| Some((game, game.position.as_ref()?)));
    let drawn: Vec<(&Match, &Grid)> = drawn.take(BOARDS_MAX).collect();
    if drawn.is_empty() {
        return;
    }
    html.element("div", &[("class", "boards")], |html| {
        for (game, grid) in drawn {
            html.element("figure", &[], |html| {
                board(html, game, grid);
                html.element("figcaption", &[], |html| {
                    html.text(&format!("{}: ", game.id));
                    html.name(&game.a.name);
                    html.text(" against ");
                    html.name(&game.b.name);
                });
            });
        }
    });
}

fn board(html: &mut Html, game: &Match, grid: &Grid) {
    let columns = grid.columns.max(1);
    let (width, height) = (columns * CELL, grid.cells.len().div_ceil(columns) * CELL);
    let size = format!("0 0 {width} {height}");
    let (wide, high) = (width.to_string(), height.to_string());
    let label = format!("Last position of {}", game.id);
    let attributes = [
        ("class", "board"),
        ("role", "img"),
        ("aria-label", &label),
        ("viewBox", &size),
        ("width", &wide),
        ("height", &high),
    ];
    html.element("svg", &attributes, |html| {
        for (index, text) in grid.cells.iter().enumerate() {
            let (x, y) = (index % columns * CELL, index / columns * CELL);
            let class = match (grid.line.contains(&index), grid.last.contains(&index)) {
                (true, _) => "line",
                (false, true) => "last",
                (false, false) => "cell",
            };
            let [left, top, side] = [x + 1, y + 1, CELL - 2].map(|number| number.to_string());
            let place = [("class", class), ("x", &left), ("y", &top), ("width", &side), ("height", &side)];
            html.element("rect", &place, |_| {});
            if !text.is_empty() {
                let owner = match (grid.marks.a.contains(text), grid.marks.b.contains(text)) {
                    (true, _) => "a",
                    (false, true) => "b",
                    (false, false) => "neutral",
                };
                let [left, top] = [x + CELL / 2, y + CELL / 2].map(|number| number.to_string());
                html.leaf("text", &[("class", owner), ("x", &left), ("y", &top)], text);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::super::super::sample;
    use super::*;
    use matchday_core::game::view::Marks;

    #[test]
    fn the_last_position_is_drawn_with_its_line() {
        let mut report = sample::league();
        let cells = ["X", "O", "", "X", "O", "", "X", "", "<b>"].map(Into::into).to_vec();
        let marks = Marks { a: vec!["X".into()], b: vec!["O".into()] };
        let position =
            Grid { columns: 3, cells, marks, line: vec![0, 3, 6], last: vec![6], ..Grid::default() };
        report.rounds[0].matches[0].position = Some(position);
        let page = super::super::page(&report);
        assert_eq!(page.matches("class=\"line\"").count(), 3, "the winning line is lit");
        assert_eq!(page.matches("class=\"a\"").count(), 3);
        assert!(page.contains("&lt;b&gt;") && !page.contains("<b>"), "text of a game stays text");
    }
}
