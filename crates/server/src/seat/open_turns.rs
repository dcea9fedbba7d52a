//! The open turns of a seat: the player asks for a choice, the client of the seat makes it.

use matchday_core::game::turn::TurnSheet;
use matchday_runtime::Decider;
use matchday_runtime::decider::{Decided, Deciding};
use serde_json::Value;
use sha2::{Digest, Sha256};
use smol_str::{SmolStr, format_smolstr};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

/// How many past turns are kept, so that a late or repeated move gets an exact reply.
const PAST_MAX: usize = 100;

#[derive(Debug)]
pub(super) struct OpenTurns {
    state: Mutex<State>,

    /// Counts the changes.
    changes: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct State {
    /// How many turns there have been.
    count: u64,
    open: Vec<Open>,
    past: VecDeque<Past>,
}

#[derive(Debug)]
struct Open {
    number: u64,
    turn: OpenTurn,
    answer: oneshot::Sender<Value>,
}

/// A choice to make.
#[derive(Debug, Clone)]
pub(super) struct OpenTurn {
    pub(super) id: SmolStr,
    pub(super) sheet: TurnSheet,
    pub(super) until: Instant,
}

#[derive(Debug)]
struct Past {
    id: SmolStr,
    /// `None` if it was not decided.
    choice: Option<Value>,
}

/// A move that counts.
#[derive(Debug, PartialEq)]
pub(super) enum Accepted {
    Made {
        turn: SmolStr,
        choice: Value,
    },
    /// The same move had been made before.
    Repeated {
        turn: SmolStr,
        choice: Value,
    },
}

/// Why a move does not count.
#[derive(Debug, PartialEq)]
pub(super) enum MoveError {
    /// Nothing is to be chosen.
    NothingOpen,
    /// Several turns are open, and the move does not say which it is for.
    Ambiguous(Vec<SmolStr>),
    /// This turn is not, or no longer, known.
    Unknown,
    /// The time was over before the move came.
    TooLate,
    /// This was chosen before, and cannot be taken back.
    Chosen(Value),
    /// The rules do not allow it.
    NotAnOption(Vec<Value>),
}

impl OpenTurns {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
            changes: watch::Sender::new(0),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// The turn that must be decided first.
    pub(super) fn first(&self) -> Option<OpenTurn> {
        self.state()
            .open
            .iter()
            .map(|open| &open.turn)
            .min_by_key(|turn| turn.until)
            .cloned()
    }

    pub(super) fn play(&self, turn: Option<&str>, choice: &Value) -> Result<Accepted, MoveError> {
        let mut state = self.state();
        let place = match turn {
            Some(id) => state.open.iter().position(|open| open.turn.id == id),
            None if state.open.len() > 1 => {
                return Err(MoveError::Ambiguous(
                    state.open.iter().map(|open| open.turn.id.clone()).collect(),
                ));
            }
            None => state.open.first().map(|_| 0),
        };
        let Some(open) = place.and_then(|place| state.open.get(place)) else {
            return state.repeat_or_error(turn, choice);
        };
        let Some(choice) = parse_option(&open.turn.sheet.options, choice) else {
            return Err(MoveError::NotAnOption(open.turn.sheet.options.clone()));
        };
        let Some(place) = place else {
            return Err(MoveError::NothingOpen);
        };
        let Open { turn, answer, .. } = state.open.remove(place);
        let made = answer.send(choice.clone()).is_ok();
        state.remember(Past {
            id: turn.id.clone(),
            choice: made.then(|| choice.clone()),
        });
        if made {
            Ok(Accepted::Made {
                turn: turn.id,
                choice,
            })
        } else {
            Err(MoveError::TooLate)
        }
    }

    /// Closes a turn when the player waits no longer, with or without an answer.
    fn close(&self, number: u64) {
        let mut state = self.state();
        if let Some(place) = state.open.iter().position(|open| open.number == number) {
            let Open { turn, .. } = state.open.remove(place);
            state.remember(Past {
                id: turn.id,
                choice: None,
            });
            drop(state);
            self.changes.send_modify(|changes| *changes += 1);
        }
    }
}

impl State {
    fn repeat_or_error(&self, turn: Option<&str>, choice: &Value) -> Result<Accepted, MoveError> {
        let Some(id) = turn else {
            return Err(MoveError::NothingOpen);
        };
        match self.past.iter().rev().find(|past| past.id == id) {
            None => Err(MoveError::Unknown),
            Some(Past { choice: None, .. }) => Err(MoveError::TooLate),
            Some(Past {
                choice: Some(made),
                id,
            }) => match parse_option(std::slice::from_ref(made), choice) {
                Some(same) => Ok(Accepted::Repeated {
                    turn: id.clone(),
                    choice: same,
                }),
                None => Err(MoveError::Chosen(made.clone())),
            },
        }
    }

    fn remember(&mut self, past: Past) {
        self.past.push_back(past);
        if self.past.len() > PAST_MAX {
            self.past.pop_front();
        }
    }
}

/// The option that `meant` names. Language models write words in capitals, and numbers as strings.
fn parse_option(options: &[Value], meant: &Value) -> Option<Value> {
    let same = |option: &&Value| *option == meant;
    let as_text = |option: &&Value| {
        let Some(text) = meant.as_str().map(str::trim) else {
            return false;
        };
        match option {
            Value::String(option) => option.eq_ignore_ascii_case(text),
            other => serde_json::from_str::<Value>(text).is_ok_and(|value| value == **other),
        }
    };
    options
        .iter()
        .find(same)
        .or_else(|| options.iter().find(as_text))
        .cloned()
}

/// The id of a turn: a hash of its content, so that a repeated question keeps its id, also after a restart.
fn turn_id(sheet: &TurnSheet) -> SmolStr {
    let asked = serde_json::to_vec(&(&sheet.options, &sheet.context)).unwrap_or_default();
    let digest = hex::encode(Sha256::digest(&asked));
    format_smolstr!("{}-{}", sheet.match_id, digest.get(..8).unwrap_or_default())
}

/// The decider of a seat's player: asks the client of the seat.
#[derive(Debug)]
pub(super) struct SeatDecider(pub(super) Arc<OpenTurns>);

impl Decider for SeatDecider {
    fn decide(&self, sheet: TurnSheet) -> Deciding {
        let (answer, answered) = oneshot::channel();
        let until = Instant::now() + std::time::Duration::from_millis(sheet.time_left_ms);
        let closing = {
            let mut state = self.0.state();
            state.count += 1;
            let number = state.count;
            let turn = OpenTurn {
                id: turn_id(&sheet),
                sheet,
                until,
            };
            state.open.push(Open {
                number,
                turn,
                answer,
            });
            CloseTurn(Arc::clone(&self.0), number)
        };
        self.0.changes.send_modify(|changes| *changes += 1);
        Box::pin(async move {
            let _closes_turn = closing;
            let choice = answered.await.map_err(|_| "the seat was closed".to_owned());
            Decided::from(choice)
        })
    }
}

struct CloseTurn(Arc<OpenTurns>, u64);

impl Drop for CloseTurn {
    fn drop(&mut self) {
        self.0.close(self.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_option_may_be_written_as_a_model_writes_it() {
        let options = [json!("even"), json!("odd"), json!(3), json!("3x")];
        for (meant, option_meant) in [
            (json!("even"), Some(json!("even"))),
            (json!(" ODD "), Some(json!("odd"))),
            (json!(3), Some(json!(3))),
            (json!("3"), Some(json!(3))),
            (json!("3x"), Some(json!("3x"))),
            (json!("four"), None),
            (json!(null), None),
        ] {
            assert_eq!(parse_option(&options, &meant), option_meant, "{meant}");
        }
    }
}
