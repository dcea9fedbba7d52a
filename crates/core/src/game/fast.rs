//! Games as small values, for very many matches: no JSON, no allocation, one call for each match. A [`Position`] states
//! the rules a second time; `matchday-simulate` tests both against each other, move by move. Pure.

use super::{Outcome, Seat, Turn};
use crate::entropy::Entropy;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};

/// A position of one game. Moves are numbered in the order in which the request lists the options.
pub(super) trait Position: Clone + Debug + Send + 'static {
    /// Whose move it is: never chance, and never external.
    fn turn(&self) -> Turn;

    /// How many moves there are.
    fn options(&self) -> u32;

    /// Makes the move of this number, which is below [`options`](Self::options).
    fn play(&mut self, seat: Seat, option: u32);

    /// How it ended; a draw as long as it has not.
    fn outcome(&self) -> Outcome;

    /// What each has scored within the match, in games that keep such a score.
    fn totals(&self) -> Option<[u32; 2]> {
        None
    }
}

/// What a strategy chooses in a position; `None` leaves it to chance.
pub(super) type Choose<P> = fn(&P, Seat) -> Option<u32>;

/// A match that was played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FastMatch {
    /// How it ended.
    pub outcome: Outcome,
    /// What A and B have scored within the match, in games that keep such a score.
    pub totals: Option<[u32; 2]>,
    /// A hash of all moves: matches that differ in it are different.
    pub moves: u64,
}

/// The players of a game, ready to play.
pub trait FastPlayers: Debug + Send {
    /// Every match begins with these moves, by their numbers, until this is called again. Moves after the end are ignored.
    fn open(&mut self, opening: &[u32]);

    /// Plays a match with the same entropy as by [`Game`](super::Game) and [`Strategy`](super::strategy::Strategy).
    fn play(&mut self, a: usize, b: usize, entropy: &mut Entropy) -> FastMatch;
}

/// Sets up the players of the named strategies.
pub type FastRules = fn(strategies: &[&str]) -> Box<dyn FastPlayers>;

/// A strategy that the game does not know moves at random, as everywhere.
pub(super) fn players<P: Position>(
    start: P,
    known: &[(&str, Choose<P>)],
    strategies: &[&str],
) -> Box<dyn FastPlayers> {
    let choose = |name: &&str| -> Choose<P> {
        known.iter().find(|(known, _)| known == name).map_or(|_, _| None, |(_, choose)| *choose)
    };
    let strategies = strategies.iter().map(choose).collect();
    Box::new(Players { opened: (start.clone(), MOVES), start, strategies })
}

#[derive(Debug)]
struct Players<P> {
    start: P,
    /// The position after the opening, and the hash of its moves.
    opened: (P, u64),
    strategies: Vec<Choose<P>>,
}

/// FNV-1a.
const MOVES: u64 = 0xCBF2_9CE4_8422_2325;
fn hash(moves: u64, option: u32) -> u64 {
    (moves ^ u64::from(option)).wrapping_mul(0x0100_0000_01B3)
}

impl<P: Position> Players<P> {
    fn choose(&self, position: &P, seat: Seat, player: usize, entropy: &mut Entropy) -> u32 {
        let preferred = self.strategies.get(player).and_then(|choose| choose(position, seat));
        preferred.unwrap_or_else(|| {
            u32::try_from(entropy.below(u64::from(position.options()))).unwrap_or_default()
        })
    }
}

impl<P: Position> FastPlayers for Players<P> {
    fn open(&mut self, opening: &[u32]) {
        let (mut position, mut moves) = (self.start.clone(), MOVES);
        let mut opening = opening.iter().copied();
        loop {
            let seats = match position.turn() {
                Turn::Both => &Seat::BOTH[..],
                Turn::One(Seat::A) => &[Seat::A],
                Turn::One(Seat::B) => &[Seat::B],
                Turn::Chance | Turn::External | Turn::Over => break,
            };
            if opening.len() < seats.len() {
                break;
            }
            for (seat, option) in seats.iter().zip(opening.by_ref().take(seats.len())) {
                position.play(*seat, option);
                moves = hash(moves, option);
            }
        }
        self.opened = (position, moves);
    }

    fn play(&mut self, a: usize, b: usize, entropy: &mut Entropy) -> FastMatch {
        let (mut position, mut moves) = self.opened.clone();
        loop {
            match position.turn() {
                Turn::Both => {
                    let of_a = self.choose(&position, Seat::A, a, entropy);
                    let of_b = self.choose(&position, Seat::B, b, entropy);
                    position.play(Seat::A, of_a);
                    position.play(Seat::B, of_b);
                    moves = hash(hash(moves, of_a), of_b);
                }
                Turn::One(seat) => {
                    let player = *seat.of(&[a, b]);
                    let option = self.choose(&position, seat, player, entropy);
                    position.play(seat, option);
                    moves = hash(moves, option);
                }
                Turn::Chance | Turn::External | Turn::Over => {
                    return FastMatch { outcome: position.outcome(), totals: position.totals(), moves };
                }
            }
        }
    }
}

/// Remembers values of a pure function, those of the latest keys. Callers cannot tell whether a value was remembered.
pub(super) struct Memo<const SLOTS: usize>([AtomicU64; SLOTS]);

impl<const SLOTS: usize> Memo<SLOTS> {
    pub(super) const fn new() -> Self {
        Self([const { AtomicU64::new(0) }; SLOTS])
    }

    /// The value for a key below 2⁵⁶. Key and value share a word, so that threads never see one without the other.
    pub(super) fn get(&self, key: u64, value: impl FnOnce() -> Option<u8>) -> Option<u8> {
        let scattered = key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let slot = usize::try_from(scattered).ok().and_then(|place| self.0.get(place % SLOTS))?;
        let word = slot.load(Ordering::Relaxed);
        let [known, ..] = word.to_le_bytes();
        if known != 0 && word >> 8 == key {
            return Some(known - 1);
        }
        let value = value()?;
        slot.store(key << 8 | (u64::from(value) + 1), Ordering::Relaxed);
        Some(value)
    }
}
