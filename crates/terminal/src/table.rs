//! Tables with aligned columns, whose cells may have a colour. Pure.

use super::{Colour, Paint};
use matchday_core::protocol::untrusted::escape_line;
use unicode_width::UnicodeWidthStr;

/// A text, and how it is coloured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    text: String,
    colour: Option<Colour>,
}

impl Cell {
    pub fn coloured(text: impl Into<String>, colour: Colour) -> Self {
        Self {
            colour: Some(colour),
            ..Self::from(text.into())
        }
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self {
            text: escape_line(&text).into_owned(),
            colour: None,
        }
    }
}

/// A table without borders; numeric columns are right-aligned.
#[derive(Debug, Clone, Default)]
pub struct Table {
    columns: Vec<TableColumn>,
}

#[derive(Debug, Clone)]
struct TableColumn {
    header: String,
    /// The columns with the lowest are left out first where there is no room for all.
    priority: u8,
    cells: Vec<Cell>,
}

impl Table {
    pub fn add_column(&mut self, header: &str, priority: u8, cells: Vec<Cell>) {
        self.columns.push(TableColumn {
            header: escape_line(header).into_owned(),
            priority,
            cells,
        });
    }

    /// The lines of the table, its headers in bold.
    pub fn lines(&self, paint: Paint) -> Vec<String> {
        let rows = self
            .columns
            .iter()
            .map(|column| column.cells.len())
            .max()
            .unwrap_or(0);
        let line = |row: Option<usize>| {
            let cells = self.columns.iter().map(|column| column.shown(row, paint));
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        let heading = line(None);
        let heading = if paint == Paint::Plain {
            heading
        } else {
            paint.bold(&heading)
        };
        std::iter::once(heading)
            .chain((0..rows).map(|row| line(Some(row))))
            .collect()
    }

    pub fn text(&self, paint: Paint) -> String {
        self.lines(paint).join("\n")
    }

    /// Without the columns for which there is no room; those of the highest priority always stay.
    pub fn fitted(mut self, columns: usize) -> Self {
        while self.width() > columns {
            let least = self.columns.iter().map(|column| column.priority).min();
            if self
                .columns
                .iter()
                .all(|column| Some(column.priority) == least)
            {
                break;
            }
            self.columns.retain(|column| Some(column.priority) != least);
        }
        self
    }

    fn width(&self) -> usize {
        let columns: usize = self.columns.iter().map(TableColumn::width).sum();
        columns + 2 * self.columns.len().saturating_sub(1)
    }
}

impl TableColumn {
    fn width(&self) -> usize {
        let cells = self.cells.iter().map(|cell| cell.text.width());
        cells.chain([self.header.width()]).max().unwrap_or(0)
    }

    /// A cell, or the header.
    fn shown(&self, row: Option<usize>, paint: Paint) -> String {
        let (text, colour) = match row.map(|row| self.cells.get(row)) {
            None => (self.header.as_str(), None),
            Some(cell) => cell.map_or(("", None), |cell| (cell.text.as_str(), cell.colour)),
        };
        let gap = " ".repeat(self.width().saturating_sub(text.width()));
        let text = colour.map_or_else(|| text.to_owned(), |colour| paint.colour(colour, text));
        if self.is_numbers() {
            gap + &text
        } else {
            text + &gap
        }
    }

    /// Empty cells are ignored.
    fn is_numbers(&self) -> bool {
        let mut cells = self
            .cells
            .iter()
            .map(|cell| &cell.text)
            .filter(|text| !text.is_empty())
            .peekable();
        cells.peek().is_some()
            && cells.all(|text| text.trim_end_matches('%').parse::<f64>().is_ok())
    }
}

/// A table without colours.
pub fn table(headers: &[&str], rows: &[Vec<String>]) -> String {
    let mut table = Table::default();
    for (place, header) in headers.iter().enumerate() {
        let cells = rows
            .iter()
            .map(|row| row.get(place).cloned().unwrap_or_default().into());
        table.add_column(header, 0, cells.collect());
    }
    table.text(Paint::Plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
        cells.map(str::to_owned).to_vec()
    }

    #[test]
    fn numbers_stand_to_the_right_and_words_to_the_left() {
        let rows = [
            row(["1", "P01", "always_even", "9"]),
            row(["10", "P02", "random", "12"]),
        ];
        let expected = " #  player  strategy     points\n 1  P01     always_even       9\n10  P02     random           12";
        assert_eq!(
            table(&["#", "player", "strategy", "points"], &rows),
            expected
        );
    }

    #[test]
    fn a_gap_makes_no_words_of_numbers() {
        let rows = [row(["a", "7"]), row(["b", ""]), row(["c", "100"])];
        assert_eq!(
            table(&["who", "ms"], &rows),
            "who   ms\na      7\nb\nc    100"
        );
    }

    fn coloured(names: [&str; 2]) -> Table {
        let mut table = Table::default();
        table.add_column(
            "player",
            2,
            names.map(|name| name.to_owned().into()).to_vec(),
        );
        let won = vec![Cell::coloured("12", Colour::Green), "0".to_owned().into()];
        table.add_column("won", 1, won);
        table
    }

    #[test]
    fn a_colour_takes_no_room_and_wide_letters_take_two() {
        let shown = coloured(["日本の選手", "Ada"])
            .text(Paint::Colours)
            .replace('\u{1b}', "ESC");
        insta::assert_snapshot!(shown, @r"
        ESC[1mplayer      wonESC[0m
        日本の選手   ESC[32m12ESC[0m
        Ada           0
        ");
    }

    #[test]
    fn columns_for_which_there_is_no_room_are_left_out() {
        let fitted = |columns| coloured(["P01", "P02"]).fitted(columns).text(Paint::Plain);
        assert_eq!(fitted(11), "player  won\nP01      12\nP02       0");
        assert_eq!(fitted(10), "player\nP01\nP02");
        assert_eq!(
            fitted(3),
            "player\nP01\nP02",
            "what is most important always stays"
        );
    }

    #[test]
    fn a_table_without_rows_is_its_headers() {
        assert_eq!(table(&["who", "ms"], &[]), "who  ms");
    }
}
