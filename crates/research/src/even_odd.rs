//! The fast engine for even/odd: no allocation in a match, and strategies with running counts instead of searching
//! the past. `equivalence.rs` tests it against the core's rules and strategies. Pure.

use crate::draws::Draws;
use crate::ending::Ending;
use crate::entrant::{Entrant, StrategySource};
use matchday_core::entropy::Entropy;
use matchday_core::game::Seat;
use matchday_core::protocol::messages::Parity;

/// The random decisions of a match.
pub(crate) trait Chance {
    /// The call of a strategy that has no preference.
    fn call(&mut self) -> Parity;

    /// The parity of a number from 1 to 10.
    fn draw(&mut self) -> Parity;
}

/// Fair coins, 64 from each random word. Five of the ten numbers are even, so a draw is a fair coin too.
#[derive(Debug)]
pub(crate) struct Coins {
    entropy: Entropy,
    word: u64,
    left: u32,
}

impl Coins {
    pub(crate) fn new(entropy: Entropy) -> Self {
        Self { entropy, word: 0, left: 0 }
    }

    fn toss(&mut self) -> Parity {
        if self.left == 0 {
            self.word = self.entropy.next_u64();
            self.left = u64::BITS;
        }
        let bit = self.word & 1;
        self.word >>= 1;
        self.left -= 1;
        if bit == 0 { Parity::Even } else { Parity::Odd }
    }
}

impl Chance for Coins {
    fn call(&mut self) -> Parity {
        self.toss()
    }

    fn draw(&mut self) -> Parity {
        self.toss()
    }
}

/// The built-in strategies, with the state that each needs.
#[derive(Debug, Clone)]
enum FastStrategy {
    Random,
    Always(Parity),
    /// The next call.
    Alternating(Parity),
    Frequency(Box<Draws>),
    Pattern(Box<Draws>),
    /// The last call of each opponent.
    Mirror(Vec<Option<Parity>>),
    /// The parity drawn in the last game.
    WinStayLoseShift(Option<Parity>),
}

impl FastStrategy {
    /// `None` if the strategy is not implemented here.
    fn named(name: &str, players: usize) -> Option<Self> {
        Some(match name {
            "random" => Self::Random,
            "always_even" => Self::Always(Parity::Even),
            "always_odd" => Self::Always(Parity::Odd),
            "alternating" => Self::Alternating(Parity::Even),
            "frequency" => Self::Frequency(Box::default()),
            "pattern" => Self::Pattern(Box::default()),
            "mirror" => Self::Mirror(vec![None; players]),
            "win_stay_lose_shift" => Self::WinStayLoseShift(None),
            _ => return None,
        })
    }

    fn forget(&mut self) {
        match self {
            Self::Random | Self::Always(_) => {}
            Self::Alternating(next) => *next = Parity::Even,
            Self::Frequency(draws) | Self::Pattern(draws) => draws.clear(),
            Self::Mirror(calls) => calls.fill(None),
            Self::WinStayLoseShift(right) => *right = None,
        }
    }

    /// The call against this opponent; `None` for a random one.
    #[inline]
    fn preference(&self, opponent: usize) -> Option<Parity> {
        match self {
            Self::Random => None,
            Self::Always(parity) => Some(*parity),
            Self::Alternating(next) => Some(*next),
            Self::Frequency(draws) => draws.majority(),
            Self::Pattern(draws) => draws.successor(),
            Self::Mirror(calls) => calls.get(opponent).copied().flatten(),
            Self::WinStayLoseShift(right) => *right,
        }
    }

    #[inline]
    fn remember(&mut self, opponent: usize, their_call: Parity, drawn: Parity) {
        match self {
            Self::Random | Self::Always(_) => {}
            Self::Alternating(next) => *next = next.other(),
            Self::Frequency(draws) | Self::Pattern(draws) => draws.push(drawn),
            Self::Mirror(calls) => {
                if let Some(call) = calls.get_mut(opponent) {
                    *call = Some(their_call);
                }
            }
            // After a win the call stays, after a loss it changes: either strategy it is the parity that was drawn.
            Self::WinStayLoseShift(right) => *right = Some(drawn),
        }
    }
}

/// The players of even/odd, with what they remember of each other.
#[derive(Debug, Clone)]
pub(crate) struct FastPlayers(Vec<FastStrategy>);

impl FastPlayers {
    /// `None` if a strategy is not implemented here.
    pub(crate) fn of<'a>(entrants: impl ExactSizeIterator<Item = &'a Entrant>) -> Option<Self> {
        let players = entrants.len();
        let strategies = entrants.map(|entrant| match &entrant.strategy {
            StrategySource::BuiltIn(entry) => FastStrategy::named(entry.name, players),
            StrategySource::External(_) => None,
        });
        strategies.collect::<Option<_>>().map(Self)
    }

    pub(crate) fn forget(&mut self) {
        self.0.iter_mut().for_each(FastStrategy::forget);
    }

    pub(crate) fn preference(&self, player: usize, opponent: usize) -> Option<Parity> {
        self.0.get(player).and_then(|strategy| strategy.preference(opponent))
    }

    pub(crate) fn remember(&mut self, players: [usize; 2], calls: [Parity; 2], drawn: Parity) {
        let ([a, b], [call_a, call_b]) = (players, calls);
        if let Some(strategy) = self.0.get_mut(a) {
            strategy.remember(b, call_b, drawn);
        }
        if let Some(strategy) = self.0.get_mut(b) {
            strategy.remember(a, call_a, drawn);
        }
    }

    #[inline]
    pub(crate) fn play(&mut self, a: usize, b: usize, chance: &mut impl Chance) -> Ending {
        let call_a = self.preference(a, b).unwrap_or_else(|| chance.call());
        let call_b = self.preference(b, a).unwrap_or_else(|| chance.call());
        let drawn = chance.draw();
        self.remember([a, b], [call_a, call_b], drawn);
        judge([call_a, call_b], drawn)
    }
}

/// A player wins if it alone called the drawn parity.
pub(crate) fn judge([a, b]: [Parity; 2], drawn: Parity) -> Ending {
    match (a == drawn, b == drawn) {
        (true, false) => Ending::Won(Seat::A),
        (false, true) => Ending::Won(Seat::B),
        _ => Ending::Drawn,
    }
}
