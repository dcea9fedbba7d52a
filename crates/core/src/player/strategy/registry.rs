//! The built-in strategies by name. A new one is a function and one entry here.

use super::parity::{self, Favour};
use super::{Strategy, Turn};
use crate::entropy::Entropy;
use serde_json::Value;

/// A built-in strategy: what it is called, and what it does, in one line.
#[derive(Debug, Clone, Copy)]
pub struct StrategyEntry {
    pub name: &'static str,
    pub about: &'static str,
    favour: Favour,
}

pub static ALL: &[StrategyEntry] = &[
    StrategyEntry {
        name: "random",
        about: "any option, each as likely as the others",
        favour: parity::chance,
    },
    StrategyEntry { name: "always_even", about: "even, whatever happens", favour: parity::always_even },
    StrategyEntry { name: "always_odd", about: "odd, whatever happens", favour: parity::always_odd },
    StrategyEntry {
        name: "alternating",
        about: "even in the first game, then each time the other",
        favour: parity::alternating,
    },
    StrategyEntry {
        name: "frequency",
        about: "the parity that was drawn more often so far",
        favour: parity::frequency,
    },
    StrategyEntry {
        name: "pattern",
        about: "what most often followed the last three draws, or as many of them as came before",
        favour: parity::pattern,
    },
    StrategyEntry {
        name: "mirror",
        about: "what the opponent chose when the two last met",
        favour: parity::mirror,
    },
    StrategyEntry {
        name: "win_stay_lose_shift",
        about: "the last choice again if it was right, the other one if it was wrong",
        favour: parity::win_stay_lose_shift,
    },
];

impl StrategyEntry {
    pub fn build(&self) -> Box<dyn Strategy> {
        Box::new(*self)
    }
}

/// Where a built-in has no opinion, and in games that are not of parity, it takes any option.
impl Strategy for StrategyEntry {
    fn choose(&self, turn: &Turn<'_>, entropy: &mut Entropy) -> Value {
        let favoured = turn.is_parity().then(|| (self.favour)(turn)).flatten();
        match favoured {
            Some(parity) => Value::from(parity.as_str()),
            None => turn.any_option(entropy),
        }
    }
}

/// The strategy of this name; `always-even` and `Always_Even` will do.
pub fn find(name: &str) -> Option<&'static StrategyEntry> {
    let name = plain(name);
    ALL.iter().find(|entry| entry.name == name)
}

/// Like [`find`], with an error for people.
pub fn named(name: &str) -> Result<&'static StrategyEntry, UnknownStrategy> {
    find(name).ok_or_else(|| UnknownStrategy::new(name))
}

fn plain(name: &str) -> String {
    name.trim().to_ascii_lowercase().replace(['-', ' '], "_")
}

/// There is no strategy of this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no strategy {name:?}{}; choose one of: {}", hint(*.nearest), .known.join(", "))]
pub struct UnknownStrategy {
    pub name: String,
    /// What was probably meant.
    pub nearest: Option<&'static str>,
    pub known: Vec<&'static str>,
}

impl UnknownStrategy {
    fn new(name: &str) -> Self {
        let wanted = plain(name);
        let nearest = ALL
            .iter()
            .map(|entry| (distance(&wanted, entry.name), entry.name))
            .min()
            .filter(|(distance, name)| *distance <= name.len() / 3);
        Self {
            name: name.to_owned(),
            nearest: nearest.map(|(_, name)| name),
            known: ALL.iter().map(|entry| entry.name).collect(),
        }
    }
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!(" (did you mean {name:?}?)"))
}

/// How many letters must be changed, added or taken away to make one text of the other.
fn distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (above, a) in from.bytes().enumerate() {
        let (mut diagonal, mut left) = (above, above + 1);
        let costs = row.iter().skip(1).zip(to.bytes()).map(|(&up, b)| {
            let cost = (diagonal + usize::from(a != b)).min(left + 1).min(up + 1);
            (diagonal, left) = (up, cost);
            cost
        });
        let costs: Vec<usize> = costs.collect();
        row.clear();
        row.push(above + 1);
        row.extend(costs);
    }
    row.last().copied().unwrap_or(0)
}
