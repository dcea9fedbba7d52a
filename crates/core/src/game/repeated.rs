//! What games of repeated simultaneous choice have in common: both choose at once, so many times, and neither sees the
//! other's choice before both are in. A game of this kind is a [`Matrix`]. Pure.

use super::strategy;
use super::view::{Strip, StripRound, View};
use super::{Game, IllegalMove, Outcome, Seat, Turn};
use crate::protocol::ids::PlayerId;
use crate::protocol::messages::{GameDetails, MoveRequest};
use serde_json::{Map, Value, json};
use smol_str::SmolStr;

/// All that tells one such game from another.
#[derive(Debug)]
pub(super) struct Matrix {
    pub(super) move_type: &'static str,
    pub(super) rounds: u32,
    pub(super) options: &'static [&'static str],
    /// The points that one round brings A and B.
    pub(super) payoff: fn(a: &str, b: &str) -> [u32; 2],
    /// What A and B are called, where it makes a difference which of them one is.
    pub(super) roles: Option<[&'static str; 2]>,
}

#[derive(Debug)]
pub(super) struct Repeated {
    matrix: &'static Matrix,
    /// What each has chosen, round by round. One may be a round ahead of the other.
    made: [Vec<&'static str>; 2],
}

impl Repeated {
    pub(super) fn new(matrix: &'static Matrix) -> Self {
        Self { matrix, made: [Vec::new(), Vec::new()] }
    }

    /// The rounds in which both have chosen.
    fn rounds(&self) -> impl Iterator<Item = [&'static str; 2]> {
        let [a, b] = &self.made;
        a.iter().zip(b).map(|(a, b)| [*a, *b])
    }

    fn played(&self) -> u32 {
        u32::try_from(self.rounds().count()).unwrap_or(u32::MAX)
    }

    fn scored(&self) -> [u32; 2] {
        self.rounds().fold([0, 0], |[a, b], [choice_a, choice_b]| {
            let [more_a, more_b] = (self.matrix.payoff)(choice_a, choice_b);
            [a + more_a, b + more_b]
        })
    }

    fn options(&self) -> Vec<Value> {
        self.matrix.options.iter().copied().map(Value::from).collect()
    }

    /// Whether this seat is still to choose in the present round.
    fn is_awaited(&self, seat: Seat) -> bool {
        self.turn() == Turn::Both && seat.of(&self.made).len() <= seat.other().of(&self.made).len()
    }
}

impl Game for Repeated {
    fn turn(&self) -> Turn {
        if self.played() < self.matrix.rounds { Turn::Both } else { Turn::Over }
    }

    fn request(&self, seat: Seat) -> MoveRequest {
        let history: Vec<Value> = self
            .rounds()
            .map(|round| json!({ "you": seat.of(&round), "opponent": seat.other().of(&round) }))
            .collect();
        let totals = self.scored();
        let mut context = Map::from_iter([
            ("round".to_owned(), json!(self.played() + 1)),
            ("rounds".to_owned(), json!(self.matrix.rounds)),
            ("your_total".to_owned(), json!(seat.of(&totals))),
            ("opponent_total".to_owned(), json!(seat.other().of(&totals))),
            ("history".to_owned(), history.into()),
        ]);
        if let Some(roles) = &self.matrix.roles {
            context.insert("your_role".to_owned(), json!(seat.of(roles)));
        }
        let move_type = SmolStr::new_static(self.matrix.move_type);
        MoveRequest { move_type, valid_options: self.options(), context }
    }

    fn play(&mut self, seat: Seat, choice: &Value) -> Result<(), IllegalMove> {
        let awaited = self.is_awaited(seat);
        let known = self.matrix.options.iter().find(|option| choice.as_str() == Some(option));
        match known {
            Some(option) if awaited => {
                seat.of_mut(&mut self.made).push(option);
                Ok(())
            }
            _ => Err(IllegalMove::none_of(if awaited { self.options() } else { Vec::new() }, choice)),
        }
    }

    fn outcome(&self) -> Option<Outcome> {
        let [a, b] = self.scored();
        (self.turn() == Turn::Over).then_some(match a.cmp(&b) {
            std::cmp::Ordering::Greater => Outcome::Win(Seat::A),
            std::cmp::Ordering::Less => Outcome::Win(Seat::B),
            std::cmp::Ordering::Equal => Outcome::Draw,
        })
    }

    fn totals(&self) -> Option<[u32; 2]> {
        Some(self.scored())
    }

    fn details(&self, players: &[PlayerId; 2]) -> GameDetails {
        let totals = self.scored();
        let by_player = |value: &dyn Fn(Seat) -> Value| -> Map<String, Value> {
            Seat::BOTH.map(|seat| (seat.of(players).to_string(), value(seat))).into_iter().collect()
        };
        let mut details = Map::from_iter([
            ("moves".to_owned(), by_player(&|seat| json!(seat.of(&self.made))).into()),
            ("totals".to_owned(), by_player(&|seat| json!(seat.of(&totals))).into()),
        ]);
        if let Some(roles) = &self.matrix.roles {
            details.insert("roles".to_owned(), by_player(&|seat| json!(seat.of(roles))).into());
        }
        GameDetails::Other(details)
    }

    fn view(&self) -> Option<View> {
        let round = |[a, b]: [&'static str; 2]| StripRound {
            choices: [a, b].map(SmolStr::new_static),
            points: (self.matrix.payoff)(a, b),
            drawn: None,
        };
        Some(View::Strip(Strip { rounds: self.rounds().map(round).collect(), totals: self.scored() }))
    }

    fn reason(&self, players: &[PlayerId; 2]) -> String {
        let (totals, rounds) = (self.scored(), self.played());
        let told = |seat: Seat| (seat.of(players), seat.of(&totals));
        match self.outcome() {
            Some(Outcome::Win(seat)) => {
                let ((winner, more), (loser, less)) = (told(seat), told(seat.other()));
                format!("{winner} scored {more} in {rounds} rounds, {loser} {less}")
            }
            Some(Outcome::Draw) => format!("Both scored {} in {rounds} rounds", told(Seat::A).1),
            None => format!("Only {rounds} of {} rounds were played", self.matrix.rounds),
        }
    }
}

/// What the opponent has chosen so far in this match, as the referee tells it.
pub(super) fn theirs<'a>(turn: &strategy::Turn<'a>) -> Vec<&'a str> {
    told(turn, "opponent")
}

/// What we have chosen ourselves.
pub(super) fn own<'a>(turn: &strategy::Turn<'a>) -> Vec<&'a str> {
    told(turn, "you")
}

fn told<'a>(turn: &strategy::Turn<'a>, who: &str) -> Vec<&'a str> {
    let history = turn.context.get("history").and_then(Value::as_array);
    history.into_iter().flatten().filter_map(|round| round.get(who)?.as_str()).collect()
}

/// What most often came after the last choices, as many of them as `depth` says; where that was nothing, or a tie, after
/// fewer of them, and at last altogether. `None` if even that is a tie.
pub(super) fn predicted<'a>(made: &[&'a str], depth: usize) -> Option<&'a str> {
    (0..=depth.min(made.len())).rev().find_map(|length| {
        let recent = made.get(made.len() - length..)?;
        most_common(made.windows(length + 1).filter_map(|window| {
            let (next, before) = window.split_last()?;
            (before == recent).then_some(*next)
        }))
    })
}

fn most_common<'a>(choices: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let choices: Vec<&str> = choices.collect();
    let count = |wanted: &str| choices.iter().filter(|choice| **choice == wanted).count();
    let best = choices.iter().copied().max_by_key(|choice| count(choice))?;
    let tied = choices.iter().any(|choice| *choice != best && count(choice) == count(best));
    (!tied).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    static TOY: Matrix = Matrix {
        move_type: "choose",
        rounds: 2,
        options: &["left", "right"],
        payoff: |a, b| if a == b { [1, 0] } else { [0, 1] },
        roles: None,
    };

    #[test]
    fn nobody_sees_a_choice_before_both_have_chosen() {
        let mut game = Repeated::new(&TOY);
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
        let mut game = Repeated::new(&TOY);
        let first = game.request(Seat::A);
        game.play(Seat::A, &json!("left")).unwrap();
        game.play(Seat::B, &json!("left")).unwrap();
        assert_ne!(game.request(Seat::A), first);
    }

    #[test]
    fn a_choice_is_made_once_a_round_and_in_the_right_letters() {
        let mut game = Repeated::new(&TOY);
        for bad in [json!("Left"), json!(0), json!(null), json!(["left"])] {
            let illegal = game.play(Seat::A, &bad).unwrap_err();
            assert_eq!(illegal.legal, [json!("left"), json!("right")], "{bad}");
        }
        game.play(Seat::A, &json!("left")).unwrap();
        assert_eq!(game.play(Seat::A, &json!("right")).unwrap_err().legal, Vec::<Value>::new());
    }

    #[test]
    fn what_followed_the_last_choices_is_expected_again() {
        for (made, expected) in [
            ("", None),
            ("x", Some("x")),
            ("xy", None),
            ("xyx", Some("y")),
            ("xxyxxy", Some("x")),
            ("xyxyxxyx", Some("y")),
        ] {
            let made: Vec<&str> = made.split("").filter(|letter| !letter.is_empty()).collect();
            assert_eq!(predicted(&made, 2), expected, "{made:?}");
        }
    }
}
