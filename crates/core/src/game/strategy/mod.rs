//! How a player chooses a move. A strategy sees a [`Turn`] and chance, and holds no state: what it knows of the past
//! is in the turn, so that a restart changes nothing about how it plays.

mod registry;

pub use registry::{RANDOM, StrategyEntry, UnknownStrategy, all, find, named, of};

use super::context::Context;
use super::past::Past;
use crate::entropy::Entropy;
use crate::protocol::messages::{Parity, Record};
use crate::protocol::{GameType, PlayerId};
use serde_json::Value;
use std::fmt::Debug;

/// A way to choose moves, in any game.
pub trait Strategy: Debug + Send + Sync {
    /// One of the turn's options. Anything else is not sent: the player then takes an option at random.
    fn choose(&self, turn: &Turn<'_>, entropy: &mut Entropy) -> Value;
}

/// All that a strategy may know when it is asked.
#[derive(Debug, Clone, Copy)]
pub struct Turn<'a> {
    /// A strategy may play several games.
    pub game_type: &'a GameType,
    /// Ours, by which the context may name us.
    pub own_id: &'a PlayerId,
    /// Unknown if neither the manager nor the referee named it.
    pub opponent_id: Option<&'a PlayerId>,
    /// Every move that the rules allow; never empty.
    pub options: &'a [Value],
    /// What the referee shows of the game.
    pub context: &'a Context,
    /// The games with this opponent.
    pub against: &'a Past,
    /// All games, with whomever.
    pub overall: &'a Past,
    /// Our record as the referee states it, or else over all games that we remember.
    pub record: Record,
}

impl Turn<'_> {
    /// Whether the question is even or odd.
    pub fn is_parity(&self) -> bool {
        self.options.len() == Parity::ALL.len()
            && Parity::ALL.iter().all(|parity| {
                self.options
                    .iter()
                    .any(|option| option.as_str() == Some(parity.as_str()))
            })
    }

    /// Any option, each as likely as the others.
    pub fn any_option(&self, entropy: &mut Entropy) -> Value {
        let place = entropy.below(self.options.len() as u64);
        usize::try_from(place)
            .ok()
            .and_then(|place| self.options.get(place))
            .cloned()
            .unwrap_or(Value::Null)
    }
}
