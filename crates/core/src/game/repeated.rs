//! Games of repeated simultaneous choice: both choose at once, so many times, and neither sees the other's choice before both
//! are in. A game of this kind is a [`Matrix`]. Pure.

use super::rules::{Moves, Presentation, Rules, Situation, StrategyOf, moves_of};
use super::strategy;
use super::successors::{Successors, patterns_below};
use super::view::{Strip, StripRound, View};
use super::{Outcome, PayoffMatrix, Seat, Turn};
use crate::protocol::ids::PlayerId;
use crate::protocol::messages::GameDetails;
use serde_json::{Map, Value, json};
use smol_str::SmolStr;
use std::cmp::Ordering;
use std::fmt::Debug;
use std::marker::PhantomData;

/// All that tells one such game from another. Choices are known by their numbers among the options, of which there are at most
/// three.
pub(super) trait Matrix: Clone + Debug + Default + Send + 'static {
    const MOVE_TYPE: &'static str;
    const ROUNDS: u32;
    const OPTIONS: &'static [&'static str];
    /// What A and B are called, where it makes a difference which of them one is.
    const ROLES: Option<[&'static str; 2]> = None;
    const STRATEGIES: &'static [StrategyOf<Repeated<Self>>];

    /// The points that one round brings A and B.
    fn payoff(a: usize, b: usize) -> [u32; 2];
}

/// What one seat has chosen; strategies look at no more than the last two choices before one.
pub(super) type Choices = Successors<{ patterns_below(3) }>;

#[derive(Debug, Clone, Default)]
pub(super) struct Repeated<M> {
    played: u32,
    totals: [u32; 2],
    /// What A has chosen, until B has.
    of_a: usize,
    made: [Choices; 2],
    matrix: PhantomData<M>,
}

impl<M: Matrix> Rules for Repeated<M> {
    type Move = usize;
    type Memory = ();

    const STRATEGIES: &'static [StrategyOf<Self>] = M::STRATEGIES;
    const MATRIX: Option<PayoffMatrix> = Some(PayoffMatrix {
        options: M::OPTIONS,
        payoff: M::payoff,
    });

    fn turn(&self) -> Turn {
        if self.played < M::ROUNDS {
            Turn::Both
        } else {
            Turn::Over
        }
    }

    fn options(&self) -> usize {
        M::OPTIONS.len()
    }

    fn option(&self, number: usize) -> usize {
        number
    }

    fn play(&mut self, seat: Seat, choice: usize) {
        seat.of_mut(&mut self.made).push(choice);
        match seat {
            Seat::A => self.of_a = choice,
            Seat::B => {
                let ([a, b], [more_a, more_b]) = (self.totals, M::payoff(self.of_a, choice));
                self.totals = [a + more_a, b + more_b];
                self.played += 1;
            }
        }
    }

    fn outcome(&self) -> Option<Outcome> {
        let [a, b] = self.totals;
        (self.turn() == Turn::Over).then_some(match a.cmp(&b) {
            Ordering::Greater => Outcome::Win(Seat::A),
            Ordering::Less => Outcome::Win(Seat::B),
            Ordering::Equal => Outcome::Draw,
        })
    }

    fn totals(&self) -> Option<[u32; 2]> {
        Some(self.totals)
    }
}

impl<M: Matrix> Situation<'_, Repeated<M>> {
    /// What we have chosen so far in this match.
    pub(super) fn own(&self) -> &Choices {
        self.seat.of(&self.position.made)
    }

    /// What the opponent has chosen.
    pub(super) fn theirs(&self) -> &Choices {
        self.seat.other().of(&self.position.made)
    }
}

fn word<M: Matrix>(choice: usize) -> &'static str {
    M::OPTIONS.get(choice).copied().unwrap_or_default()
}

/// The rounds in which both have chosen.
fn rounds<M: Matrix>(moves: &Moves<Repeated<M>>) -> impl Iterator<Item = [usize; 2]> {
    moves_of(moves, Seat::A)
        .zip(moves_of(moves, Seat::B))
        .map(<[usize; 2]>::from)
}

impl<M: Matrix> Presentation for Repeated<M> {
    const MOVE_TYPE: &'static str = M::MOVE_TYPE;

    fn write(choice: usize) -> Value {
        word::<M>(choice).into()
    }

    fn context(&self, seat: Seat, moves: &Moves<Self>) -> Map<String, Value> {
        let told = |round: [usize; 2]| {
            let round = round.map(word::<M>);
            json!({ "you": seat.of(&round), "opponent": seat.other().of(&round) })
        };
        let mut context = Map::from_iter([
            ("round".to_owned(), json!(self.played + 1)),
            ("rounds".to_owned(), json!(M::ROUNDS)),
            ("your_total".to_owned(), json!(seat.of(&self.totals))),
            (
                "opponent_total".to_owned(),
                json!(seat.other().of(&self.totals)),
            ),
            ("history".to_owned(), rounds::<M>(moves).map(told).collect()),
        ]);
        if let Some(roles) = &M::ROLES {
            context.insert("your_role".to_owned(), json!(seat.of(roles)));
        }
        context
    }

    fn read(turn: &strategy::Turn<'_>) -> Option<(Self, Seat)> {
        let seat = match M::ROLES {
            Some([_, of_b]) if turn.context.get("your_role")? == of_b => Seat::B,
            _ => Seat::A,
        };
        let mut position = Self::default();
        for round in turn
            .context
            .get("history")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let choice = |who| {
                M::OPTIONS
                    .iter()
                    .position(|option| round.get(who).is_some_and(|made| made == option))
            };
            let [you, opponent] = ["you", "opponent"].map(choice);
            seat.of_mut(&mut position.made).push(you?);
            seat.other().of_mut(&mut position.made).push(opponent?);
        }
        Some((position, seat))
    }

    fn details(&self, moves: &Moves<Self>, players: &[PlayerId; 2]) -> GameDetails {
        let by_player = |value: &dyn Fn(Seat) -> Value| -> Value {
            Map::from_iter(Seat::BOTH.map(|seat| (seat.of(players).to_string(), value(seat))))
                .into()
        };
        let mut details = Map::from_iter([
            (
                "moves".to_owned(),
                by_player(&|seat| moves_of(moves, seat).map(word::<M>).collect()),
            ),
            (
                "totals".to_owned(),
                by_player(&|seat| json!(seat.of(&self.totals))),
            ),
        ]);
        if let Some(roles) = &M::ROLES {
            details.insert("roles".to_owned(), by_player(&|seat| json!(seat.of(roles))));
        }
        GameDetails::Other(details)
    }

    fn reason(&self, _: &Moves<Self>, players: &[PlayerId; 2]) -> String {
        let rounds = self.played;
        let told = |seat: Seat| (seat.of(players), seat.of(&self.totals));
        match self.outcome() {
            Some(Outcome::Win(seat)) => {
                let ((winner, more), (loser, less)) = (told(seat), told(seat.other()));
                format!("{winner} scored {more} in {rounds} rounds, {loser} {less}")
            }
            Some(Outcome::Draw) => format!("Both scored {} in {rounds} rounds", told(Seat::A).1),
            None => format!("Only {rounds} of {} rounds were played", M::ROUNDS),
        }
    }

    fn view(&self, moves: &Moves<Self>) -> View {
        let round = |[a, b]: [usize; 2]| StripRound {
            choices: [a, b].map(|choice| SmolStr::new_static(word::<M>(choice))),
            points: M::payoff(a, b),
            drawn: None,
        };
        View::Strip(Strip {
            rounds: rounds::<M>(moves).map(round).collect(),
            totals: self.totals,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Game;
    use super::super::json_game::JsonGame;
    use super::*;

    #[derive(Debug, Clone, Default)]
    struct Toy;

    impl Matrix for Toy {
        const MOVE_TYPE: &'static str = "choose";
        const ROUNDS: u32 = 2;
        const OPTIONS: &'static [&'static str] = &["left", "right"];
        const STRATEGIES: &'static [StrategyOf<Repeated<Self>>] = &[];

        fn payoff(a: usize, b: usize) -> [u32; 2] {
            if a == b { [1, 0] } else { [0, 1] }
        }
    }

    #[test]
    fn nobody_sees_a_choice_before_both_have_chosen() {
        let mut game = JsonGame::at(Repeated::<Toy>::default());
        let before = game.request(Seat::B);
        game.play(Seat::A, &json!("left")).unwrap();
        assert_eq!(game.request(Seat::B), before);
        assert_eq!(game.turn(), Turn::Both);
        game.play(Seat::B, &json!("right")).unwrap();
        let context = Value::from(game.request(Seat::B).context);
        assert_eq!(
            context,
            json!({
                "round": 2, "rounds": 2, "your_total": 1, "opponent_total": 0,
                "history": [{"you": "right", "opponent": "left"}],
            })
        );
    }

    #[test]
    fn every_round_is_another_question() {
        let mut game = JsonGame::at(Repeated::<Toy>::default());
        let first = game.request(Seat::A);
        game.play(Seat::A, &json!("left")).unwrap();
        game.play(Seat::B, &json!("left")).unwrap();
        assert_ne!(game.request(Seat::A), first);
    }

    #[test]
    fn a_choice_is_made_once_a_round_and_in_the_right_letters() {
        let mut game = JsonGame::at(Repeated::<Toy>::default());
        for bad in [json!("Left"), json!(0), json!(null), json!(["left"])] {
            let illegal = game.play(Seat::A, &bad).unwrap_err();
            assert_eq!(illegal.legal, [json!("left"), json!("right")], "{bad}");
        }
        game.play(Seat::A, &json!("left")).unwrap();
        assert_eq!(
            game.play(Seat::A, &json!("right")).unwrap_err().legal,
            Vec::<Value>::new()
        );
    }
}
