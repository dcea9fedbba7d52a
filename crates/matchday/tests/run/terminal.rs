//! The live view on a real terminal, which `script` of util-linux provides.

use crate::program::Program;
use matchday_testkit::{cli, tools};
use std::process::Stdio;

const ROWS: usize = 24;
const COLUMNS: usize = 80;

/// What a terminal shows: of the sequences that there are it knows those that we may write, and refuses all others.
struct Terminal {
    cells: Vec<Vec<char>>,
    row: usize,
    column: usize,
    /// Every screen that stood still for a moment, which is when a frame is complete.
    frames: Vec<String>,
}

impl Terminal {
    fn showing(bytes: &str) -> Self {
        let mut terminal = Self {
            cells: vec![vec![' '; COLUMNS]; ROWS],
            row: 0,
            column: 0,
            frames: Vec::new(),
        };
        let mut input = bytes.chars();
        while let Some(c) = input.next() {
            match c {
                '\r' => terminal.column = 0,
                '\n' => terminal.line_feed(),
                '\x1b' => terminal.control(&mut input),
                c => terminal.put(c),
            }
        }
        terminal
    }

    fn control(&mut self, input: &mut std::str::Chars<'_>) {
        assert_eq!(input.next(), Some('['), "only CSI sequences are written");
        let mut number = String::new();
        let last = input.find(|c| {
            number.push(*c);
            c.is_ascii_alphabetic()
        });
        let number: usize = number
            .trim_end_matches(char::is_alphabetic)
            .parse()
            .unwrap_or(0);
        match (last, number) {
            (Some('A'), up) => self.row = self.row.saturating_sub(up),
            (Some('K'), 0) => self.cells[self.row][self.column..].fill(' '),
            (Some('J'), 0) => {
                self.cells[self.row][self.column..].fill(' ');
                self.cells[self.row + 1..]
                    .iter_mut()
                    .for_each(|row| row.fill(' '));
                self.frames.push(self.text());
            }
            (Some('m'), _) => {}
            other => panic!("a sequence that a terminal may not know: {other:?}"),
        }
    }

    fn put(&mut self, c: char) {
        if self.column == COLUMNS {
            self.column = 0;
            self.line_feed();
        }
        self.cells[self.row][self.column] = c;
        self.column += 1;
    }

    fn line_feed(&mut self) {
        if self.row + 1 == ROWS {
            self.cells.remove(0);
            self.cells.push(vec![' '; COLUMNS]);
        } else {
            self.row += 1;
        }
    }

    fn text(&self) -> String {
        let rows = self
            .cells
            .iter()
            .map(|row| row.iter().collect::<String>().trim_end().to_owned());
        rows.collect::<Vec<_>>().join("\n")
    }
}

/// Runs a command on a terminal; `None` if there is no `script`.
fn on_a_terminal(program: &Program, kind: &str, words: &str) -> Option<String> {
    if !tools::require("script") {
        return None;
    }
    let matchday = env!("CARGO_BIN_EXE_matchday");
    let line = format!("stty cols {COLUMNS} rows {ROWS}; TERM={kind} exec {matchday} {words}");
    let mut command = cli::command("script");
    command
        .args(["-qec", &line, "/dev/null"])
        .current_dir(program.path("."))
        .stdin(Stdio::null());
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    Some(text)
}

#[test]
fn a_league_shows_its_progress_and_leaves_nothing_but_how_it_ended() {
    let program = Program::new();
    let league = "run --port-base 0 --store league.db --players 12 --referees 3 --pace 0 --no-stay";
    let Some(written) = on_a_terminal(&program, "xterm", league) else {
        return;
    };
    let terminal = Terminal::showing(&written);
    let shown = |words: &str| terminal.frames.iter().any(|frame| frame.contains(words));
    assert!(
        shown(" of 66 matches, round "),
        "progress: {:#?}",
        terminal.frames
    );
    assert!(shown("PLAYER  NAME"), "the table: {:#?}", terminal.frames);
    let left = terminal.text();
    assert!(
        left.contains("Champion") && left.contains("Data      league.db"),
        "{left}"
    );
    assert!(
        !left.contains('░') && !left.contains(" matches, round "),
        "nothing is left of the view: {left}"
    );
    assert!(
        !written.contains("\x1b[?"),
        "no mode of the terminal is changed"
    );
}

#[test]
fn a_terminal_that_cannot_move_its_cursor_gets_plain_lines() {
    let league = "run --port-base 0 --store league.db --players 2 --referees 1 --pace 0 --no-stay";
    let Some(written) = on_a_terminal(&Program::new(), "dumb", league) else {
        return;
    };
    assert!(written.contains("round 1 of 1: R1M1"), "{written}");
    assert!(
        !written.contains("\x1b[J") && !written.contains('░'),
        "{written}"
    );
}
