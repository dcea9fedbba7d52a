//! The positions of a match as text: every board, side by side, or the strip of its rounds. Pure.

use matchday_core::game::view::View;
use matchday_core::protocol::untrusted::escape_line;

/// As wide as terminals usually are.
const COLUMNS_MAX: usize = 100;
const INDENT: &str = "  ";

/// The position after each ply. A strip holds all rounds before it, so that the last one is enough.
pub(super) fn of(views: &[View]) -> String {
    let boards: Vec<Vec<String>> = match views {
        [.., last @ View::Strip(_)] => vec![lines_of(last, None)],
        [only] => vec![lines_of(only, None)],
        all => all
            .iter()
            .enumerate()
            .map(|(ply, view)| lines_of(view, Some(ply)))
            .collect(),
    };
    let mut text = String::new();
    let mut rest = boards.as_slice();
    while !rest.is_empty() {
        let (row, after) = rest.split_at(fitting(rest));
        text.push('\n');
        for number in 0..row.iter().map(Vec::len).max().unwrap_or(0) {
            let cells = row.iter().map(|board| {
                let line = board.get(number).map_or("", String::as_str);
                format!("{line:width$}", width = width(board))
            });
            let line = cells.collect::<Vec<_>>().join("   ");
            text.push_str(format!("{INDENT}{line}").trim_end());
            text.push('\n');
        }
        rest = after;
    }
    text
}

/// The lines of a board, under the number of its ply.
fn lines_of(view: &View, ply: Option<usize>) -> Vec<String> {
    let heading = ply.map(|ply| {
        if ply == 0 {
            "start".to_owned()
        } else {
            format!("ply {ply}")
        }
    });
    let board = view.to_string();
    heading
        .into_iter()
        .chain(board.lines().map(|line| escape_line(line).into_owned()))
        .collect()
}

fn width(board: &[String]) -> usize {
    board
        .iter()
        .map(|line| line.chars().count())
        .max()
        .unwrap_or(0)
}

/// How many of the boards stand in one row; at least one.
fn fitting(boards: &[Vec<String>]) -> usize {
    let mut filled = INDENT.len();
    let fits = boards.iter().take_while(|board| {
        filled += width(board) + 3;
        filled <= COLUMNS_MAX + 3
    });
    fits.count().max(1)
}
