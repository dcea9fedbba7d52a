//! Where matches are played: the quick way where there is one, or else by the core's own rules.

use crate::any_game::Players;
use crate::ending::Ending;
use crate::entrant::Entrant;
use crate::even_odd::{Callers, Coins};
use matchday_core::entropy::Entropy;
use matchday_core::game::GameEntry;

#[derive(Debug)]
pub(crate) enum Pitch<'a> {
    EvenOdd(Callers, Coins),
    Any(Players<'a>, Entropy),
}

/// The game that has a quick way.
const EVEN_ODD: &str = "even_odd";

impl<'a> Pitch<'a> {
    /// Players who remember nothing yet.
    pub(crate) fn new(
        game: &'static GameEntry,
        entrants: impl ExactSizeIterator<Item = &'a Entrant> + Clone,
        entropy: Entropy,
    ) -> Self {
        let callers = if game.name == EVEN_ODD { Callers::of(entrants.clone()) } else { None };
        match callers {
            Some(callers) => Self::EvenOdd(callers, Coins::new(entropy)),
            None => Self::Any(Players::new(game, entrants), entropy),
        }
    }

    /// Everyone forgets, and chance goes on from here.
    pub(crate) fn begin(&mut self, entropy: Entropy) {
        match self {
            Self::EvenOdd(callers, coins) => {
                callers.forget();
                *coins = Coins::new(entropy);
            }
            Self::Any(players, chance) => {
                players.forget();
                *chance = entropy;
            }
        }
    }

    /// Whether matches take nanoseconds here.
    pub(crate) fn is_quick(&self) -> bool {
        matches!(self, Self::EvenOdd(..))
    }

    #[inline]
    pub(crate) fn play(&mut self, a: usize, b: usize) -> Ending {
        match self {
            Self::EvenOdd(callers, coins) => callers.play(a, b, coins),
            Self::Any(players, entropy) => players.play(a, b, entropy),
        }
    }
}
