//! A language model as a player of an experiment. What it says is recorded, and played from the record where there is one.

use super::replies::{Key, Replies, TurnRecord};
use crate::{Entrant, ExternalStrategy, Place, StrategySource};
use matchday_core::game::turn::TurnSheet;
use matchday_runtime::decider::FailureKind;
use matchday_runtime::deciders::llm::{Llm, LlmCall, ModelTurn};
use matchday_runtime::deciders::llm_budget::LlmBudget;
use matchday_runtime::deciders::llm_gate::LlmGate;
use serde_json::Value;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::sleep;

/// How soon a run that was stopped gives up a call.
const STOP_NOTICED: Duration = Duration::from_millis(100);

#[derive(Debug, Clone)]
pub struct ModelPlayer {
    pub name: String,
    /// As its server calls it.
    pub model: String,
    pub(super) llm: Llm,
    pub(super) provider: Arc<Provider>,
    pub(super) fallback: Fallback,
    pub(super) has_prices: bool,
    pub(super) think_time: Duration,
    pub(super) halt: Arc<Halt>,
    pub(super) runtime: Handle,
}

/// A server, and what it may be asked.
#[derive(Debug)]
pub struct Provider {
    pub(super) url: String,
    pub(super) concurrency: usize,
    pub(super) gate: Arc<LlmGate>,
    pub(super) budget: Arc<LlmBudget>,
}

/// What happens when a model has not moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fallback {
    /// It forfeits.
    None,
    /// A legal move is drawn.
    Random,
}

/// Ends a run before its time, and says why.
#[derive(Debug)]
pub struct Halt {
    stop: Arc<AtomicBool>,
    why: Mutex<Option<String>>,
}

/// A player within one unit of work: a series of a pair, or a league.
#[derive(Debug)]
struct InUnit {
    player: Arc<ModelPlayer>,
    /// Among the entrants.
    place: usize,
    unit: Unit,
    replies: Arc<Replies>,
}

/// Which part of the experiment is played.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unit {
    pub(super) cell: usize,
    pub(super) repetition: u64,
    /// How many matches of the repetition come before.
    pub(super) matches_before: u32,
}

impl Halt {
    pub(super) fn of(stop: &Arc<AtomicBool>) -> Arc<Self> {
        Arc::new(Self {
            stop: Arc::clone(stop),
            why: Mutex::default(),
        })
    }

    /// A run that was stopped keeps its reason.
    fn because(&self, why: impl Into<String>) {
        let mut reason = self.why.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.stop.swap(true, Ordering::Relaxed) {
            *reason = Some(why.into());
        }
    }

    pub fn why(&self) -> Option<String> {
        let why = self.why.lock().unwrap_or_else(PoisonError::into_inner);
        why.clone()
    }

    async fn stopped(&self) {
        while !self.stop.load(Ordering::Relaxed) {
            sleep(STOP_NOTICED).await;
        }
    }
}

/// The entrants of a unit; its models know where they are.
pub(super) fn in_unit(
    entrants: &[Entrant],
    models: &[(usize, Arc<ModelPlayer>)],
    unit: Unit,
    replies: &Arc<Replies>,
) -> Vec<Entrant> {
    let mut entrants = entrants.to_vec();
    for (place, player) in models {
        if let Some(entrant) = entrants.get_mut(*place) {
            entrant.strategy = StrategySource::External(Arc::new(InUnit {
                player: Arc::clone(player),
                place: *place,
                unit,
                replies: Arc::clone(replies),
            }));
        }
    }
    entrants
}

impl InUnit {
    fn key(&self, place: Place) -> Key {
        Key {
            cell: self.unit.cell,
            repetition: self.unit.repetition,
            number: self.unit.matches_before + place.number,
            attempt: place.attempt,
            turn: place.turn,
            player: self.place,
        }
    }

    /// From the record, or by asking.
    fn asked(&self, turn: &TurnSheet, key: Key) -> Result<TurnRecord, String> {
        let ModelPlayer { llm, name, .. } = &*self.player;
        if let Some(recorded) = self.replies.find(key) {
            let replayed = llm.replay(turn, &recorded.calls);
            let replayed = replayed.and_then(|asked| {
                let kind = asked.decision.as_ref().err().map(|failure| failure.kind);
                let is_same = asked.decision.as_ref().ok() == recorded.made.as_ref()
                    && kind == recorded.failure;
                is_same
                    .then_some(recorded)
                    .ok_or_else(|| "the recorded move is another one".to_owned())
            });
            return replayed.map_err(|why| {
                format!(
                    "the replies of {name} are not those of this plan: match {}, turn {}: {why}",
                    key.number, key.turn
                )
            });
        }
        if self.replies.is_closed() {
            return Err(format!(
                "no reply of {name} is recorded for match {}, turn {}",
                key.number, key.turn
            ));
        }
        let asked = self.player.ask(turn)?;
        let fault = self.player.fault(&asked);
        let ModelTurn { decision, calls } = asked;
        let kind = decision.as_ref().err().map(|failure| failure.kind);
        let record = TurnRecord {
            made: decision.ok(),
            // The turn will be asked again; its calls were made all the same.
            failure: fault.as_ref().map(|_| FailureKind::NotAsked).or(kind),
            calls,
        };
        self.replies.append(key, &record)?;
        fault.map_or(Ok(record), Err)
    }
}

impl ExternalStrategy for InUnit {
    fn decide(&self, mut turn: TurnSheet, place: Place) -> Result<Value, FailureKind> {
        let player = &self.player;
        if player.halt.stop.load(Ordering::Relaxed) {
            return Err(FailureKind::NotAsked);
        }
        turn.time_left_ms = u64::try_from(player.think_time.as_millis()).unwrap_or(u64::MAX);
        let record = self.asked(&turn, self.key(place)).map_err(|why| {
            player.halt.because(why);
            FailureKind::NotAsked
        })?;
        match (record.made, record.failure.unwrap_or(FailureKind::NotAsked)) {
            (Some(made), _) => Ok(made),
            (None, kind @ (FailureKind::Server | FailureKind::NotAsked)) => Err(kind),
            (None, kind) => player.fallback.choose(&turn, place).ok_or(kind),
        }
    }
}

impl ModelPlayer {
    /// It can play within a unit only.
    pub(super) fn entrant(&self) -> Entrant {
        Entrant {
            name: self.name.clone(),
            strategy: StrategySource::External(Arc::new(self.clone())),
        }
    }

    fn ask(&self, turn: &TurnSheet) -> Result<ModelTurn, String> {
        let asked = self.runtime.block_on(async {
            tokio::select! {
                asked = self.llm.ask(turn) => Some(asked),
                () = self.halt.stopped() => None,
            }
        });
        asked.ok_or_else(|| "the run was stopped".to_owned())
    }

    /// Why the run cannot go on.
    fn fault(&self, asked: &ModelTurn) -> Option<String> {
        let failure = asked.decision.as_ref().err()?;
        if failure.kind == FailureKind::NotAsked {
            return Some(format!("{}: {}", self.provider.url, failure.why));
        }
        let is_misconfigured = asked.calls.iter().any(LlmCall::is_misconfigured);
        is_misconfigured.then(|| format!("{} cannot play: {}", self.name, failure.why))
    }
}

/// Outside of a unit nobody is asked.
impl ExternalStrategy for ModelPlayer {
    fn decide(&self, _turn: TurnSheet, _place: Place) -> Result<Value, FailureKind> {
        Err(FailureKind::NotAsked)
    }
}

impl Fallback {
    /// The same move whenever the same is played again.
    fn choose(self, turn: &TurnSheet, place: Place) -> Option<Value> {
        if self == Self::None {
            return None;
        }
        let seed = turn.seed.unwrap_or(0).wrapping_add(u64::from(place.turn));
        let drawn = crate::game_log::hash(seed, turn.match_id.as_str().as_bytes());
        let number = drawn.checked_rem(turn.options.len() as u64)?;
        turn.options.get(usize::try_from(number).ok()?).cloned()
    }
}
