//! The built program as people and scripts run it: in a temporary folder, as processes that end with the test.

use crate::address;
use crate::eventually::eventually;
use crate::page;
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{self, Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

pub const TOKEN: &str = "tok_operator_of_the_tests";

pub struct Cli {
    program: &'static str,
    folder: tempfile::TempDir,
    pub manager: String,
    pub listen: String,
}

/// How a command ended.
#[derive(Debug)]
pub struct Output {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl From<process::Output> for Output {
    fn from(output: process::Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let code = output.status.code().unwrap_or(-1);
        Self {
            code,
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }
}

impl Output {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// It failed with this code, and with one line.
    pub fn failed(&self, code: i32) -> &str {
        assert_eq!((self.code, self.err.lines().count()), (code, 1), "{self:?}");
        self.err
            .strip_prefix("matchday: ")
            .expect("one line from matchday")
            .trim_end()
    }
}

/// A port that nobody listens on.
pub fn free_address() -> String {
    address::free_address().to_string()
}

impl Cli {
    /// `program` is where the suite's package has it: `env!("CARGO_BIN_EXE_matchday")`.
    pub fn new(program: &'static str) -> Self {
        let listen = free_address();
        let manager = format!("http://{listen}/mcp");
        Self {
            program,
            folder: tempfile::tempdir().unwrap(),
            manager,
            listen,
        }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = command(self.program);
        command.args(args).current_dir(self.path());
        command
    }

    /// Runs a command to its end.
    pub fn run(&self, args: &[&str]) -> Output {
        output(self.command(args))
    }

    /// Runs a command that talks to the manager.
    pub fn ask(&self, args: &[&str]) -> Output {
        let mut command = self.command(args);
        command.args(["--manager", &self.manager]);
        output(command)
    }

    pub fn start(&self, args: &[&str]) -> Process {
        Process::start(self.command(args))
    }

    pub fn manager(&self, args: &[&str]) -> Process {
        let mut command = self.command(&[
            "manager",
            "--listen",
            &self.listen,
            "--operator-token",
            TOKEN,
        ]);
        command.args(args);
        let manager = Process::start(command);
        manager.until("listening on");
        manager
    }

    /// A referee or a player on a free port.
    pub fn agent(&self, args: &[&str]) -> Process {
        self.agent_in(&[], args)
    }

    /// The same, in an environment that holds this too.
    pub fn agent_in(&self, variables: &[(&str, &str)], args: &[&str]) -> Process {
        let listen = free_address();
        let mut command = self.command(args);
        command.args(["--listen", &listen, "--manager", &self.manager]);
        command.envs(variables.iter().copied());
        Process::start(command)
    }

    pub fn agents(&self, referees: usize, players: usize) -> Vec<Process> {
        let referees = (0..referees).map(|_| self.agent(&["referee"]));
        let players = (0..players).map(|_| self.agent(&["player"]));
        let agents: Vec<_> = referees.chain(players).collect();
        agents.iter().for_each(|agent| agent.until("registered as"));
        agents
    }

    /// Asks the manager itself: a command for each look would keep the machine busy.
    pub fn until_status(&self, wanted: &str) {
        let question =
            json!({"jsonrpc": "2.0", "id": 1, "method": "get_status", "params": {}}).to_string();
        eventually(wanted, || {
            let page = page::try_ask(&self.listen, "POST", "/mcp", &question)
                .map_err(|error| error.to_string())?;
            let answer: Value = serde_json::from_str(&page.body).unwrap_or_default();
            if answer["result"]["status"] == wanted {
                Ok(())
            } else {
                Err(page.body)
            }
        });
    }
}

/// A program in an environment without the settings of this one.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("MATCHDAY_")) {
        command.env_remove(name);
    }
    command.stdin(Stdio::null());
    command
}

/// Runs a command to its end.
pub fn output(mut command: Command) -> Output {
    command.output().unwrap().into()
}

/// A process that keeps running, and what it has said so far.
pub struct Process {
    child: Child,
    out: Arc<Mutex<String>>,
    err: Arc<Mutex<String>>,
}

impl Process {
    pub fn start(mut command: Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let out = collect(child.stdout.take().unwrap());
        let err = collect(child.stderr.take().unwrap());
        Self { child, out, err }
    }

    pub fn out(&self) -> String {
        self.out.lock().unwrap().clone()
    }

    pub fn err(&self) -> String {
        self.err.lock().unwrap().clone()
    }

    /// Waits until it has said something, on either stream.
    pub fn until(&self, words: &str) {
        eventually(words, || {
            let out = self.out();
            let err = self.err();
            if out.contains(words) || err.contains(words) {
                Ok(())
            } else {
                Err(out + &err)
            }
        });
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, name: &str) {
        let pid = self.pid().to_string();
        assert!(
            Command::new("kill")
                .args(["-s", name, &pid])
                .status()
                .unwrap()
                .success()
        );
    }

    pub fn wait(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn collect(stream: impl Read + Send + 'static) -> Arc<Mutex<String>> {
    let text = Arc::new(Mutex::new(String::new()));
    let collected = Arc::clone(&text);
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let mut text = collected.lock().unwrap();
            text.push_str(&line);
            text.push('\n');
        }
    });
    text
}

/// A registration that names no league.
pub fn registration() -> Value {
    json!({
        "protocol": "league.v2",
        "message_type": "LEAGUE_REGISTER_REQUEST",
        "sender": "player:alpha",
        "timestamp": "2026-03-02T09:00:00Z",
        "conversation_id": "conv-alpha",
        "player_meta": {
            "display_name": "Alpha",
            "version": "1.0.0",
            "game_types": ["even_odd"],
            "contact_endpoint": format!("http://{}/mcp", free_address()),
        },
    })
}
