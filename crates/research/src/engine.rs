//! Plays matches with a fast engine where there is one, or else with the core's rules.

use crate::any_game::Players;
use crate::ending::Played;
use crate::entrant::{Entrant, ExternalRules, StrategySource};
use crate::even_odd::{Coins, FastPlayers};
use matchday_core::entropy::Entropy;
use matchday_core::game::GameEntry;
use matchday_core::game::fast;

#[derive(Debug)]
pub(crate) enum Engine<'a> {
    EvenOdd(FastPlayers, Coins),
    Fast(Box<dyn fast::FastPlayers>, Entropy),
    Any(Players<'a>, Entropy),
}

const EVEN_ODD: &str = "even_odd";

impl<'a> Engine<'a> {
    pub(crate) fn new(
        game: &'static GameEntry,
        rules: Option<&'a dyn ExternalRules>,
        entrants: impl ExactSizeIterator<Item = &'a Entrant> + Clone,
        entropy: Entropy,
    ) -> Self {
        if let Some(players) = FastPlayers::of(entrants.clone()).filter(|_| game.name == EVEN_ODD) {
            return Self::EvenOdd(players, Coins::new(entropy));
        }
        let built_in: Option<Vec<&str>> = entrants.clone().map(built_in).collect();
        match (game.fast, built_in) {
            (Some(players), Some(names)) => Self::Fast(players(&names), entropy),
            _ => Self::Any(Players::new(game, rules, entrants), entropy),
        }
    }

    /// Everyone forgets, and entropy is replaced.
    pub(crate) fn begin(&mut self, entropy: Entropy) {
        match self {
            Self::EvenOdd(players, coins) => {
                players.forget();
                *coins = Coins::new(entropy);
            }
            // These strategies remember nothing beyond a match.
            Self::Fast(_, chance) => *chance = entropy,
            Self::Any(players, chance) => {
                players.forget();
                *chance = entropy;
            }
        }
    }

    /// Every match begins with this opening, until this is called again. Even/odd has none.
    pub(crate) fn open(&mut self, opening: &[u32]) {
        match self {
            Self::EvenOdd(..) => {}
            Self::Fast(players, _) => players.open(opening),
            Self::Any(players, _) => players.open(opening),
        }
    }

    /// Whether a match takes microseconds at most.
    pub(crate) fn is_fast(&self) -> bool {
        !matches!(self, Self::Any(..))
    }

    #[inline]
    pub(crate) fn play(&mut self, a: usize, b: usize) -> Played {
        match self {
            Self::EvenOdd(players, coins) => {
                Played { ending: players.play(a, b, coins), totals: None, moves: None }
            }
            Self::Fast(players, entropy) => {
                let played = players.play(a, b, entropy);
                Played { ending: played.outcome.into(), totals: played.totals, moves: Some(played.moves) }
            }
            Self::Any(players, entropy) => players.play(a, b, entropy),
        }
    }
}

fn built_in(entrant: &Entrant) -> Option<&'static str> {
    match &entrant.strategy {
        StrategySource::BuiltIn(entry) => Some(entry.name),
        StrategySource::External(_) => None,
    }
}
