//! Even/odd the quick way: no values, no text, nothing allocated in a match, and strategies that count as they go instead of
//! looking through the past. `agreement.rs` holds all of it against the core's own rules and strategies. Pure.

use crate::draws::Draws;
use crate::ending::Ending;
use crate::entrant::{Chooser, Entrant};
use matchday_core::entropy::Entropy;
use matchday_core::game::Seat;
use matchday_core::protocol::messages::Parity;

/// What is left to chance in a match.
pub(crate) trait Chance {
    /// The call of somebody who has no opinion.
    fn call(&mut self) -> Parity;

    /// The parity of a number from 1 to 10.
    fn draw(&mut self) -> Parity;
}

/// Fair coins, 64 to a word. Five of the ten numbers are even, so a draw is a coin too.
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

/// The built-in strategies, and only what each must remember.
#[derive(Debug, Clone)]
enum Way {
    Random,
    Always(Parity),
    /// What comes next.
    Alternating(Parity),
    Frequency(Box<Draws>),
    Pattern(Box<Draws>),
    /// What each opponent called last.
    Mirror(Vec<Option<Parity>>),
    /// Which call was right, or would have been, in the last game.
    WinStayLoseShift(Option<Parity>),
}

impl Way {
    /// The strategy of this name, if it is written here too.
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

    /// What it calls against the player in this place, unless it leaves that to chance.
    #[inline]
    fn opinion(&self, opponent: usize) -> Option<Parity> {
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
            // The call that stays if it was right, and shifts if it was wrong, is the one that was drawn.
            Self::WinStayLoseShift(right) => *right = Some(drawn),
        }
    }
}

/// Players of even/odd, and what they remember of each other.
#[derive(Debug, Clone)]
pub(crate) struct Callers(Vec<Way>);

impl Callers {
    /// `None` if there is one whose strategy is not written here.
    pub(crate) fn of<'a>(entrants: impl ExactSizeIterator<Item = &'a Entrant>) -> Option<Self> {
        let players = entrants.len();
        let ways = entrants.map(|entrant| match &entrant.chooser {
            Chooser::BuiltIn(entry) => Way::named(entry.name, players),
            Chooser::Outside(_) => None,
        });
        ways.collect::<Option<_>>().map(Self)
    }

    pub(crate) fn forget(&mut self) {
        self.0.iter_mut().for_each(Way::forget);
    }

    pub(crate) fn opinion(&self, player: usize, opponent: usize) -> Option<Parity> {
        self.0.get(player).and_then(|way| way.opinion(opponent))
    }

    pub(crate) fn remember(&mut self, players: [usize; 2], calls: [Parity; 2], drawn: Parity) {
        let ([a, b], [call_a, call_b]) = (players, calls);
        if let Some(way) = self.0.get_mut(a) {
            way.remember(b, call_b, drawn);
        }
        if let Some(way) = self.0.get_mut(b) {
            way.remember(a, call_a, drawn);
        }
    }

    #[inline]
    pub(crate) fn play(&mut self, a: usize, b: usize, chance: &mut impl Chance) -> Ending {
        let call_a = self.opinion(a, b).unwrap_or_else(|| chance.call());
        let call_b = self.opinion(b, a).unwrap_or_else(|| chance.call());
        let drawn = chance.draw();
        self.remember([a, b], [call_a, call_b], drawn);
        judge([call_a, call_b], drawn)
    }
}

/// Whoever called it right alone has won.
pub(crate) fn judge([a, b]: [Parity; 2], drawn: Parity) -> Ending {
    match (a == drawn, b == drawn) {
        (true, false) => Ending::Won(Seat::A),
        (false, true) => Ending::Won(Seat::B),
        _ => Ending::Drawn,
    }
}
