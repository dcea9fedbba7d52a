//! The whole terminal, which `script` of util-linux provides.

use crate::other_manager::{OtherManager, UNKNOWN_METHOD};
use matchday_testkit::cli::Cli;
use matchday_testkit::tools;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

/// What a terminal shows. Only what has changed is written to it, so words are not found in the bytes.
struct Shown {
    cells: Vec<Vec<char>>,
    row: usize,
    column: usize,
    /// Whether the whole screen is in use, and whether it was.
    full: bool,
    given_back: bool,
    unread: String,
}

impl Shown {
    fn blank() -> Self {
        let cells = vec![vec![' '; 80]; 24];
        Self { cells, row: 0, column: 0, full: false, given_back: false, unread: String::new() }
    }

    fn take(&mut self, bytes: &[u8]) {
        self.unread.push_str(&String::from_utf8_lossy(bytes));
        let text = std::mem::take(&mut self.unread);
        let mut rest = text.as_str();
        while let Some(c) = rest.chars().next() {
            let Some(after) = rest.strip_prefix("\x1b[") else {
                self.put(c);
                rest = &rest[c.len_utf8()..];
                continue;
            };
            // A sequence of which the end is still to come is read with it.
            let Some(end) = after.find(|c: char| c.is_ascii_alphabetic()) else { break };
            self.control(&after[..end], after.as_bytes()[end]);
            rest = &after[end + 1..];
        }
        self.unread = rest.to_owned();
    }

    fn control(&mut self, numbers: &str, kind: u8) {
        match (kind, numbers) {
            (b'H', place) => {
                let mut place = place.split(';').map(|number| number.parse().unwrap_or(1_usize) - 1);
                (self.row, self.column) = (place.next().unwrap_or(0), place.next().unwrap_or(0));
            }
            (b'J', _) => self.cells.iter_mut().for_each(|row| row.fill(' ')),
            (b'h', "?1049") => self.full = true,
            (b'l', "?1049") => (self.full, self.given_back) = (false, true),
            _ => {}
        }
    }

    fn put(&mut self, c: char) {
        if let Some(cell) = self.cells.get_mut(self.row).and_then(|row| row.get_mut(self.column)) {
            *cell = c;
            self.column += 1;
        }
    }

    fn text(&self) -> String {
        let rows = self.cells.iter().map(|row| row.iter().collect::<String>().trim_end().to_owned());
        rows.collect::<Vec<_>>().join("\n")
    }
}

/// `matchday watch` on a terminal of its own.
struct Watching {
    child: Child,
    keys: ChildStdin,
    written: Receiver<Vec<u8>>,
    shown: Shown,
}

impl Watching {
    /// `None` if there is no `script`.
    fn start(cli: &Cli) -> Option<Self> {
        if !tools::require("script") {
            return None;
        }
        let (matchday, manager) = (env!("CARGO_BIN_EXE_matchday"), &cli.manager);
        let line = format!("stty cols 80 rows 24; TERM=xterm exec {matchday} watch --manager {manager}");
        let mut command = matchday_testkit::cli::command("script");
        command.args(["-qefc", &line, "/dev/null"]).current_dir(cli.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (keys, mut out) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (tell, written) = mpsc::channel();
        thread::spawn(move || {
            let mut some = [0; 4096];
            while let Ok(count @ 1..) = out.read(&mut some) {
                if tell.send(some[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Some(Self { child, keys, written, shown: Shown::blank() })
    }

    /// Reads on until something is so.
    fn until(&mut self, what: &str, is_so: impl Fn(&Shown) -> bool) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !is_so(&self.shown) {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.written.recv_timeout(left) {
                Ok(more) => self.shown.take(&more),
                Err(error) => panic!("{what} was never seen ({error}):\n{}", self.shown.text()),
            }
        }
    }

    fn until_shown(&mut self, words: &str) {
        self.until(words, |shown| shown.full && shown.text().contains(words));
    }

    /// The terminal is as it was, and the program has ended well.
    fn until_left(&mut self) {
        assert_eq!(self.until_ended(), Some(0));
    }

    /// The terminal is as it was; the exit code.
    fn until_ended(&mut self) -> Option<i32> {
        self.until("the end", |shown| shown.given_back);
        self.child.wait().unwrap().code()
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// The program itself, which `script` has started.
    fn program(&self) -> String {
        let pid = self.child.id();
        let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
        children.split_whitespace().next().unwrap().to_owned()
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_league_is_followed_by_keys_until_somebody_leaves() {
    let cli = Cli::new(crate::MATCHDAY);
    let _manager = cli.manager(&["--lead", "0"]);
    let _agents = cli.agents(1, 2);
    let Some(mut watching) = Watching::start(&cli) else { return };
    watching.until_shown("2 players have registered");
    assert_eq!(cli.ask(&["start"]).code, 0);
    watching.until_shown("1 of 1 matches");
    watching.press("2");
    watching.until_shown("R1M1");
    watching.press("?");
    watching.until_shown("this help");
    watching.press("q");
    watching.until_left();
}

#[test]
fn a_manager_that_goes_away_is_waited_for() {
    let cli = Cli::new(crate::MATCHDAY);
    let Some(mut watching) = Watching::start(&cli) else { return };
    watching.until_shown("no manager answers");
    let _manager = cli.manager(&[]);
    watching.until_shown("0 players have registered");
    watching.press("\x03");
    watching.until_left();
}

#[test]
fn the_terminal_is_given_back_when_the_program_is_told_to_stop() {
    let cli = Cli::new(crate::MATCHDAY);
    let Some(mut watching) = Watching::start(&cli) else { return };
    watching.until_shown("no manager answers");
    assert!(Command::new("kill").args(["-s", "TERM", &watching.program()]).status().unwrap().success());
    watching.until_left();
}

#[test]
fn a_manager_that_does_not_know_the_questions_is_not_waited_for() {
    let other = OtherManager::start(|_| (200, UNKNOWN_METHOD.to_owned()));
    let cli = other.cli();
    let Some(mut watching) = Watching::start(&cli) else { return };
    assert_eq!(watching.until_ended(), Some(1));
}

#[test]
fn without_a_terminal_it_says_what_to_use_instead() {
    let done = Cli::new(crate::MATCHDAY).ask(&["watch"]);
    assert!(done.failed(2).contains("`matchday standings --watch`"), "{done:?}");
}
