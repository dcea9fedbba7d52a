//! Tables with aligned columns. Pure.

use super::screen::width;
use comfy_table::{CellAlignment, Table, presets};
use matchday_core::protocol::untrusted::escape_line;

/// Without borders; numeric columns are right-aligned.
pub fn table(headers: &[&str], rows: &[Vec<String>]) -> String {
    let mut table = Table::new();
    let escaped = rows.iter().map(|row| row.iter().map(|cell| escape_line(cell)));
    table
        .load_style(presets::NOTHING)
        .set_header(headers.iter().map(|head| escape_line(head)))
        .add_rows(escaped);
    for (place, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if is_numbers(rows, place) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let text = table.to_string();
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n")
}

/// The table with the first set of columns that fits, or else the last.
pub fn table_that_fits(
    headers: &[&str],
    rows: &[Vec<String>],
    column_sets: &[&[usize]],
    columns: usize,
) -> String {
    let mut narrowest = String::new();
    for chosen in column_sets {
        let headers: Vec<&str> = chosen.iter().filter_map(|place| headers.get(*place).copied()).collect();
        let cells = |row: &Vec<String>| chosen.iter().filter_map(|place| row.get(*place).cloned()).collect();
        narrowest = table(&headers, &rows.iter().map(cells).collect::<Vec<_>>());
        if narrowest.lines().all(|line| width(line) <= columns) {
            break;
        }
    }
    narrowest
}

/// Empty cells are ignored.
fn is_numbers(rows: &[Vec<String>], place: usize) -> bool {
    let mut cells = rows.iter().filter_map(|row| row.get(place)).filter(|cell| !cell.is_empty()).peekable();
    cells.peek().is_some() && cells.all(|cell| cell.trim_end_matches('%').parse::<f64>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
        cells.map(str::to_owned).to_vec()
    }

    #[test]
    fn numbers_stand_to_the_right_and_words_to_the_left() {
        let rows = [row(["1", "P01", "always_even", "9"]), row(["10", "P02", "random", "12"])];
        let expected = " #  player  strategy     points\n 1  P01     always_even       9\n10  P02     random           12";
        assert_eq!(table(&["#", "player", "strategy", "points"], &rows), expected);
    }

    #[test]
    fn a_gap_makes_no_words_of_numbers() {
        let rows = [row(["a", "7"]), row(["b", ""]), row(["c", "100"])];
        assert_eq!(table(&["who", "ms"], &rows), "who   ms\na      7\nb\nc    100");
    }

    #[test]
    fn columns_for_which_there_is_no_room_are_left_out() {
        let rows = [row(["1", "P01", "a long name"])];
        let choices: &[&[usize]] = &[&[0, 1, 2], &[0, 1], &[1]];
        let fitted = |columns| table_that_fits(&["#", "player", "name"], &rows, choices, columns);
        assert_eq!(fitted(40), "#  player  name\n1  P01     a long name");
        assert_eq!(fitted(12), "#  player\n1  P01");
        assert_eq!(fitted(3), "player\nP01");
    }

    #[test]
    fn a_table_without_rows_is_its_headers() {
        assert_eq!(table(&["who", "ms"], &[]), "who  ms");
    }
}
