//! The built-in strategies by name. Each game brings its own; a name that several games use means in each what that game
//! makes of it, so that one player can play them all.

use super::{Strategy, Turn};
use crate::entropy::Entropy;
use crate::game::{GAMES, GameEntry};
use crate::protocol::GameType;
use serde_json::Value;

/// A built-in strategy: what it is called, and what it does, in one line. How is in the rules of its games.
#[derive(Debug, Clone, Copy)]
pub struct StrategyEntry {
    /// What users and settings call it.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
}

/// The one strategy that needs no game of its own.
pub static RANDOM: StrategyEntry = StrategyEntry {
    name: "random",
    about: "any option, each as likely as the others",
};

impl StrategyEntry {
    /// The strategy itself, for a player.
    pub fn build(&self) -> Box<dyn Strategy> {
        Box::new(*self)
    }
}

/// Where a built-in has no opinion, and in games that do not know it, it takes any option.
impl Strategy for StrategyEntry {
    fn choose(&self, turn: &Turn<'_>, entropy: &mut Entropy) -> Value {
        let built_in = game_of(turn).and_then(|game| game.built_in);
        let favoured = built_in.and_then(|built_in| (built_in.choose)(self.name, turn));
        favoured.unwrap_or_else(|| turn.any_option(entropy))
    }
}

/// The game that is asked about. A foreign referee may call even/odd what it likes, and still asks for a parity.
fn game_of(turn: &Turn<'_>) -> Option<&'static GameEntry> {
    let name = if turn.is_parity() {
        GameType::EVEN_ODD
    } else {
        turn.game_type.as_str()
    };
    GAMES.iter().find(|game| game.name == name)
}

/// Every strategy that makes a difference in a game, `random` first.
pub fn of(game: &GameEntry) -> impl Iterator<Item = &'static StrategyEntry> + Clone + use<> {
    std::iter::once(&RANDOM).chain(game.strategies())
}

/// Every strategy of every game; one that several games use is there once, as the first of them tells of it.
pub fn all() -> impl Iterator<Item = &'static StrategyEntry> {
    let mut told: Vec<&str> = Vec::new();
    let every = std::iter::once(&RANDOM).chain(GAMES.iter().flat_map(GameEntry::strategies));
    every.filter(move |entry| {
        let new = !told.contains(&entry.name);
        told.push(entry.name);
        new
    })
}

/// The strategy of this name; `always-even` and `Always_Even` will do.
pub fn find(name: &str) -> Option<&'static StrategyEntry> {
    let name = plain(name);
    all().find(|entry| entry.name == name)
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
    /// What was asked for.
    pub name: String,
    /// What was probably meant.
    pub nearest: Option<&'static str>,
    /// The names that there are.
    pub known: Vec<&'static str>,
}

impl UnknownStrategy {
    fn new(name: &str) -> Self {
        let wanted = plain(name);
        let near = all()
            .map(|entry| (strsim::levenshtein(&wanted, entry.name), entry.name))
            .min();
        let nearest = near.filter(|(distance, name)| *distance <= name.len() / 3);
        Self {
            name: name.to_owned(),
            nearest: nearest.map(|(_, name)| name),
            known: all().map(|entry| entry.name).collect(),
        }
    }
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!(" (did you mean {name:?}?)"))
}
