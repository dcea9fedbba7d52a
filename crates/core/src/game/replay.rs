//! Replay of a match from its moves: checks that each is legal, and returns its positions.

use super::view::View;
use super::{Game, Outcome, Seat, Turn, even_odd};
use crate::fair::Dice;
use crate::protocol::ids::{GameType, PlayerId};
use crate::protocol::messages::{ByPlayer, GameDetails, ResultDetails};
use serde_json::Value;

/// A match that is played over.
#[derive(Debug)]
pub struct Replay<'a> {
    /// The position after the turns so far.
    pub game: Box<dyn Game>,
    players: [&'a PlayerId; 2],
    /// What chance came from, where that is known.
    dice: Option<Dice>,
}

/// Why a match cannot be played over.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotReplayed {
    /// The rules ask for chance, and there are no dice.
    #[error("a number was drawn, but the referee has not revealed its secret")]
    Undrawn,
    /// A move that the rules do not allow, in words for people.
    #[error("{0}")]
    Illegal(String),
}

impl<'a> Replay<'a> {
    /// Begins at the position of `game`. `players` in the order A, B; no `dice` if the draw was not revealed.
    pub fn new(game: Box<dyn Game>, players: [&'a PlayerId; 2], dice: Option<Dice>) -> Self {
        Self {
            game,
            players,
            dice,
        }
    }

    /// Makes the moves of one turn. Whether everyone who was to move has moved.
    pub fn turn(&mut self, moves: &ByPlayer<Value>) -> Result<bool, NotReplayed> {
        self.chance()?;
        let seats = self.game.turn().seats();
        if seats.is_empty() {
            return Err(NotReplayed::Illegal("the game was over before it".into()));
        }
        let of_others =
            |(id, _): &(&PlayerId, &Value)| !seats.iter().any(|seat| self.player(*seat) == *id);
        if let Some((id, made)) = moves.iter().find(of_others) {
            return Err(NotReplayed::Illegal(format!(
                "{id} plays {made}, but it is not its turn"
            )));
        }
        for seat in seats {
            let id = self.player(*seat);
            if let Some(made) = moves.get(id) {
                let played = self.game.play(*seat, made);
                played.map_err(|illegal| NotReplayed::Illegal(format!("{id}: {illegal}")))?;
            }
        }
        Ok(moves.len() == seats.len())
    }

    /// How the moves so far end the game, if they do.
    pub fn outcome(&mut self) -> Result<Option<Outcome>, NotReplayed> {
        self.chance()?;
        Ok(self.game.outcome())
    }

    fn player(&self, seat: Seat) -> &'a PlayerId {
        let [a, b] = self.players;
        match seat {
            Seat::A => a,
            Seat::B => b,
        }
    }

    fn chance(&mut self) -> Result<(), NotReplayed> {
        while self.game.turn() == Turn::Chance {
            self.game
                .chance(self.dice.as_mut().ok_or(NotReplayed::Undrawn)?);
        }
        Ok(())
    }
}

/// How the positions of a decided match look: the first, and the one after each turn, as far as its moves are known and legal.
/// Of a game whose rules are outside only the last one is known.
pub fn views(game_type: &GameType, players: [&PlayerId; 2], details: &ResultDetails) -> Vec<View> {
    match (&details.game, super::find(game_type)) {
        (GameDetails::Parity(parity), _) => even_odd::views(players, parity),
        (GameDetails::Other(_), Some(entry)) => {
            let turns = details.turn_log.iter().flatten();
            let mut replay = Replay::new((entry.new)(), players, None);
            let first = replay.game.view();
            let later = turns.map_while(|moves| {
                replay.turn(moves).ok()?;
                replay.game.view()
            });
            first.into_iter().chain(later).collect()
        }
        (GameDetails::Other(told), None) => {
            let view = told
                .get("view")
                .and_then(|view| serde_json::from_value(view.clone()).ok());
            view.filter(|view: &View| view.check().is_ok())
                .into_iter()
                .collect()
        }
    }
}
