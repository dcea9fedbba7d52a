//! A program that knows the rules of a game: one process, kept running, asked by one line of JSON at a time and answering by
//! one. It has so much time for an answer and so much memory; when it breaks off or is late it is ended, with all that it
//! has started, and started anew for the next question. It keeps nothing, so nothing is lost with it.

use super::command::{Group, NoProgram, Program};
use super::reading::shown;
use crate::shell::Rules;
use crate::shell::rules::Ruling;
use matchday_core::agent::{Appeal, Decision};
use matchday_core::game::outside::OutsideGame;
use serde_json::{Value, json};
use std::fmt;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::sync::Mutex;
use tokio::time::timeout;

/// A position is short: a program that writes a longer line is not writing one.
const LINE_BYTES_MAX: u64 = 256 * 1024;

/// How many times the time for an answer the first one may take: an interpreter that starts on a busy machine is slow.
const STARTING: u32 = 5;

/// What a program may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// For one answer, but for the first of a process.
    pub time: Duration,
    pub memory_bytes: u64,
}

impl Default for Allowance {
    fn default() -> Self {
        Self { time: Duration::from_secs(2), memory_bytes: 512 << 20 }
    }
}

/// The program, which may be asked by many matches at once. They are answered one after the other.
#[derive(Debug, Clone)]
pub struct GameProgram {
    program: Program,
    allowance: Allowance,
    running: Arc<Mutex<Option<Running>>>,
}

/// The process of the moment. Dropping it ends it.
#[derive(Debug)]
struct Running {
    _child: Child,
    _group: Option<Group>,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

/// Why a question got no answer.
enum Failed {
    /// The program has ended or closed its pipes: another process may do better.
    BrokenOff(String),
    Answer(String),
}

impl GameProgram {
    /// `./rules --fast`: as `command:` takes it.
    pub fn named(command: &str, allowance: Allowance) -> Result<Self, NoProgram> {
        Ok(Self { program: command.parse()?, allowance, running: Arc::default() })
    }

    /// How long a referee waits for an answer: others may be asking too, and the program may have to be started.
    pub fn patience(&self) -> Duration {
        self.allowance.time * (STARTING + 5)
    }

    /// What the program says of its game.
    pub async fn describe(&self) -> Result<OutsideGame, String> {
        let said = self.ask(&json!({ "do": "describe" })).await?;
        let game: OutsideGame = serde_json::from_value(said)
            .map_err(|error| format!("what the program says of its game cannot be used: {error}"))?;
        let name = game.game_type.as_str();
        let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
        if name.is_empty() || name.len() > 64 || !name.chars().all(is_plain) {
            return Err(format!("game_type: expected lower-case letters, digits and _, got {name:?}"));
        }
        if matchday_core::game::find(&game.game_type).is_some() {
            return Err(format!("game_type: {name} is a game that is built in; choose another name"));
        }
        if !(1..=10_000).contains(&game.turns_max) {
            return Err(format!("turns_max: expected 1 to 10000, got {}", game.turns_max));
        }
        Ok(game)
    }

    /// One question, one answer. A process that has broken off is replaced once.
    async fn ask(&self, question: &Value) -> Decision {
        let mut slot = self.running.lock().await;
        let mut last = String::new();
        for _ in 0..2 {
            // Taken out, so that a process whose answer nobody waits for any more ends with the wait.
            let (mut running, time) = match slot.take() {
                Some(running) => (running, self.allowance.time),
                None => {
                    let started =
                        self.start().map_err(|error| format!("{self} cannot be started: {error}"))?;
                    (started, self.allowance.time * STARTING)
                }
            };
            match timeout(time, running.converse(question)).await {
                Ok(Ok(answer)) => {
                    *slot = Some(running);
                    return Ok(answer);
                }
                Ok(Err(Failed::BrokenOff(why))) => last = why,
                Ok(Err(Failed::Answer(why))) => return Err(why),
                Err(_) => {
                    let seconds = time.as_secs_f64();
                    return Err(format!("the rules of the game have not answered in {seconds} s"));
                }
            }
        }
        Err(last)
    }

    fn start(&self) -> std::io::Result<Running> {
        // What goes wrong in it is its author's to read.
        let mut child = self.program.start(Stdio::inherit())?;
        let group = child.id().and_then(Group::of);
        bound_memory(&child, self.allowance.memory_bytes)?;
        let closed = || std::io::Error::other("it has no standard input or output");
        let stdin = child.stdin.take().ok_or_else(closed)?;
        let stdout = BufReader::new(child.stdout.take().ok_or_else(closed)?);
        Ok(Running { _child: child, _group: group, stdin, stdout })
    }
}

#[cfg(target_os = "linux")]
fn bound_memory(child: &Child, bytes: u64) -> std::io::Result<()> {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let pid = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    // Without a number it has ended already.
    if pid.is_some() {
        prlimit(pid, Resource::As, Rlimit { current: Some(bytes), maximum: Some(bytes) })?;
    }
    Ok(())
}

/// Elsewhere no process can be bounded from outside.
#[cfg(not(target_os = "linux"))]
fn bound_memory(_: &Child, _: u64) -> std::io::Result<()> {
    Ok(())
}

impl fmt::Display for GameProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.program.words())
    }
}

impl Running {
    async fn converse(&mut self, question: &Value) -> Result<Value, Failed> {
        let broken =
            |error: std::io::Error| Failed::BrokenOff(format!("the rules of the game broke off: {error}"));
        self.stdin.write_all(format!("{question}\n").as_bytes()).await.map_err(broken)?;
        self.stdin.flush().await.map_err(broken)?;
        let mut line = Vec::new();
        (&mut self.stdout).take(LINE_BYTES_MAX).read_until(b'\n', &mut line).await.map_err(broken)?;
        if line.is_empty() {
            return Err(Failed::BrokenOff("the rules of the game ended without an answer".to_owned()));
        }
        let answer: Value = serde_json::from_slice(&line).map_err(|error| {
            let said = String::from_utf8_lossy(&line);
            Failed::Answer(format!("the rules of the game answered {}: {error}", shown(&said)))
        })?;
        match answer.get("error") {
            Some(error) => Err(Failed::Answer(format!("the rules of the game say: {error}"))),
            None => Ok(answer),
        }
    }
}

impl Rules for GameProgram {
    fn position(&self, appeal: Appeal) -> Ruling {
        let program = self.clone();
        Box::pin(async move {
            let Appeal { match_id, history, .. } = appeal;
            program.ask(&json!({ "do": "position", "match_id": match_id, "history": history })).await
        })
    }
}
