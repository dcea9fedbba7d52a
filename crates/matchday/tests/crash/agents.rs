//! The agents of a league, each a process of its own that can be killed and started again.

use crate::chance::Chance;
use matchday_testkit::address::free_address;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

pub(crate) fn matchday() -> Command {
    matchday_testkit::cli::command(env!("CARGO_BIN_EXE_matchday"))
}

/// So that what goes wrong does so soon.
const SHORT_TIMEOUTS: &str = "--join-timeout 1 --choice-timeout 1 --retries 2 --retry-delay 0.1";

pub(crate) struct Agents {
    folder: PathBuf,
    /// Where the manager listens.
    pub(crate) manager: String,
    all: Vec<Agent>,
}

struct Agent {
    name: String,
    words: Vec<String>,
    child: Child,
}

impl Agents {
    /// The manager keeps the league in `store`, everyone else has a file of their own.
    pub(crate) fn start(folder: &Path, store: &str, players: u16, referees: u16) -> Self {
        Self::start_with(folder, store, SHORT_TIMEOUTS, players, referees)
    }

    /// With other times to answer.
    pub(crate) fn start_with(
        folder: &Path,
        store: &str,
        timing: &str,
        players: u16,
        referees: u16,
    ) -> Self {
        let ports: Vec<u16> = (0..1 + referees + players)
            .map(|_| free_address().port())
            .collect();
        let (manager, others) = ports.split_first().unwrap();
        let (for_referees, for_players) = others.split_at(referees.into());
        let listen = format!("127.0.0.1:{manager}");
        let mut agents = Self {
            folder: folder.to_owned(),
            manager: listen,
            all: Vec::new(),
        };
        agents.add(
            "manager".into(),
            &format!(
                "manager --listen 127.0.0.1:{manager} --store {store} --lead 0.4 {timing} \
                 --start-when players={players},referees={referees}"
            ),
        );
        let url = format!("--manager http://127.0.0.1:{manager}/mcp");
        for port in for_referees {
            agents.add(
                format!("referee {port}"),
                &format!("referee --listen 127.0.0.1:{port} {url} {timing}"),
            );
        }
        for port in for_players {
            agents.add(
                format!("player {port}"),
                &format!("player --listen 127.0.0.1:{port} {url}"),
            );
        }
        agents
    }

    fn add(&mut self, name: String, line: &str) {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let child = self.spawn(&name, &words);
        self.all.push(Agent { name, words, child });
    }

    fn spawn(&self, name: &str, words: &[String]) -> Child {
        let path = self.folder.join(format!("{name}.log"));
        let log: File = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .unwrap();
        let errors = log.try_clone().unwrap();
        let mut command = matchday();
        command
            .current_dir(&self.folder)
            .args(words)
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors);
        command.spawn().unwrap()
    }

    /// Kills one of them outright, drawn at random, and starts it again after a while.
    pub(crate) fn crash(&mut self, chance: &mut Chance) {
        let place = usize::try_from(chance.below(self.all.len() as u64)).unwrap();
        self.crash_at(place, chance);
    }

    pub(crate) fn crash_manager(&mut self, chance: &mut Chance) {
        self.crash_at(0, chance);
    }

    fn crash_at(&mut self, place: usize, chance: &mut Chance) {
        if let Some(status) = self.all[place].child.try_wait().unwrap() {
            panic!(
                "{} ended by itself, {status}\n{}",
                self.all[place].name,
                self.last_words()
            );
        }
        self.all[place].child.kill().unwrap();
        self.all[place].child.wait().unwrap();
        std::thread::sleep(Duration::from_millis(chance.below(80)));
        println!("killed {}", self.all[place].name);
        let child = self.spawn(&self.all[place].name, &self.all[place].words);
        self.all[place].child = child;
    }

    /// Stops the first whose name begins so, for a while, as a machine does that sleeps.
    pub(crate) fn stop(&self, kind: &str, span: Duration) {
        let agent = self
            .all
            .iter()
            .find(|agent| agent.name.starts_with(kind))
            .unwrap();
        let pid = Pid::from_child(&agent.child);
        kill_process(pid, Signal::STOP).unwrap();
        std::thread::sleep(span);
        kill_process(pid, Signal::CONT).unwrap();
    }

    /// What an agent wrote so far.
    pub(crate) fn said(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.join(format!("{name}.log"))).unwrap_or_default()
    }

    /// The end of what each of them wrote.
    pub(crate) fn last_words(&self) -> String {
        let mut text = String::new();
        for agent in &self.all {
            let log = self.said(&agent.name);
            let lines: Vec<&str> = log.lines().collect();
            text.push_str(&format!(
                "--- {}\n{}\n",
                agent.name,
                lines[lines.len().saturating_sub(15)..].join("\n")
            ));
        }
        text
    }
}

impl Drop for Agents {
    fn drop(&mut self) {
        for agent in &mut self.all {
            let _ = agent.child.kill();
            let _ = agent.child.wait();
        }
    }
}
