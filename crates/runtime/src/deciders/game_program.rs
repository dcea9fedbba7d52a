//! A program that knows the rules of a game: a long-running process that answers each line of JSON with one line. Time and memory
//! are limited; a process that is late is killed with its process group, and a new one is started for the next request.
//! The program is stateless.

use super::command::{Program, ProgramError};
use super::line_process::{LINE_BYTES_MAX, LineError, LineProcess};
use super::parse_move::excerpt;
use crate::ExternalRules;
use crate::rules::Ruling;
use matchday_core::agent::{ExternalResult, RulesRequest};
use matchday_core::game::external::ExternalGameInfo;
use serde_json::{Value, json};
use std::fmt;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::timeout;

/// The first answer of a process may take this many times longer: interpreters start slowly on a busy machine.
const START_FACTOR: u32 = 5;

/// The limits of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResourceLimits {
    /// For one answer, but for the first of a process.
    pub time: Duration,
    /// Of resident memory, of the process and all that it has started.
    pub memory_bytes: u64,
}

impl Default for ResourceLimits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(2),
            memory_bytes: 512 << 20,
        }
    }
}

/// The program. Requests of several matches are answered one after the other.
#[derive(Debug, Clone)]
pub struct GameProgram {
    program: Program,
    limits: ResourceLimits,
    running: Arc<Mutex<Option<LineProcess>>>,
}

impl GameProgram {
    /// `./rules --fast`: as `command:` takes it.
    pub fn named(command: &str, limits: ResourceLimits) -> Result<Self, ProgramError> {
        Ok(Self {
            program: command.parse()?,
            limits,
            running: Arc::default(),
        })
    }

    /// How long a referee waits for an answer, with time for other requests before it and for the start.
    pub fn answer_timeout(&self) -> Duration {
        self.limits.time * (START_FACTOR + 5)
    }

    /// The game as the program describes it.
    pub async fn describe(&self) -> Result<ExternalGameInfo, String> {
        let said = self.ask(&json!({ "do": "describe" })).await?;
        let game: ExternalGameInfo = serde_json::from_value(said).map_err(|error| {
            format!("what the program says of its game cannot be used: {error}")
        })?;
        let name = game.game_type.as_str();
        let is_plain =
            |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
        if name.is_empty() || name.len() > 64 || !name.chars().all(is_plain) {
            return Err(format!(
                "game_type: expected lower-case letters, digits and _, got {name:?}"
            ));
        }
        if matchday_core::game::find(&game.game_type).is_some() {
            return Err(format!(
                "game_type: {name} is a game that is built in; choose another name"
            ));
        }
        if !(1..=10_000).contains(&game.turns_max) {
            return Err(format!(
                "turns_max: expected 1 to 10000, got {}",
                game.turns_max
            ));
        }
        Ok(game)
    }

    /// Sends one request and reads one answer. A process that has exited is replaced once.
    async fn ask(&self, question: &Value) -> ExternalResult {
        let mut slot = self.running.lock().await;
        let line = format!("{question}\n").into_bytes();
        let mut last = String::new();
        for _ in 0..2 {
            // Taken out of the slot, so that cancelling this future drops the process.
            let (mut running, time) = match slot.take() {
                Some(running) => (running, self.limits.time),
                None => {
                    let started = self.start().map_err(|error| error.to_string())?;
                    (started, self.limits.time * START_FACTOR)
                }
            };
            match timeout(time, running.exchange(&line)).await {
                Ok(Ok(answer)) => {
                    *slot = Some(running);
                    return read_answer(&answer);
                }
                Ok(Err(LineError::Ended(how))) => last = format!("the rules of the game: {how}"),
                Ok(Err(LineError::TooLong)) => {
                    return Err(format!(
                        "the rules of the game answered with more than {LINE_BYTES_MAX} bytes"
                    ));
                }
                Err(_) => {
                    let seconds = time.as_secs_f64();
                    return Err(format!(
                        "the rules of the game have not answered in {seconds} s"
                    ));
                }
            }
        }
        Err(last)
    }

    fn start(&self) -> std::io::Result<LineProcess> {
        // Its standard error is for its author.
        LineProcess::start(
            &self.program,
            Stdio::inherit(),
            Some(self.limits.memory_bytes),
        )
    }
}

/// The JSON of an answer, unless it is an error.
fn read_answer(line: &[u8]) -> ExternalResult {
    let answer: Value = serde_json::from_slice(line).map_err(|error| {
        let said = String::from_utf8_lossy(line);
        format!("the rules of the game answered {}: {error}", excerpt(&said))
    })?;
    match answer.get("error") {
        Some(error) => Err(format!("the rules of the game say: {error}")),
        None => Ok(answer),
    }
}

impl fmt::Display for GameProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.program.command_line())
    }
}

impl ExternalRules for GameProgram {
    fn position(&self, request: RulesRequest) -> Ruling {
        let program = self.clone();
        Box::pin(async move {
            let RulesRequest {
                match_id, history, ..
            } = request;
            program
                .ask(&json!({ "do": "position", "match_id": match_id, "history": history }))
                .await
        })
    }
}
