//! The choices that a seat owes: what the player asks, and what whoever holds the seat answers.

use crate::shell::Mind;
use crate::shell::mind::{Considered, Deciding};
use matchday_core::player::TurnSheet;
use serde_json::Value;
use sha2::{Digest, Sha256};
use smol_str::{SmolStr, format_smolstr};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

/// Of how many turns that are over it is known how they ended.
const PAST_MAX: usize = 100;

#[derive(Debug)]
pub(super) struct Turns {
    state: Mutex<State>,
    /// Counts what has changed.
    news: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct State {
    /// How many have been asked.
    asked: u64,
    open: Vec<Open>,
    past: VecDeque<Past>,
}

#[derive(Debug)]
struct Open {
    number: u64,
    turn: OpenTurn,
    answer: oneshot::Sender<Value>,
}

/// A choice to make, as it stands.
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

/// What becomes of a move.
#[derive(Debug, PartialEq)]
pub(super) enum Played {
    Made {
        turn: SmolStr,
        choice: Value,
    },
    /// The very same move was made before.
    Already {
        turn: SmolStr,
        choice: Value,
    },
}

/// Why a move is none.
#[derive(Debug, PartialEq)]
pub(super) enum NoMove {
    /// Nothing is to be chosen.
    NothingOpen,
    /// Several turns are open, and the move does not say which it is for.
    Which(Vec<SmolStr>),
    /// This turn is not, or no longer, known.
    Unknown,
    /// The time was over before the move came.
    TooLate,
    /// This was chosen before, and cannot be taken back.
    Chosen(Value),
    /// The rules do not allow it.
    NotAnOption(Vec<Value>),
}

impl Turns {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { state: Mutex::default(), news: watch::Sender::new(0) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    /// The turn that must be decided first.
    pub(super) fn first(&self) -> Option<OpenTurn> {
        self.state().open.iter().map(|open| &open.turn).min_by_key(|turn| turn.until).cloned()
    }

    pub(super) fn play(&self, turn: Option<&str>, choice: &Value) -> Result<Played, NoMove> {
        let mut state = self.state();
        let place = match turn {
            Some(id) => state.open.iter().position(|open| open.turn.id == id),
            None if state.open.len() > 1 => {
                return Err(NoMove::Which(state.open.iter().map(|open| open.turn.id.clone()).collect()));
            }
            None => state.open.first().map(|_| 0),
        };
        let Some(open) = place.and_then(|place| state.open.get(place)) else {
            return state.ended(turn, choice);
        };
        let Some(choice) = option(&open.turn.sheet.options, choice) else {
            return Err(NoMove::NotAnOption(open.turn.sheet.options.clone()));
        };
        let Some(place) = place else { return Err(NoMove::NothingOpen) };
        let Open { turn, answer, .. } = state.open.remove(place);
        let made = answer.send(choice.clone()).is_ok();
        state.remember(Past { id: turn.id.clone(), choice: made.then(|| choice.clone()) });
        if made { Ok(Played::Made { turn: turn.id, choice }) } else { Err(NoMove::TooLate) }
    }

    /// The player waits no longer, whether or not it has its answer.
    fn leave(&self, number: u64) {
        let mut state = self.state();
        if let Some(place) = state.open.iter().position(|open| open.number == number) {
            let Open { turn, .. } = state.open.remove(place);
            state.remember(Past { id: turn.id, choice: None });
            drop(state);
            self.news.send_modify(|news| *news += 1);
        }
    }
}

impl State {
    fn ended(&self, turn: Option<&str>, choice: &Value) -> Result<Played, NoMove> {
        let Some(id) = turn else { return Err(NoMove::NothingOpen) };
        match self.past.iter().rev().find(|past| past.id == id) {
            None => Err(NoMove::Unknown),
            Some(Past { choice: None, .. }) => Err(NoMove::TooLate),
            Some(Past { choice: Some(made), id }) => match option(std::slice::from_ref(made), choice) {
                Some(same) => Ok(Played::Already { turn: id.clone(), choice: same }),
                None => Err(NoMove::Chosen(made.clone())),
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

/// The option that is meant. Models write words in capitals, and numbers as words.
fn option(options: &[Value], meant: &Value) -> Option<Value> {
    let same = |option: &&Value| *option == meant;
    let in_words = |option: &&Value| {
        let Some(words) = meant.as_str().map(str::trim) else { return false };
        match option {
            Value::String(text) => text.eq_ignore_ascii_case(words),
            other => serde_json::from_str::<Value>(words).is_ok_and(|value| value == **other),
        }
    };
    options.iter().find(same).or_else(|| options.iter().find(in_words)).cloned()
}

/// The same question has the same name, however often it is asked, and after a restart too.
fn name(sheet: &TurnSheet) -> SmolStr {
    let asked = serde_json::to_vec(&(&sheet.options, &sheet.context)).unwrap_or_default();
    let digest = hex::encode(Sha256::digest(&asked));
    format_smolstr!("{}-{}", sheet.match_id, digest.get(..8).unwrap_or_default())
}

/// The mind of the player in a seat: whoever holds the seat.
#[derive(Debug)]
pub(super) struct Holder(pub(super) Arc<Turns>);

impl Mind for Holder {
    fn decide(&self, sheet: TurnSheet) -> Deciding {
        let (answer, answered) = oneshot::channel();
        let until = Instant::now() + std::time::Duration::from_millis(sheet.time_left_ms);
        let leaving = {
            let mut state = self.0.state();
            state.asked += 1;
            let number = state.asked;
            let turn = OpenTurn { id: name(&sheet), sheet, until };
            state.open.push(Open { number, turn, answer });
            Leaving(Arc::clone(&self.0), number)
        };
        self.0.news.send_modify(|news| *news += 1);
        Box::pin(async move {
            let _whatever_happens = leaving;
            let choice = answered.await.map_err(|_| "the seat was closed".to_owned());
            Considered::from(choice)
        })
    }
}

struct Leaving(Arc<Turns>, u64);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.leave(self.1);
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
            assert_eq!(option(&options, &meant), option_meant, "{meant}");
        }
    }
}
