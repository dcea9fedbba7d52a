//! Output for people: tables, live progress, summaries. Pure text, except for [`live`] and the writers here.
//! [`suggest`]: names that were probably meant.

// What goes to a terminal passes here, where text of others is escaped.
#![warn(clippy::print_stdout, clippy::print_stderr)]

pub mod badge;
pub mod live;
pub mod progress;
pub mod rank_changes;
pub mod schedule_table;
pub mod screen;
pub mod standings_table;
pub mod statistics;
pub mod suggest;
pub mod summary;
pub mod table;
mod wrap;

pub use table::table;

pub use matchday_core::protocol::untrusted::{escape_line, escape_output};
use matchday_runtime::line_writer::LineWriter;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

/// Non-blocking writers: a reader that stops reading must not stop the league.
static STDOUT: Mutex<Option<LineWriter>> = Mutex::new(None);
static STDERR: Mutex<Option<LineWriter>> = Mutex::new(None);

fn write_out(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Writes to stdout without blocking. If nobody reads for long, the text is dropped.
pub fn show(text: String) {
    put(&STDOUT, &text, io::stdout);
}

pub fn warn(text: String) {
    put(&STDERR, &text, io::stderr);
}

fn put<W: Write + Send + 'static>(
    writer: &Mutex<Option<LineWriter>>,
    text: &str,
    output: fn() -> W,
) {
    let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
    writer
        .get_or_insert_with(|| LineWriter::start(output()))
        .write(text);
}

/// Waits a moment for pending output.
pub fn flush() {
    for writer in [&STDOUT, &STDERR] {
        let writer = writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        // Dropping a writer flushes it; the next output starts another.
        drop(writer);
    }
}

/// Writes bytes to stdout as they are. A reader that has seen enough, such as `head`, is no error.
pub fn write_bytes(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Writes lines to stdout after all pending output, sentences wrapped at the width of a terminal, with control characters escaped except line breaks and colours.
/// Write errors are ignored: the work goes on without a reader.
pub fn say(lines: impl std::fmt::Display) {
    flush();
    let text = escape_output(&lines.to_string()).into_owned();
    let columns = screen::Size::of_terminal().map(|size| size.columns);
    let text = columns.map_or(text.clone(), |columns| wrap::wrapped(&text, columns));
    let _ = writeln!(io::stdout().lock(), "{text}");
}

/// Writes a whole frame of a [`screen::Screen`] at once.
pub fn draw(text: &str) {
    flush();
    write_out(text);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    Plain,
    Colours,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    Red,
    Green,
    Yellow,
    Magenta,
    Grey,
    /// One of those of terminals with 256 colours.
    Of256(u8),
}

impl Paint {
    /// Colours on a terminal, unless `NO_COLOR` is set.
    pub fn of_stdout() -> Self {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        if plain || !io::stdout().is_terminal() {
            Self::Plain
        } else {
            Self::Colours
        }
    }

    pub fn bold(self, text: &str) -> String {
        self.marked("1", text)
    }

    pub fn colour(self, colour: Colour, text: &str) -> String {
        let mark = match colour {
            Colour::Red => "31",
            Colour::Green => "32",
            Colour::Yellow => "33",
            Colour::Magenta => "35",
            Colour::Grey => "90",
            Colour::Of256(number) => return self.marked(&format!("38;5;{number}"), text),
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

/// A table with its header row in bold.
pub fn headed(table: &str) -> String {
    match table.split_once('\n') {
        Some((headers, rows)) => format!("{}\n{rows}", Paint::of_stdout().bold(headers)),
        None => table.to_owned(),
    }
}
