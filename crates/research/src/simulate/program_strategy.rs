//! An external program as a strategy of a simulation. Called synchronously by the simulating thread, with a timeout.

use crate::{ExternalStrategy, Place};
use matchday_core::game::turn::TurnSheet;
use matchday_runtime::Decider;
use matchday_runtime::clock::Clock;
use matchday_runtime::decider::{Failure, FailureKind};
use matchday_runtime::deciders::player_strategy::ExternalDecider;
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::timeout;

#[derive(Debug)]
pub struct ProgramStrategy {
    decider: Arc<dyn Decider>,
    think_time: Duration,
    runtime: Handle,
    clock: Clock,
    /// Why the last decision failed.
    last_failure: Mutex<Option<String>>,
}

impl ProgramStrategy {
    pub fn new(external: &ExternalDecider, runtime: Handle) -> Self {
        Self {
            decider: Arc::clone(&external.decider),
            think_time: external.think_time,
            runtime,
            clock: Clock::start(),
            last_failure: Mutex::new(None),
        }
    }

    pub fn last_failure(&self) -> Option<String> {
        self.last_failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    async fn decide_in_time(&self, turn: TurnSheet) -> Result<Value, Failure> {
        match timeout(self.think_time, self.decider.decide(turn.clone())).await {
            Ok(answer) => {
                let remark = answer
                    .remark
                    .map_or_else(String::new, |remark| format!("; it says {remark}"));
                let said =
                    |kind: FailureKind| move |why: String| kind.because(format!("{why}{remark}"));
                match answer.decision {
                    Ok(value) => turn.check(value).map_err(said(FailureKind::Illegal)),
                    Err(why) => Err(said(FailureKind::Unreadable)(why)),
                }
            }
            Err(_) => Err(FailureKind::Late.because(format!(
                "nothing was decided in {:.1} s",
                self.think_time.as_secs_f64()
            ))),
        }
    }
}

impl ExternalStrategy for ProgramStrategy {
    fn decide(&self, mut turn: TurnSheet, _place: Place) -> Result<Value, FailureKind> {
        turn.deadline = self.clock.now() + self.think_time;
        turn.time_left_ms = u64::try_from(self.think_time.as_millis()).unwrap_or(u64::MAX);
        let decided = self.runtime.block_on(self.decide_in_time(turn));
        decided.map_err(|Failure { kind, why }| {
            *self
                .last_failure
                .lock()
                .unwrap_or_else(PoisonError::into_inner) = Some(why);
            kind
        })
    }
}
