//! A folder of its own for each test, and processes that end with it.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

pub(crate) const TOKEN: &str = "tok_operator_of_the_tests";

pub(crate) struct Ground {
    folder: tempfile::TempDir,
    pub(crate) manager: String,
    listen: String,
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Done {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// It failed with this code, and with one line.
    pub(crate) fn failed(&self, code: i32) -> &str {
        assert_eq!((self.code, self.err.lines().count()), (code, 1), "{self:?}");
        self.err.strip_prefix("matchday: ").expect("one line from matchday").trim_end()
    }
}

/// A port that nobody listens on.
pub(crate) fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

impl Ground {
    pub(crate) fn new() -> Self {
        let listen = free_address();
        let manager = format!("http://{listen}/mcp");
        Self { folder: tempfile::tempdir().unwrap(), manager, listen }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_matchday"));
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("MATCHDAY_")) {
            command.env_remove(name);
        }
        command.args(args).current_dir(self.path()).stdin(Stdio::null());
        command
    }

    /// Runs a command to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Done {
        done(self.command(args))
    }

    /// Runs a command that talks to the manager.
    pub(crate) fn ask(&self, args: &[&str]) -> Done {
        done({
            let mut command = self.command(args);
            command.args(["--manager", &self.manager]);
            command
        })
    }

    pub(crate) fn start(&self, args: &[&str]) -> Running {
        Running::new(self.command(args))
    }

    pub(crate) fn manager(&self, args: &[&str]) -> Running {
        let mut command = self.command(&["manager", "--listen", &self.listen, "--operator-token", TOKEN]);
        command.args(args);
        let manager = Running::new(command);
        manager.until("listening on");
        manager
    }

    /// A referee or a player on a free port.
    pub(crate) fn agent(&self, args: &[&str]) -> Running {
        self.agent_in(&[], args)
    }

    /// The same, in an environment that holds this too.
    pub(crate) fn agent_in(&self, variables: &[(&str, &str)], args: &[&str]) -> Running {
        let listen = free_address();
        let mut command = self.command(args);
        command.args(["--listen", &listen, "--manager", &self.manager]);
        command.envs(variables.iter().copied());
        Running::new(command)
    }

    pub(crate) fn agents(&self, referees: usize, players: usize) -> Vec<Running> {
        let referees = (0..referees).map(|_| self.agent(&["referee"]));
        let players = (0..players).map(|_| self.agent(&["player"]));
        let agents: Vec<_> = referees.chain(players).collect();
        agents.iter().for_each(|agent| agent.until("registered as"));
        agents
    }

    pub(crate) fn until_status(&self, wanted: &str) {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            let status = self.ask(&["status", "--json"]);
            if status.code == 0 && status.json()["status"] == wanted {
                return;
            }
            assert!(Instant::now() < deadline, "never {wanted}: {status:?}");
            thread::sleep(Duration::from_millis(50));
        }
    }
}

pub(crate) fn done(mut command: Command) -> Done {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Done { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
}

/// A process that keeps running, and what it has said so far.
pub(crate) struct Running {
    child: Child,
    out: Arc<Mutex<String>>,
    err: Arc<Mutex<String>>,
}

impl Running {
    pub(crate) fn new(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (out, err) = (collect(child.stdout.take().unwrap()), collect(child.stderr.take().unwrap()));
        Self { child, out, err }
    }

    pub(crate) fn out(&self) -> String {
        self.out.lock().unwrap().clone()
    }

    pub(crate) fn err(&self) -> String {
        self.err.lock().unwrap().clone()
    }

    /// Waits until it has said something, on either stream.
    pub(crate) fn until(&self, words: &str) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while !self.out().contains(words) && !self.err().contains(words) {
            assert!(Instant::now() < deadline, "never said {words:?}: {}{}", self.out(), self.err());
            thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, name: &str) {
        let pid = self.pid().to_string();
        assert!(Command::new("kill").args(["-s", name, &pid]).status().unwrap().success());
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }
}

impl Drop for Running {
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
