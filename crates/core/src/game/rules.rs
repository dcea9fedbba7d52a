//! What a game is made of: [`Rules`] is a position that knows whose move it is, what may be played and how it ended, and
//! [`Presentation`] how that looks in messages and on pages. Requests and replay ([`json_game`](super::json_game)) and
//! simulation ([`fast`](super::fast)) are adapters over these two. Pure.

use super::prospect::Prospect;
use super::strategy::{self, StrategyEntry};
use super::view::View;
use super::{MoveMessage, Outcome, PayoffMatrix, Seat, Turn};
use crate::protocol::ids::PlayerId;
use crate::protocol::messages::GameDetails;
use serde_json::{Map, Value};
use std::fmt::Debug;
use std::hash::Hash;
use std::ops::RangeInclusive;

/// A position of one game: a small value without JSON and without allocation. Its default is the position before the first
/// move.
pub(super) trait Rules: Clone + Debug + Default + Send + 'static {
    /// A move of a player.
    type Move: Copy + Debug + Eq + Hash + Send;

    /// What a player remembers of earlier matches, if its strategies look at more than the match.
    type Memory: Clone + Debug + Default + Send;

    /// How our own players play it, besides at random.
    const STRATEGIES: &'static [StrategyOf<Self>];

    /// What a round pays, in games of repeated simultaneous choice.
    const MATRIX: Option<PayoffMatrix> = None;

    /// Whose move it is; never external.
    fn turn(&self) -> Turn;

    /// How many moves are legal; the same for both seats where both move at once.
    fn options(&self) -> usize;

    /// The legal move of this number, which is below [`options`](Self::options): in the order in which requests list them.
    fn option(&self, number: usize) -> Self::Move;

    /// Makes a legal move. Where both move at once neither is made before both are known, and A's is made first.
    fn play(&mut self, seat: Seat, made: Self::Move);

    /// Makes the move of chance, when it is chance's turn, with numbers drawn from the given ranges.
    fn chance(&mut self, _draw: impl FnMut(RangeInclusive<u32>) -> u32) {}

    /// How it ended, if it has.
    fn outcome(&self) -> Option<Outcome>;

    /// What each has scored so far within the match, in games that keep such a score.
    fn totals(&self) -> Option<[u32; 2]> {
        None
    }

    /// Takes a match that is over into the memory of a player who had this seat.
    fn remember(&self, _memory: &mut Self::Memory, _seat: Seat, _opponent: usize) {}
}

/// The moves of a match, in the order in which they came. Where both move at once, one may be a move ahead.
pub(super) type Moves<R> = [(Seat, <R as Rules>::Move)];

/// How the positions and moves of a game look in messages and on pages.
pub(super) trait Presentation: Rules {
    /// The `move_type` of the messages.
    const MOVE_TYPE: &'static str;

    /// Which messages ask for a move.
    const MOVE_MESSAGE: MoveMessage = MoveMessage::GameMove;

    /// A move as messages carry it.
    fn write(made: Self::Move) -> Value;

    /// All that a seat may see. Two turns of a match must not look the same to it.
    fn context(&self, seat: Seat, moves: &Moves<Self>) -> Map<String, Value>;

    /// The position that a turn of ours shows, and our seat in it, as far as strategies need them; `None` if a third-party
    /// referee shows too little.
    fn read(turn: &strategy::Turn<'_>) -> Option<(Self, Seat)>;

    /// What our player remembers; its opponent has the number 0.
    fn recall(_turn: &strategy::Turn<'_>) -> Self::Memory {
        Self::Memory::default()
    }

    /// What there is to tell beyond who won; at any time, since a game may end by forfeit.
    fn details(&self, moves: &Moves<Self>, players: &[PlayerId; 2]) -> GameDetails;

    /// Why it ended as it did, in a sentence for people.
    fn reason(&self, moves: &Moves<Self>, players: &[PlayerId; 2]) -> String;

    /// How the position looks to a spectator.
    fn view(&self, moves: &Moves<Self>) -> View;

    /// What a move of the seat whose turn it is leads to, in games whose rules can tell.
    fn prospect(&self, _made: Self::Move) -> Option<Prospect> {
        None
    }
}

/// The moves of one seat.
pub(super) fn moves_of<M: Copy>(moves: &[(Seat, M)], seat: Seat) -> impl Iterator<Item = M> {
    moves
        .iter()
        .filter(move |(by, _)| *by == seat)
        .map(|(_, made)| *made)
}

/// All moves, as messages carry them.
pub(super) fn written<R: Presentation>(moves: &Moves<R>) -> Value {
    moves.iter().map(|(_, made)| R::write(*made)).collect()
}

/// All that a built-in strategy may look at.
#[derive(Debug)]
pub(super) struct Situation<'a, R: Rules> {
    pub(super) position: &'a R,
    /// The seat that is to choose.
    pub(super) seat: Seat,
    pub(super) memory: &'a R::Memory,
    /// By which number the memory knows the opponent.
    pub(super) opponent: usize,
}

/// One of the legal moves, or `None` to leave it to chance.
pub(super) type Choose<R> = fn(&Situation<'_, R>) -> Option<<R as Rules>::Move>;

/// A built-in strategy of one game.
#[derive(Debug)]
pub(super) struct StrategyOf<R: Rules> {
    pub(super) entry: StrategyEntry,
    pub(super) choose: Choose<R>,
}

impl<R: Rules> StrategyOf<R> {
    pub(super) const fn new(name: &'static str, about: &'static str, choose: Choose<R>) -> Self {
        Self {
            entry: StrategyEntry { name, about },
            choose,
        }
    }

    pub(super) fn named(name: &str) -> Option<&'static Self> {
        R::STRATEGIES
            .iter()
            .find(|strategy| strategy.entry.name == name)
    }
}

/// The bit of this number among those that are set, from the lowest.
pub(super) fn nth_bit(set: u64, number: usize) -> u32 {
    (0..number)
        .fold(set, |set, _| set & set.wrapping_sub(1))
        .trailing_zeros()
}
