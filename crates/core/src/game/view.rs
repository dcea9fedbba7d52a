//! How a position looks: a board, or a strip of rounds. What pages, terminals and reports draw, whatever the game. Pure.

use super::Seat;
use serde::{Deserialize, Serialize};
use smol_str::{SmolStr, ToSmolStr};
use std::fmt;

/// What both players and any spectator may see of a position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum View {
    /// A board of cells.
    Grid(Grid),
    /// Rounds in which both players chose at once.
    Strip(Strip),
}

/// A board of cells, row by row from the top left.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// How many cells a row has.
    pub columns: usize,
    /// What stands in each cell; empty text for an empty cell.
    pub cells: Vec<SmolStr>,
    /// Which texts are whose.
    #[serde(default)]
    pub marks: Marks,
    /// The cells of the last move, by index.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub last: Vec<usize>,
    /// The cells that decided the game, by index.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub line: Vec<usize>,
    /// What the columns are called, from the left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub column_names: Vec<SmolStr>,
    /// What the rows are called, from the top.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub row_names: Vec<SmolStr>,
}

/// The texts in cells that belong to each player.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Marks {
    /// Player A's.
    #[serde(rename = "A", default)]
    pub a: Vec<SmolStr>,
    /// Player B's.
    #[serde(rename = "B", default)]
    pub b: Vec<SmolStr>,
}

impl Marks {
    /// One text each.
    pub(crate) fn pair(a: impl Into<SmolStr>, b: impl Into<SmolStr>) -> Self {
        Self {
            a: vec![a.into()],
            b: vec![b.into()],
        }
    }
}

/// Rounds of simultaneous choice, as far as both have chosen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Strip {
    /// The oldest first.
    pub rounds: Vec<StripRound>,
    /// The sums of the points.
    pub totals: [u32; 2],
}

/// One round of both.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StripRound {
    /// The choices of A and B.
    pub choices: [SmolStr; 2],
    /// The points that the round brought A and B.
    pub points: [u32; 2],
    /// What was drawn after they had chosen, in games of chance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drawn: Option<SmolStr>,
}

/// The most bytes that a view may have as JSON: a board of 19 by 19 fits.
pub const VIEW_BYTES_MAX: usize = 4096;
/// The most cells that a row may have.
const COLUMNS_MAX: usize = 26;
/// The widest text of a cell, in columns of a terminal.
const CELL_WIDTH_MAX: usize = 8;

impl View {
    /// Whether it can be drawn; if not, which field is wrong.
    pub fn check(&self) -> Result<(), String> {
        let bytes = serde_json::to_string(self).map_or(usize::MAX, |text| text.len());
        if bytes > VIEW_BYTES_MAX {
            return Err(format!(
                "view: {bytes} bytes of JSON, at most {VIEW_BYTES_MAX} are drawn"
            ));
        }
        match self {
            Self::Grid(grid) => grid.check(),
            Self::Strip(_) => Ok(()),
        }
    }
}

impl Grid {
    fn check(&self) -> Result<(), String> {
        let columns = self.columns;
        let cells = self.cells.len();
        if !(1..=COLUMNS_MAX).contains(&columns) {
            return Err(format!(
                "view.columns: expected 1 to {COLUMNS_MAX}, got {columns}"
            ));
        }
        if cells == 0 || !cells.is_multiple_of(columns) {
            return Err(format!(
                "view.cells: expected whole rows of {columns}, got {cells} cells"
            ));
        }
        if let Some(wide) = self.cells.iter().find(|cell| width(cell) > CELL_WIDTH_MAX) {
            return Err(format!(
                "view.cells: expected at most {CELL_WIDTH_MAX} characters, got {wide:?}"
            ));
        }
        if let Some(beyond) = self
            .last
            .iter()
            .chain(&self.line)
            .find(|index| **index >= cells)
        {
            return Err(format!(
                "view.last and view.line: there is no cell {beyond}, they end at {}",
                cells - 1
            ));
        }
        Ok(())
    }
}

/// As text for terminals: rows of cells, the last move in brackets, the deciding line in stars.
impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Grid(grid) => grid.fmt(f),
            Self::Strip(strip) => strip.fmt(f),
        }
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines(|_, mark| mark.to_owned())
            .iter()
            .try_for_each(|line| writeln!(f, "{line}"))
    }
}

impl Grid {
    /// As text for terminals, line by line; `paint` shows the mark of a cell by whose it is.
    pub fn lines(&self, paint: impl Fn(Option<Seat>, &str) -> String) -> Vec<String> {
        let names = self.column_names.iter();
        let columns = self
            .cells
            .iter()
            .chain(names)
            .map(|text| width(text))
            .max()
            .unwrap_or(1)
            .max(1);
        let margin = self
            .row_names
            .iter()
            .map(|name| width(name))
            .max()
            .unwrap_or(0);
        let cell = |[open, close]: [char; 2], text: &str, owner: Option<Seat>| {
            let pad = columns.saturating_sub(width(text));
            format!("{open}{}{close}{:pad$}", paint(owner, text), "")
        };
        let around = |index: usize| match (self.line.contains(&index), self.last.contains(&index)) {
            (true, _) => ['*', '*'],
            (false, true) => ['[', ']'],
            (false, false) => [' ', ' '],
        };
        let mut lines = Vec::new();
        if !self.column_names.is_empty() {
            let names: String = self
                .column_names
                .iter()
                .map(|name| cell([' ', ' '], name, None))
                .collect();
            lines.push(format!("{:margin$}{}", "", names.trim_end()));
        }
        for (row, cells) in self.cells.chunks(self.columns.max(1)).enumerate() {
            let name = self.row_names.get(row).map_or("", SmolStr::as_str);
            let shown: String = (row * self.columns..)
                .zip(cells)
                .map(|(index, text)| match text.as_str() {
                    "" => cell(around(index), ".", None),
                    mark => cell(around(index), mark, self.owner(mark)),
                })
                .collect();
            lines.push(format!(
                "{:pad$}{name}{}",
                "",
                shown.trim_end(),
                pad = margin - width(name)
            ));
        }
        lines
    }

    fn owner(&self, mark: &str) -> Option<Seat> {
        let has = |marks: &[SmolStr]| marks.iter().any(|own| own == mark);
        let [a, b] = [has(&self.marks.a), has(&self.marks.b)];
        if a {
            Some(Seat::A)
        } else {
            b.then_some(Seat::B)
        }
    }
}

/// How many columns of a terminal a text takes; the marks of games are one column each.
fn width(text: &str) -> usize {
    text.chars().count()
}

impl fmt::Display for Strip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |name: &str, text: &dyn Fn(&StripRound) -> SmolStr, total: &str| {
            let cells: Vec<String> = self
                .rounds
                .iter()
                .map(|round| {
                    let [a, b] = &round.choices;
                    let drawn = round.drawn.as_deref().unwrap_or_default();
                    let columns = [a, b, drawn].into_iter().map(width).max().unwrap_or(0) + 1;
                    let text = text(round);
                    format!(
                        "{text}{:pad$}",
                        "",
                        pad = columns.saturating_sub(width(&text))
                    )
                })
                .collect();
            format!("{name}  {}  {total}", cells.join(" "))
        };
        let [total_a, total_b] = self.totals;
        let choice = |round: &StripRound, a: bool| {
            let ([choice_a, choice_b], [points_a, points_b]) = (&round.choices, round.points);
            let (choice, wins) = if a {
                (choice_a, points_a > points_b)
            } else {
                (choice_b, points_b > points_a)
            };
            if wins {
                format!("{choice}*").to_smolstr()
            } else {
                choice.clone()
            }
        };
        writeln!(
            f,
            "{}",
            line("A", &|round| choice(round, true), &format!("= {total_a}"))
        )?;
        writeln!(
            f,
            "{}",
            line("B", &|round| choice(round, false), &format!("= {total_b}"))
        )?;
        if self.rounds.iter().any(|round| round.drawn.is_some()) {
            let drawn = |round: &StripRound| round.drawn.clone().unwrap_or_default();
            writeln!(f, "{}", line("#", &drawn, "").trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn view(value: serde_json::Value) -> View {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_grid_is_drawn_with_its_last_move_and_its_line() {
        let grid = view(json!({
            "kind": "grid", "columns": 3, "cells": ["X", "O", "", "", "X", "O", "", "", "X"],
            "marks": {"A": ["X"], "B": ["O"]}, "last": [8, 5], "line": [0, 4, 8],
            "column_names": ["a", "b", "c"], "row_names": ["1", "2", "3"],
        }));
        assert_eq!(grid.check(), Ok(()));
        insta::assert_snapshot!(grid, @r"
          a  b  c
        1*X* O  .
        2 . *X*[O]
        3 .  . *X*
        ");
    }

    #[test]
    fn a_strip_is_drawn_with_what_each_round_brought() {
        let strip = view(json!({
            "kind": "strip", "totals": [1, 0],
            "rounds": [
                {"choices": ["rock", "scissors"], "points": [1, 0]},
                {"choices": ["paper", "paper"], "points": [0, 0], "drawn": "7"},
            ],
        }));
        insta::assert_snapshot!(strip, @r"
        A  rock*     paper   = 1
        B  scissors  paper   = 0
        #            7
        ");
    }

    #[test]
    fn a_view_that_cannot_be_drawn_names_the_field() {
        for (given, field) in [
            (
                json!({"kind": "grid", "columns": 0, "cells": [""]}),
                "view.columns",
            ),
            (
                json!({"kind": "grid", "columns": 2, "cells": ["", "", ""]}),
                "view.cells",
            ),
            (
                json!({"kind": "grid", "columns": 1, "cells": ["a long text"]}),
                "view.cells",
            ),
            (
                json!({"kind": "grid", "columns": 1, "cells": ["x"], "line": [1]}),
                "view.last and view.line",
            ),
            (
                json!({"kind": "grid", "columns": 1, "cells": vec!["x"; 2000]}),
                "view: ",
            ),
        ] {
            let error = view(given).check().unwrap_err();
            assert!(error.starts_with(field), "{error}");
        }
    }
}
