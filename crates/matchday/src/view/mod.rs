//! What people see: tables, the live view of a league, how it ended. Text only, but for [`live`], which draws on a terminal.

pub(crate) mod live;
pub(crate) mod progress;
pub(crate) mod summary;
mod table;

pub(crate) use table::table;

use std::io::{self, IsTerminal, Write};

/// Writes a line to stdout. If nobody reads any more, the work goes on all the same.
pub(crate) fn say(line: impl std::fmt::Display) {
    let _ = writeln!(io::stdout().lock(), "{line}");
}

/// In bold, on a terminal that is not asked to be plain.
pub(crate) fn bold(text: &str) -> String {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if plain || !io::stdout().is_terminal() { text.to_owned() } else { format!("\u{1b}[1m{text}\u{1b}[0m") }
}
