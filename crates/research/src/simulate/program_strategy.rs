//! An external program as a strategy of a simulation. Called synchronously by the simulating thread, with a timeout. Turns for a
//! program that takes many in one message wait for each other: what has come while the program answers is the next message.

use crate::{ExternalStrategy, Place};
use matchday_core::game::turn::TurnSheet;
use matchday_runtime::Decider;
use matchday_runtime::clock::Clock;
use matchday_runtime::decider::{Failure, FailureKind};
use matchday_runtime::deciders::player_strategy::ExternalDecider;
use serde_json::Value;
use std::sync::mpsc::{Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
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
    last_failure: Arc<Mutex<Option<String>>>,
    /// To the thread that asks many turns at once, from the first of them on.
    batches: OnceLock<Mutex<Sender<QueuedTurn>>>,
}

/// A turn as JSON, and where its move goes.
type QueuedTurn = (Vec<u8>, SyncSender<Option<Value>>);

/// How many turns are asked in one message, at most.
const TURNS_MAX: usize = 512;
/// How many times longer than for one turn the answer to a message of many may take.
const TIMES: u32 = 10;

impl ProgramStrategy {
    pub fn new(external: &ExternalDecider, runtime: Handle) -> Self {
        Self {
            decider: Arc::clone(&external.decider),
            think_time: external.think_time,
            runtime,
            clock: Clock::start(),
            last_failure: Arc::default(),
            batches: OnceLock::new(),
        }
    }

    pub fn last_failure(&self) -> Option<String> {
        self.last_failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn fail(&self, why: String) {
        *self
            .last_failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(why);
    }

    fn decide_with_others(&self, turn: &TurnSheet) -> Result<Value, FailureKind> {
        let (give, take) = sync_channel(1);
        let asked = serde_json::to_vec(turn).map_err(|_| FailureKind::NotAsked)?;
        let queue = self
            .batches
            .get_or_init(|| Mutex::new(self.start_batches()));
        let sent = queue
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .send((asked, give));
        let value = sent.ok().and_then(|()| take.recv().ok()).flatten();
        turn.check(value.ok_or(FailureKind::Late)?).map_err(|why| {
            self.fail(why);
            FailureKind::Illegal
        })
    }

    /// Its thread ends with this strategy.
    fn start_batches(&self) -> Sender<QueuedTurn> {
        let (give, take) = channel::<QueuedTurn>();
        let decider = Arc::clone(&self.decider);
        let failure = Arc::clone(&self.last_failure);
        let runtime = self.runtime.clone();
        let time = self.think_time.saturating_mul(TIMES);
        std::thread::spawn(move || {
            while let Ok(first) = take.recv() {
                let (turns, waiting): (Vec<_>, Vec<_>) = std::iter::once(first)
                    .chain(take.try_iter().take(TURNS_MAX - 1))
                    .unzip();
                let asked = async {
                    let Some(program) = decider.batches() else {
                        return Err("the program takes one turn at a time".to_owned());
                    };
                    let late = |_| Err(format!("no decision within {:.1} s", time.as_secs_f64()));
                    timeout(time, program.decide_all(&turns))
                        .await
                        .unwrap_or_else(late)
                };
                match runtime.block_on(asked) {
                    Ok(moves) => {
                        for (value, waiting) in moves.into_iter().zip(waiting) {
                            let _ = waiting.send(Some(value));
                        }
                    }
                    Err(why) => {
                        *failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
                    }
                }
            }
        });
        give
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
                "no decision within {:.1} s",
                self.think_time.as_secs_f64()
            ))),
        }
    }
}

impl ExternalStrategy for ProgramStrategy {
    fn decide(&self, mut turn: TurnSheet, _place: Place) -> Result<Value, FailureKind> {
        turn.deadline = self.clock.now() + self.think_time;
        turn.time_left_ms = u64::try_from(self.think_time.as_millis()).unwrap_or(u64::MAX);
        if turn.memory.is_some() {
            return self.decide_with_others(&turn);
        }
        let decided = self.runtime.block_on(self.decide_in_time(turn));
        decided.map_err(|Failure { kind, why }| {
            self.fail(why);
            kind
        })
    }

    fn remembers(&self) -> Option<u64> {
        Some(self.decider.batches()?.process_number())
    }
}
