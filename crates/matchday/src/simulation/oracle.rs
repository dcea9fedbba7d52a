//! A program as a strategy: asked for each move by the thread that plays the match, and ended when its time is up.

use crate::mind::chooser::Outside;
use crate::shell::Mind;
use crate::shell::clock::Clock;
use matchday_core::player::TurnSheet;
use matchday_simulate::Oracle;
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::timeout;

#[derive(Debug)]
pub(crate) struct ProgramOracle {
    mind: Arc<dyn Mind>,
    think_time: Duration,
    runtime: Handle,
    clock: Clock,
    /// Why there was no move, the last time that there was none.
    complaint: Mutex<Option<String>>,
}

impl ProgramOracle {
    pub(crate) fn new(outside: &Outside, runtime: Handle) -> Self {
        Self {
            mind: Arc::clone(&outside.mind),
            think_time: outside.think_time,
            runtime,
            clock: Clock::start(),
            complaint: Mutex::new(None),
        }
    }

    pub(crate) fn complaint(&self) -> Option<String> {
        self.complaint.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn consider(&self, turn: TurnSheet) -> Result<Value, String> {
        match timeout(self.think_time, self.mind.decide(turn.clone())).await {
            Ok(considered) => {
                let said = considered.remark.map_or_else(String::new, |remark| format!("; it says {remark}"));
                let decision = considered.decision.and_then(|value| turn.check(value));
                decision.map_err(|why| format!("{why}{said}"))
            }
            Err(_) => Err(format!("nothing was decided in {:.1} s", self.think_time.as_secs_f64())),
        }
    }
}

impl Oracle for ProgramOracle {
    fn decide(&self, mut turn: TurnSheet) -> Option<Value> {
        turn.deadline = self.clock.now() + self.think_time;
        turn.time_left_ms = u64::try_from(self.think_time.as_millis()).unwrap_or(u64::MAX);
        let decided = self.runtime.block_on(self.consider(turn));
        decided.map_err(|why| *self.complaint.lock().unwrap_or_else(PoisonError::into_inner) = Some(why)).ok()
    }
}
