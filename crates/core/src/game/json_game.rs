//! A match by [`Rules`] in the JSON of messages: what referees, replay and tools play by. Pure.

use super::prospect::Prospect;
use super::rules::{Presentation, Rules, Situation, StrategyOf};
use super::strategy;
use super::view::View;
use super::{Game, IllegalMove, MoveMessage, Outcome, Seat, Turn};
use crate::fair::Dice;
use crate::protocol::ids::PlayerId;
use crate::protocol::messages::{GameDetails, MoveRequest};
use serde_json::Value;
use smol_str::SmolStr;

#[derive(Debug)]
pub(super) struct JsonGame<R: Rules> {
    pub(super) position: R,
    /// Every move, in the order in which they came.
    moves: Vec<(Seat, R::Move)>,
    /// The move of the seat that came first, where both move at once.
    pending: Option<(Seat, R::Move)>,
}

impl<R: Presentation> JsonGame<R> {
    /// The position before the first move.
    pub(super) fn begin() -> Box<dyn Game> {
        Box::new(Self::at(R::default()))
    }

    /// Goes on from a position.
    pub(super) fn at(position: R) -> Self {
        Self {
            position,
            moves: Vec::new(),
            pending: None,
        }
    }

    fn awaits(&self, seat: Seat) -> bool {
        match self.position.turn() {
            Turn::Both => self.pending.is_none_or(|(by, _)| by != seat),
            Turn::One(next) => next == seat,
            Turn::Chance | Turn::External | Turn::Over => false,
        }
    }

    fn legal(&self) -> impl Iterator<Item = R::Move> {
        (0..self.position.options()).map(|number| self.position.option(number))
    }

    fn options(&self) -> Vec<Value> {
        self.legal().map(R::write).collect()
    }
}

impl<R: Presentation> Game for JsonGame<R> {
    fn move_message(&self) -> MoveMessage {
        R::MOVE_MESSAGE
    }

    fn turn(&self) -> Turn {
        self.position.turn()
    }

    fn request(&self, seat: Seat) -> MoveRequest {
        MoveRequest {
            move_type: SmolStr::new_static(R::MOVE_TYPE),
            valid_options: self.options(),
            context: self.position.context(seat, &self.moves),
        }
    }

    fn play(&mut self, seat: Seat, choice: &Value) -> Result<(), IllegalMove> {
        let is_awaited = self.awaits(seat);
        let Some(made) = self
            .legal()
            .find(|made| is_awaited && R::write(*made) == *choice)
        else {
            let legal = if is_awaited {
                self.options()
            } else {
                Vec::new()
            };
            return Err(IllegalMove {
                code: R::MOVE_MESSAGE.illegal_move(),
                came: choice.clone(),
                legal,
            });
        };
        self.moves.push((seat, made));
        match (self.turn(), self.pending.take()) {
            (Turn::Both, None) => self.pending = Some((seat, made)),
            (_, None) => self.position.play(seat, made),
            (_, Some((_, earlier))) => {
                let [of_a, of_b] = if seat == Seat::B {
                    [earlier, made]
                } else {
                    [made, earlier]
                };
                self.position.play(Seat::A, of_a);
                self.position.play(Seat::B, of_b);
            }
        }
        Ok(())
    }

    fn chance(&mut self, dice: &mut Dice) {
        if self.turn() == Turn::Chance {
            self.position.chance(|range| dice.uniform(range));
        }
    }

    fn outcome(&self) -> Option<Outcome> {
        self.position.outcome()
    }

    fn totals(&self) -> Option<[u32; 2]> {
        self.position.totals()
    }

    fn details(&self, players: &[PlayerId; 2]) -> GameDetails {
        self.position.details(&self.moves, players)
    }

    fn reason(&self, players: &[PlayerId; 2]) -> String {
        self.position.reason(&self.moves, players)
    }

    fn view(&self) -> Option<View> {
        Some(self.position.view(&self.moves))
    }

    fn prospects(&self) -> Vec<(Value, Prospect)> {
        let is_of_one = matches!(self.turn(), Turn::One(_));
        let told = self
            .legal()
            .filter(|_| is_of_one)
            .map(|made| Some((R::write(made), self.position.prospect(made)?)));
        told.flatten().collect()
    }
}

/// What the strategy of this name chooses in a turn; `None` leaves it to chance.
pub(super) fn choose<R: Presentation>(name: &str, turn: &strategy::Turn<'_>) -> Option<Value> {
    let strategy = StrategyOf::<R>::named(name)?;
    let (position, seat) = R::read(turn)?;
    let memory = R::recall(turn);
    let situation = Situation {
        position: &position,
        seat,
        memory: &memory,
        opponent: 0,
    };
    (strategy.choose)(&situation).map(R::write)
}
