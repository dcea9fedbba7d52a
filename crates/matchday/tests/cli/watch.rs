//! The live view on a terminal, which `script` of util-linux provides.

use crate::other_manager::{OtherManager, UNKNOWN_METHOD};
use matchday_testkit::cli::Cli;
use matchday_testkit::tools;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

/// `matchday watch` on a terminal of its own.
struct Watching {
    child: Child,
    keys: ChildStdin,
    written: Receiver<Vec<u8>>,
    /// All that was written since the last look.
    shown: String,
}

impl Watching {
    /// `None` if there is no `script`.
    fn start(cli: &Cli) -> Option<Self> {
        if !tools::require("script") {
            return None;
        }
        let matchday = env!("CARGO_BIN_EXE_matchday");
        let manager = &cli.manager;
        let line =
            format!("stty cols 80 rows 24; TERM=xterm exec {matchday} watch --manager {manager}");
        let mut command = matchday_testkit::cli::command("script");
        command
            .args(["-qefc", &line, "/dev/null"])
            .current_dir(cli.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let keys = child.stdin.take().unwrap();
        let mut out = child.stdout.take().unwrap();
        let (tell, written) = mpsc::channel();
        thread::spawn(move || {
            let mut some = [0; 4096];
            while let Ok(count @ 1..) = out.read(&mut some) {
                if tell.send(some[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Some(Self {
            child,
            keys,
            written,
            shown: String::new(),
        })
    }

    /// Reads on until these words are shown.
    fn until_shown(&mut self, words: &str) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !self.shown.contains(words) {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.written.recv_timeout(left) {
                Ok(more) => self.shown.push_str(&String::from_utf8_lossy(&more)),
                Err(error) => panic!("{words} was never seen ({error}):\n{}", self.shown),
            }
        }
    }

    /// The exit code. No mode of the terminal was changed, and the cursor stands at the beginning of a line.
    fn until_ended(&mut self) -> Option<i32> {
        while let Ok(more) = self.written.recv() {
            self.shown.push_str(&String::from_utf8_lossy(&more));
        }
        assert!(!self.shown.contains("\x1b[?"), "{}", self.shown);
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
fn a_league_is_followed_until_it_is_over() {
    let cli = Cli::new(crate::MATCHDAY);
    let _manager = cli.manager(&["--lead", "0"]);
    let _agents = cli.agents(1, 2);
    let Some(mut watching) = Watching::start(&cli) else {
        return;
    };
    watching.until_shown("2 players have registered");
    assert_eq!(cli.ask(&["start"]).code, 0);
    watching.until_shown("1 of 1 matches, round 1 of 1, over");
    watching.until_shown("R1M1: ");
    assert_eq!(watching.until_ended(), Some(0));
}

#[test]
fn a_manager_that_goes_away_is_waited_for() {
    let cli = Cli::new(crate::MATCHDAY);
    let Some(mut watching) = Watching::start(&cli) else {
        return;
    };
    watching.until_shown("no manager answers");
    let _manager = cli.manager(&[]);
    watching.until_shown("0 players have registered");
    watching.press("\x03");
    assert_eq!(watching.until_ended(), Some(0));
}

#[test]
fn it_ends_well_when_the_program_is_told_to_stop() {
    let cli = Cli::new(crate::MATCHDAY);
    let Some(mut watching) = Watching::start(&cli) else {
        return;
    };
    watching.until_shown("no manager answers");
    assert!(
        Command::new("kill")
            .args(["-s", "TERM", &watching.program()])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(watching.until_ended(), Some(0));
}

#[test]
fn a_manager_that_does_not_know_the_questions_is_not_waited_for() {
    let other = OtherManager::start(|_| (200, UNKNOWN_METHOD.to_owned()));
    let cli = other.cli();
    let Some(mut watching) = Watching::start(&cli) else {
        return;
    };
    assert_eq!(watching.until_ended(), Some(1));
}
