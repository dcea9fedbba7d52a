//! What people see: tables, the live view of a league, how it ended. Text only, but for [`live`], which draws on a terminal.

pub(crate) mod live;
pub(crate) mod progress;
pub(crate) mod screen;
pub(crate) mod summary;
mod table;

pub(crate) use table::table;

use std::io::{self, IsTerminal, Write};

/// Writes a line to stdout. If nobody reads any more, the work goes on all the same.
pub(crate) fn say(line: impl std::fmt::Display) {
    let _ = writeln!(io::stdout().lock(), "{line}");
}

/// Writes to the terminal in one piece, so that nobody sees half a frame.
pub(crate) fn draw(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// In bold, on a terminal that is not asked to be plain.
pub(crate) fn bold(text: &str) -> String {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if plain || !io::stdout().is_terminal() { text.to_owned() } else { format!("\u{1b}[1m{text}\u{1b}[0m") }
}

/// A table with its headers made to stand out, where that is possible.
pub(crate) fn headed(table: &str) -> String {
    match table.split_once('\n') {
        Some((headers, rows)) => format!("{}\n{rows}", bold(headers)),
        None => table.to_owned(),
    }
}
