//! A program as decider. At first it is started for each turn. If it answers `{"move": ..., "persistent": true}`, its
//! processes are kept: each answers turn after turn, of any match, one line of JSON for each. A process that crashes is
//! replaced; several turns at once have a process each. If it says `"batch": true` too, it can be asked many turns in one line.

use super::command::{Program, ProgramError};
use super::line_process::{LINE_BYTES_MAX, LineError, LineProcess};
use super::one_shot;
use super::parse_move::parse_exact;
use crate::Decider;
use crate::decider::{BatchDecider, Decided, Deciding, DecidingAll};
use matchday_core::game::turn::TurnSheet;
use serde::Deserialize;
use serde_json::Value;
use std::fmt;
use std::process::Stdio;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// How many processes are kept that have no turn to answer.
const IDLE_MAX: usize = 16;

/// Clones share their processes.
#[derive(Debug, Clone)]
pub struct ProgramDecider {
    program: Arc<Program>,
    /// Whether the program has said that it answers more than one turn.
    persistent: Arc<AtomicBool>,
    /// Whether it has said that it answers many turns in one line.
    batch: Arc<AtomicBool>,
    batches: Arc<Batches>,
    idle: Arc<Mutex<Vec<LineProcess>>>,
}

/// As it is written after `command:`.
impl FromStr for ProgramDecider {
    type Err = ProgramError;

    fn from_str(text: &str) -> Result<Self, ProgramError> {
        Ok(Self {
            program: Arc::new(text.parse()?),
            persistent: Arc::default(),
            batch: Arc::default(),
            batches: Arc::default(),
            idle: Arc::default(),
        })
    }
}

impl fmt::Display for ProgramDecider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.program.fmt(f)
    }
}

impl Decider for ProgramDecider {
    fn decide(&self, turn: TurnSheet) -> Deciding {
        let decider = self.clone();
        Box::pin(async move { decider.decide_turn(&turn).await })
    }

    fn batches(&self) -> Option<&dyn BatchDecider> {
        self.batch
            .load(Ordering::Relaxed)
            .then_some(self as &dyn BatchDecider)
    }
}

impl ProgramDecider {
    async fn decide_turn(&self, turn: &TurnSheet) -> Decided {
        let mut line = match serde_json::to_vec(turn) {
            Ok(line) => line,
            Err(error) => {
                return Err(format!("the turn cannot be written as JSON: {error}")).into();
            }
        };
        line.push(b'\n');
        let (reply, remark) = if self.persistent.load(Ordering::Relaxed) {
            self.ask_persistent(&line).await
        } else {
            one_shot::run(&self.program, &line).await
        };
        if reply
            .as_deref()
            .is_ok_and(|reply| announces("persistent", reply))
        {
            self.persistent.store(true, Ordering::Relaxed);
            let batch = reply
                .as_deref()
                .is_ok_and(|reply| announces("batch", reply));
            self.batch.fetch_or(batch, Ordering::Relaxed);
        }
        match (
            reply.and_then(|reply| parse_exact(&reply, &turn.options)),
            remark,
        ) {
            // After a failure, the last line of standard error is part of the reason.
            (Err(why), Some(last)) => Err(format!("{why}; its last words: {last}")).into(),
            (decision, remark) => Decided {
                remark,
                ..Decided::from(decision)
            },
        }
    }

    /// Asks an idle process, or a new one if there is none or it has ended meanwhile.
    async fn ask_persistent(&self, line: &[u8]) -> (Result<String, String>, Option<String>) {
        // Taken out of the pool, so that cancelling this future kills the process.
        let idle = self.idle().pop();
        if let Some(mut process) = idle {
            let answer = process.exchange(line).await;
            if !matches!(answer, Err(LineError::Ended(_))) {
                return self.finish(process, answer);
            }
        }
        let mut process = match LineProcess::start(&self.program, Stdio::piped(), None) {
            Ok(process) => process,
            Err(error) => return (Err(error.to_string()), None),
        };
        let answer = process.exchange(line).await;
        self.finish(process, answer)
    }

    /// Keeps a process that has answered.
    fn finish(
        &self,
        process: LineProcess,
        answer: Result<Vec<u8>, LineError>,
    ) -> (Result<String, String>, Option<String>) {
        let remark = process.last_error_line();
        let reply = match answer {
            Err(LineError::Ended(how)) => Err(format!("the program failed: {how}")),
            Err(LineError::TooLong) => Err(format!(
                "the program writes more than {LINE_BYTES_MAX} bytes"
            )),
            Ok(line) => {
                let mut idle = self.idle();
                if idle.len() < IDLE_MAX {
                    idle.push(process);
                }
                String::from_utf8(line)
                    .map_err(|_| "what the program writes is not text".to_owned())
            }
        };
        (reply, remark)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<LineProcess>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn announces(what: &str, reply: &str) -> bool {
    let answer: Option<Value> = serde_json::from_str(reply).ok();
    answer.is_some_and(|answer| answer.get(what) == Some(&Value::Bool(true)))
}

/// The one process that answers many turns in a line.
#[derive(Debug, Default)]
struct Batches {
    process: tokio::sync::Mutex<Option<LineProcess>>,
    /// How many processes there have been: each begins without a memory.
    processes: AtomicU64,
}

/// Counts a process as lost, unless it has answered: the next one remembers nothing.
struct Lost<'a>(&'a AtomicU64);

impl Drop for Lost<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// The answer to many turns.
#[derive(Debug, Deserialize)]
struct Moves {
    moves: Vec<Value>,
}

impl BatchDecider for ProgramDecider {
    fn process_number(&self) -> u64 {
        self.batches.processes.load(Ordering::Relaxed)
    }

    fn decide_all<'a>(&'a self, turns: &'a [Vec<u8>]) -> DecidingAll<'a> {
        Box::pin(self.ask_all(turns))
    }
}

impl ProgramDecider {
    /// Asks many turns in one line, `{"turns": [...]}`, and reads their moves from one, `{"moves": [...]}`. Dropping this ends the
    /// process.
    async fn ask_all(&self, turns: &[Vec<u8>]) -> Result<Vec<Value>, String> {
        let mut line = b"{\"turns\":[".to_vec();
        line.extend(turns.join(&b','));
        line.extend(b"]}\n");
        let mut slot = self.batches.process.lock().await;
        let mut process = match slot.take() {
            Some(process) => process,
            None => LineProcess::start(&self.program, Stdio::piped(), None)
                .map_err(|error| error.to_string())?,
        };
        let lost = Lost(&self.batches.processes);
        let answer = process.exchange(&line).await.map_err(|error| match error {
            LineError::Ended(how) => format!("the program failed: {how}"),
            LineError::TooLong => format!("the program writes more than {LINE_BYTES_MAX} bytes"),
        })?;
        let moves = serde_json::from_slice::<Moves>(&answer)
            .map_err(|error| format!("the program's answer to many turns cannot be read: {error}"))?
            .moves;
        if moves.len() != turns.len() {
            let (got, wanted) = (moves.len(), turns.len());
            return Err(format!(
                "the program answered {wanted} turns with {got} moves"
            ));
        }
        std::mem::forget(lost);
        *slot = Some(process);
        Ok(moves)
    }
}
