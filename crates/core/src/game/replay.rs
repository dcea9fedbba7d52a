//! A match played over from its moves: is each one that the rules allow, and where do they lead?

use super::{Game, Outcome, Seat, Turn};
use crate::fair::Dice;
use crate::protocol::ids::PlayerId;
use crate::protocol::messages::ByPlayer;
use serde_json::Value;

/// A match that is played over.
#[derive(Debug)]
pub struct Replay<'a> {
    pub game: Box<dyn Game>,
    players: [&'a PlayerId; 2],
    /// What chance came from, where that is known.
    dice: Option<Dice>,
}

/// Why a match cannot be played over.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotReplayed {
    #[error("something was drawn, and the referee has not shown from what")]
    Undrawn,
    /// A move that the rules do not allow, in words for people.
    #[error("{0}")]
    Illegal(String),
}

impl<'a> Replay<'a> {
    pub fn new(game: Box<dyn Game>, players: [&'a PlayerId; 2], dice: Option<Dice>) -> Self {
        Self { game, players, dice }
    }

    /// Makes the moves of one turn. Whether everyone who was to move has moved.
    pub fn turn(&mut self, moves: &ByPlayer<Value>) -> Result<bool, NotReplayed> {
        self.chance()?;
        let seats = match self.game.turn() {
            Turn::Both => &Seat::BOTH[..],
            Turn::One(Seat::A) => &[Seat::A],
            Turn::One(Seat::B) => &[Seat::B],
            Turn::Over | Turn::Chance | Turn::Outside => {
                return Err(NotReplayed::Illegal("the game was over before it".into()));
            }
        };
        let of_others = |(id, _): &(&PlayerId, &Value)| !seats.iter().any(|seat| self.player(*seat) == *id);
        if let Some((id, made)) = moves.iter().find(of_others) {
            return Err(NotReplayed::Illegal(format!("{id} plays {made}, and it is not its turn")));
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
            self.game.chance(self.dice.as_mut().ok_or(NotReplayed::Undrawn)?);
        }
        Ok(())
    }
}
