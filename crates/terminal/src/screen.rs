//! A block of terminal lines that is redrawn in place. Pure: computes the text and escape sequences to write; only
//! [`Size::of_terminal`] asks the system.

use matchday_core::protocol::untrusted::escape_line;
use std::io::IsTerminal;
use terminal_size::{Height, Width, terminal_size_of};
use unicode_width::UnicodeWidthChar;

/// In characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    pub columns: usize,
    pub rows: usize,
}

impl Size {
    /// The default where the terminal does not tell its size.
    const USUAL: Self = Self {
        columns: 80,
        rows: 24,
    };

    /// The size of stdout, if that is a terminal with cursor control.
    pub fn of_terminal() -> Option<Self> {
        let out = std::io::stdout();
        if !out.is_terminal() || std::env::var_os("TERM").is_some_and(|term| term == "dumb") {
            return None;
        }
        Some(match terminal_size_of(out) {
            Some((Width(columns @ 1..), Height(rows @ 1..))) => Self {
                columns: columns.into(),
                rows: rows.into(),
            },
            _ => Self::USUAL,
        })
    }
}

/// The lines above the cursor.
#[derive(Debug, Default)]
pub struct Screen {
    drawn: Vec<String>,
}

impl Screen {
    /// The text that replaces the lines drawn before. Lines are truncated to the width, and those beyond the height
    /// are dropped, because scrolled lines cannot be redrawn.
    pub fn draw(&mut self, lines: &[String], size: Size) -> String {
        let mut text = self.back(size);
        self.drawn = fitted(lines, size);
        for line in &self.drawn {
            text.push_str(line);
            text.push_str("\x1b[K\n");
        }
        text.push_str("\x1b[J");
        text
    }

    /// The text that erases the block.
    pub fn clear(&mut self, size: Size) -> String {
        let text = self.back(size);
        self.drawn.clear();
        text + "\x1b[J"
    }

    /// Moves the cursor to the first line. On a terminal that has become narrower, lines are wrapped and take more
    /// rows.
    fn back(&self, size: Size) -> String {
        let rows = |line: &String| width(line).div_ceil(size.columns).max(1);
        match self.drawn.iter().map(rows).sum::<usize>() {
            0 => "\r".to_owned(),
            up => format!("\r\x1b[{up}A"),
        }
    }
}

/// As many lines as fit above the cursor, truncated to the width.
fn fitted(lines: &[String], size: Size) -> Vec<String> {
    let most = size.rows.saturating_sub(1).max(1);
    let mut fitted: Vec<String> = lines
        .iter()
        .take(most)
        .map(|line| cut(&escape_line(line), size.columns))
        .collect();
    if let (true, Some(last)) = (lines.len() > most, fitted.last_mut()) {
        let more = lines.len() - most + 1;
        *last = cut(&format!("... and {more} more lines"), size.columns);
    }
    fitted
}

/// Truncates a line; escape sequences take no room and are kept.
fn cut(line: &str, columns: usize) -> String {
    let mut filled = 0;
    let keep = |(c, columns_taken): (char, usize)| {
        filled += columns_taken;
        (columns_taken == 0 || filled <= columns).then_some(c)
    };
    columns_taken(line).filter_map(keep).collect()
}

/// The visible width of a line.
pub fn width(line: &str) -> usize {
    columns_taken(line).map(|(_, columns)| columns).sum()
}

/// How many columns each character takes; those of escape sequences take none.
fn columns_taken(line: &str) -> impl Iterator<Item = (char, usize)> {
    let mut is_control = false;
    line.chars().map(move |c| {
        is_control |= c == '\x1b';
        let columns = if is_control {
            0
        } else {
            c.width().unwrap_or(0)
        };
        is_control &= c != 'm';
        (c, columns)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn a_frame_takes_the_place_of_the_one_before() {
        let mut screen = Screen::default();
        let size = Size {
            columns: 10,
            rows: 5,
        };
        assert_eq!(
            screen.draw(&lines(&["one", "two"]), size),
            "\rone\x1b[K\ntwo\x1b[K\n\x1b[J"
        );
        assert_eq!(
            screen.draw(&lines(&["three"]), size),
            "\r\x1b[2Athree\x1b[K\n\x1b[J"
        );
        assert_eq!(screen.clear(size), "\r\x1b[1A\x1b[J");
        assert_eq!(screen.clear(size), "\r\x1b[J");
    }

    #[test]
    fn lines_that_a_narrower_terminal_has_broken_are_counted_as_they_stand() {
        let mut screen = Screen::default();
        screen.draw(
            &lines(&["12345678", "123"]),
            Size {
                columns: 10,
                rows: 5,
            },
        );
        assert!(
            screen
                .clear(Size {
                    columns: 4,
                    rows: 5
                })
                .starts_with("\r\x1b[3A")
        );
    }

    #[test]
    fn what_has_no_room_is_left_out_and_counted() {
        let size = Size {
            columns: 12,
            rows: 4,
        };
        let fitted = fitted(&lines(&["one", "two", "three", "four", "five"]), size);
        assert_eq!(fitted, ["one", "two", "... and 3 mo"]);
    }

    #[test]
    fn bold_takes_no_room() {
        let bold = "\x1b[1mheader\x1b[0m";
        assert_eq!(width(bold), 6);
        assert_eq!(cut(bold, 4), "\x1b[1mhead\x1b[0m");
        assert_eq!(cut(bold, 6), bold);
    }
}
