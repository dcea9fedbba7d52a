//! What a referee offers and shows with a question. Even/odd always offers the same, and what is shown with it becomes
//! JSON only for those who read it.

use crate::protocol::messages::{ChoiceContext, Parity};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::sync::LazyLock;

/// Every move that may be chosen.
#[derive(Debug, Clone)]
pub(crate) enum Options {
    Parities,
    Given(Vec<Value>),
}

static PARITIES: LazyLock<[Value; 2]> =
    LazyLock::new(|| Parity::ALL.map(|parity| Value::from(parity.as_str())));

impl Options {
    pub(crate) fn as_slice(&self) -> &[Value] {
        match self {
            Self::Parities => &*PARITIES,
            Self::Given(options) => options,
        }
    }
}

/// What the referee shows of the game.
#[derive(Debug, Clone)]
pub enum Context {
    /// Of even/odd, as CHOOSE_PARITY_CALL shows it; `None` if the referee shows nothing.
    OfParity(Option<ChoiceContext>),
    /// Of any other game, as its request for a move shows it.
    OfMove(Map<String, Value>),
}

impl Context {
    /// What is shown of a move under this name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        match self {
            Self::OfMove(shown) => shown.get(name),
            Self::OfParity(_) => None,
        }
    }

    /// All of it as JSON, for external deciders; empty if nothing is shown.
    pub fn as_map(&self) -> Cow<'_, Map<String, Value>> {
        match self {
            Self::OfMove(shown) => Cow::Borrowed(shown),
            Self::OfParity(shown) => Cow::Owned(match serde_json::to_value(shown) {
                Ok(Value::Object(map)) => map,
                _ => Map::new(),
            }),
        }
    }
}
