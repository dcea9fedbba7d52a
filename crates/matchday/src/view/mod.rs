//! What people see: tables, the live view of a league, how it ended. Text only, but for [`live`], which draws on a terminal.

pub(crate) mod fixtures;
pub(crate) mod live;
pub(crate) mod places;
pub(crate) mod progress;
pub(crate) mod screen;
pub(crate) mod statistics;
pub(crate) mod summary;
mod table;

pub(crate) use table::{table, table_that_fits};

use crate::line_writer::LineWriter;
use matchday_core::protocol::untrusted::{escape_line, escape_output};
use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;

/// What is shown while a league runs: nobody who stops reading may stop the league.
static STDOUT: OnceLock<Option<LineWriter>> = OnceLock::new();
static STDERR: OnceLock<Option<LineWriter>> = OnceLock::new();

fn write_out(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

fn write_err(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Has text written to stdout without waiting for it. If nobody reads for long, it is left out.
pub(crate) fn show(text: String) {
    put(&STDOUT, text, write_out);
}

/// The same for stderr.
pub(crate) fn warn(text: String) {
    put(&STDERR, text, write_err);
}

fn put(writer: &OnceLock<Option<LineWriter>>, text: String, write: fn(&str)) {
    match writer.get_or_init(|| LineWriter::start(write, || None).ok()) {
        Some(writer) => drop(writer.put(text)),
        None => write(&text),
    }
}

/// Waits a moment for what is not written yet.
pub(crate) fn flush() {
    for writer in [&STDOUT, &STDERR] {
        if let Some(Some(writer)) = writer.get() {
            writer.flush();
        }
    }
}

/// Writes lines to stdout, after all that was shown before, without controls but line breaks and colours: a text of
/// somebody else that was not escaped cannot move the cursor. If nobody reads any more, the work goes on all the same.
pub(crate) fn say(lines: impl std::fmt::Display) {
    flush();
    let _ = writeln!(io::stdout().lock(), "{}", escape_output(&lines.to_string()));
}

/// Writes to the terminal in one piece, so that nobody sees half a frame. The lines are those of a [`screen::Screen`].
pub(crate) fn draw(text: &str) {
    flush();
    write_out(text);
}

/// In bold, on a terminal that is not asked to be plain.
pub(crate) fn bold(text: &str) -> String {
    Paint::of_stdout().bold(text)
}

/// Whether text may stand out by colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    Plain,
    Colours,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    Red,
    Green,
    Yellow,
    Grey,
}

impl Paint {
    /// Colours on a terminal that is not asked to be plain.
    pub(crate) fn of_stdout() -> Self {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        if plain || !io::stdout().is_terminal() { Self::Plain } else { Self::Colours }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.marked("1", text)
    }

    pub(crate) fn colour(self, colour: Colour, text: &str) -> String {
        let mark = match colour {
            Colour::Red => "31",
            Colour::Green => "32",
            Colour::Yellow => "33",
            Colour::Grey => "90",
        };
        self.marked(mark, text)
    }

    fn marked(self, mark: &str, text: &str) -> String {
        match self {
            Self::Plain => escape_line(text).into_owned(),
            Self::Colours => format!("\u{1b}[{mark}m{}\u{1b}[0m", escape_line(text)),
        }
    }
}

/// A table with its headers made to stand out, where that is possible.
pub(crate) fn headed(table: &str) -> String {
    match table.split_once('\n') {
        Some((headers, rows)) => format!("{}\n{rows}", bold(headers)),
        None => table.to_owned(),
    }
}
