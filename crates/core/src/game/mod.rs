//! Games: what a referee must know to run one, and how our own players play it. A game is pure rules; it sees no clock,
//! no network and no player, only seats, moves and dice. A new game is a file of its own here and one line in
//! [`GAMES`], its strategies and its rules in words included.
//!
//! # Layout
//! - `rules`: what a game is made of, stated once for each; a file for each game, and `repeated` for those of repeated
//!   simultaneous choice; `successors`, `memo`: what strategies count and cache
//! - [`Game`]: a match in the JSON of messages, by built-in rules (`json_game`) or those of a program ([`external`]); [`fast`]:
//!   very many matches by built-in rules
//! - [`strategy`], [`context`], [`past`], [`turn`]: how a player chooses, and what it knows; [`observation`]: what a model is shown
//! - [`replay`], [`analysis`], [`prospect`], [`view`]: matches that were played; [`best_response`]: what a strategy gives away

pub mod analysis;
pub mod best_response;
pub mod context;
pub mod external;
pub mod fast;
mod json_game;
mod memo;
pub mod observation;
pub mod past;
pub mod prospect;
mod repeated;
pub mod replay;
mod rules;
pub mod strategy;
mod successors;
#[cfg(test)]
mod tests;
pub mod turn;
pub mod view;
pub mod words;

use crate::entropy::Entropy;
use crate::fair::Dice;
use crate::game::best_response::Response;
use crate::game::fast::FastPlayers;
use crate::game::prospect::Prospect;
use crate::game::rules::Presentation;
use crate::game::strategy::StrategyEntry;
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{GameType, PlayerId};
use crate::protocol::messages::{GameDetails, MoveRequest};
use serde_json::Value;
use std::fmt::{self, Debug};
use view::View;

/// The rules of one game, and how far it has come.
///
/// The caller asks [`Game::turn`] and does as it says, until it is over: collects a move from the seats named there
/// and plays each once, or lets chance have its way.
pub trait Game: Debug + Send {
    /// Which messages ask for a move.
    fn move_message(&self) -> MoveMessage {
        MoveMessage::GameMove
    }

    /// Whose move it is. With both to move it stays so until both have.
    fn turn(&self) -> Turn;

    /// What to ask a seat, and all that it may see.
    fn request(&self, seat: Seat) -> MoveRequest;

    /// Makes a move, or says why it is none and changes nothing.
    fn play(&mut self, seat: Seat, choice: &Value) -> Result<(), IllegalMove>;

    /// Makes the move of chance, when it is chance's turn; games without chance have none.
    fn chance(&mut self, _dice: &mut Dice) {}

    /// How it ended, if it has.
    fn outcome(&self) -> Option<Outcome>;

    /// What each has scored so far within the match, in games that keep such a score.
    fn totals(&self) -> Option<[u32; 2]> {
        None
    }

    /// What there is to tell beyond who won; at any time, since a game may end by forfeit.
    fn details(&self, players: &[PlayerId; 2]) -> GameDetails;

    /// Why it ended as it did, in a sentence for people.
    fn reason(&self, players: &[PlayerId; 2]) -> String;

    /// How the position looks to a spectator: nothing that one player may not see of the other's move.
    fn view(&self) -> Option<View> {
        None
    }

    /// What each move of the seat whose turn it is leads to, in games whose rules can tell.
    fn prospects(&self) -> Vec<(Value, Prospect)> {
        Vec::new()
    }

    /// Every turn from the beginning, for rules that are kept outside; games that know their own have no use for it.
    fn history(&self) -> &[Value] {
        &[]
    }

    /// Takes in what the rules outside say of the position, or says why that cannot be played by.
    fn ruled(&mut self, _said: Value) -> Result<(), String> {
        Err("the rules of this game are not kept outside".into())
    }
}

/// One of the two sides of a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Seat {
    /// PLAYER_A of the messages: named first in a pairing.
    A,
    /// PLAYER_B of the messages.
    B,
}

impl Seat {
    /// In the order of a pairing.
    pub const BOTH: [Self; 2] = [Self::A, Self::B];

    /// The opponent's seat.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }

    /// The place in a pair: 0 or 1.
    pub fn index(self) -> usize {
        match self {
            Self::A => 0,
            Self::B => 1,
        }
    }

    /// This seat's part of a pair.
    pub fn of<T>(self, pair: &[T; 2]) -> &T {
        let [a, b] = pair;
        match self {
            Self::A => a,
            Self::B => b,
        }
    }

    /// This seat's part of a pair, to be changed.
    pub fn of_mut<T>(self, pair: &mut [T; 2]) -> &mut T {
        let [a, b] = pair;
        match self {
            Self::A => a,
            Self::B => b,
        }
    }
}

/// What the game waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// Both move at once, neither seeing the other's move.
    Both,
    /// Only this seat moves.
    One(Seat),
    /// Something is drawn.
    Chance,
    /// The rules outside must be asked first.
    External,
    /// Nothing: the game has its outcome.
    Over,
}

impl Turn {
    /// The seats that are to move.
    pub fn seats(self) -> &'static [Seat] {
        match self {
            Self::Both => &Seat::BOTH,
            Self::One(Seat::A) => &[Seat::A],
            Self::One(Seat::B) => &[Seat::B],
            Self::Chance | Self::External | Self::Over => &[],
        }
    }
}

/// How a game that was played to its end went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// This seat has won, the other lost.
    Win(Seat),
    /// Neither has won.
    Draw,
}

/// By which pair of messages a game asks for moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoveMessage {
    /// CHOOSE_PARITY_CALL and CHOOSE_PARITY_RESPONSE.
    ChooseParity,
    /// GAME_MOVE_CALL and GAME_MOVE_RESPONSE.
    GameMove,
}

impl MoveMessage {
    fn illegal_move(self) -> ErrorCode {
        match self {
            Self::ChooseParity => ErrorCode::InvalidParityChoice,
            Self::GameMove => ErrorCode::InvalidMove,
        }
    }
}

/// A move that the rules do not allow.
#[derive(Debug, Clone, PartialEq)]
pub struct IllegalMove {
    /// E004 in even/odd, E010 in every other game.
    pub code: ErrorCode,
    /// The move as the player sent it.
    pub came: Value,
    /// What would have been allowed.
    pub legal: Vec<Value>,
}

impl fmt::Display for IllegalMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let legal: Vec<_> = self.legal.iter().map(Value::to_string).collect();
        write!(f, "expected one of {}, got {}", legal.join(", "), self.came)
    }
}

impl std::error::Error for IllegalMove {}

/// What there is to know of a game.
#[derive(Debug)]
pub struct GameEntry {
    /// The `game_type` of the messages.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// How it is played and judged, and what a turn shows: in Markdown, for people and models who are to play it. Names no
    /// message.
    pub rules: &'static str,
    /// The most turns that a game can have; a turn of both at once counts as one.
    pub turns_max: u32,
    /// Whether players of equal strength have unequal chances on the two sides.
    pub sides_matter: bool,
    /// What a match pays besides its result; none in games that have no points of their own.
    pub payoff: Option<Payoff>,
    /// Sets up the position before the first move.
    pub new: fn() -> Box<dyn Game>,
    /// What else is known of a game whose rules are here.
    pub built_in: Option<BuiltIn>,
}

/// What follows from the rules of a game.
#[derive(Debug, Clone, Copy)]
pub struct BuiltIn {
    strategies: fn() -> Vec<&'static StrategyEntry>,
    /// What the strategy of this name chooses; `None` leaves it to chance.
    choose: fn(name: &str, turn: &strategy::Turn<'_>) -> Option<Value>,
    /// Sets up players of the named strategies for very many matches.
    pub players: fn(strategies: &[&str]) -> Box<dyn FastPlayers>,
    /// Plays a match of a best response, in this seat, against the strategy of this name; `true` if it is after payoffs. `None`
    /// if players do not choose at once.
    pub respond: fn(strategy: &str, Seat, bool, &mut Entropy) -> Option<Response>,
    /// Of a round, in games of repeated simultaneous choice.
    pub matrix: Option<PayoffMatrix>,
}

/// What a round of a game of repeated simultaneous choice pays.
#[derive(Debug, Clone, Copy)]
pub struct PayoffMatrix {
    /// As messages carry them.
    pub options: &'static [&'static str],
    /// The points of A and B, by the numbers of their options.
    pub payoff: fn(usize, usize) -> [u32; 2],
}

impl BuiltIn {
    const fn of<R: Presentation>() -> Self {
        Self {
            strategies: || {
                R::STRATEGIES
                    .iter()
                    .map(|strategy| &strategy.entry)
                    .collect()
            },
            choose: json_game::choose::<R>,
            players: fast::players::<R>,
            respond: best_response::play::<R>,
            matrix: R::MATRIX,
        }
    }
}

impl GameEntry {
    /// How our own players play it, besides at random.
    pub fn strategies(&self) -> Vec<&'static StrategyEntry> {
        self.built_in
            .map(|built_in| (built_in.strategies)())
            .unwrap_or_default()
    }

    /// Whether tables go by what matches pay unless the operator says otherwise.
    pub fn ranks_by_payoff(&self) -> bool {
        self.payoff.is_some_and(|payoff| payoff.ranks)
    }

    /// The rules, and the messages that ask for a move: for those who write a player.
    pub fn rules_with_messages(&self) -> String {
        let messages = match (self.new)().move_message() {
            MoveMessage::ChooseParity => {
                "The referee asks with CHOOSE_PARITY_CALL; the answer is CHOOSE_PARITY_RESPONSE with the option as \
                 `parity_choice`."
            }
            MoveMessage::GameMove => {
                "The referee asks with GAME_MOVE_CALL: `move_request.context` is the context, \
                 `move_request.valid_options` are the options. The answer is GAME_MOVE_RESPONSE with one of these as \
                 `move_data.choice`."
            }
        };
        format!(
            "{}\nA player who does not answer in time loses the match. {messages}\n",
            self.rules
        )
    }
}

/// The points of a game in which they add up over the rounds of a match.
#[derive(Debug, Clone, Copy)]
pub struct Payoff {
    /// For a player whose opponent forfeits, or who sits out; the forfeit itself pays nothing.
    pub walkover: u32,
    /// Whether tables go by payoffs unless the operator says otherwise.
    pub ranks: bool,
}

/// Declares a module for each game, and lists what it says of itself.
macro_rules! games {
    ($($name:ident,)*) => {
        $(mod $name;)*

        /// Every game that is played here.
        pub static GAMES: &[GameEntry] = &[$($name::GAME),*];
    };
}

games! {
    even_odd,
    tic_tac_toe,
    rock_paper_scissors,
    matching_pennies,
    iterated_prisoners_dilemma,
    connect_four,
    nim,
}

/// The game of that name. There is no default: a game that is not here cannot be played.
pub fn find(game_type: &GameType) -> Option<&'static GameEntry> {
    GAMES.iter().find(|entry| entry.name == game_type.as_str())
}
