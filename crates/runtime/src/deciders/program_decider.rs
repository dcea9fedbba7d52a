//! A program as decider. At first it is started for each turn. If it answers `{"move": ..., "persistent": true}`, its
//! processes are kept: each answers turn after turn, of any match, one line of JSON for each. A process that crashes is
//! replaced; several turns at once have a process each.

use super::command::{Program, ProgramError};
use super::line_process::{LINE_BYTES_MAX, LineError, LineProcess};
use super::one_shot;
use super::parse_move::parse_exact;
use crate::Decider;
use crate::decider::{Decided, Deciding};
use matchday_core::game::turn::TurnSheet;
use serde_json::Value;
use std::fmt;
use std::process::Stdio;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// How many processes are kept that have no turn to answer.
const IDLE_MAX: usize = 16;

/// Clones share their processes.
#[derive(Debug, Clone)]
pub struct ProgramDecider {
    program: Arc<Program>,
    /// Whether the program has said that it answers more than one turn.
    persistent: Arc<AtomicBool>,
    idle: Arc<Mutex<Vec<LineProcess>>>,
}

/// As it is written after `command:`.
impl FromStr for ProgramDecider {
    type Err = ProgramError;

    fn from_str(text: &str) -> Result<Self, ProgramError> {
        Ok(Self {
            program: Arc::new(text.parse()?),
            persistent: Arc::default(),
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
        if reply.as_deref().is_ok_and(announces_persistence) {
            self.persistent.store(true, Ordering::Relaxed);
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

fn announces_persistence(reply: &str) -> bool {
    let answer: Option<Value> = serde_json::from_str(reply).ok();
    answer.is_some_and(|answer| answer.get("persistent") == Some(&Value::Bool(true)))
}
