//! Even/odd: both players call a parity, then a number from 1 to 10 is drawn. Whoever called it right wins, unless both
//! did or neither.

use super::{AskBy, Game, IllegalMove, Outcome, Seat, Turn};
use crate::fair::Dice;
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::PlayerId;
use crate::protocol::messages::{ByPlayer, GameDetails, MoveRequest, Parity, ParityDetails};
use serde_json::{Map, Value};
use smol_str::SmolStr;

pub(super) const RULES: &str = "\
# even_odd

Both players call `even` or `odd` at the same time, neither seeing the other's call. Then a number from 1 to 10 is drawn,
each as likely as the others.

- If exactly one of them called it right, that one wins.
- If both did, or neither did, it is a draw.

A win is worth 3 points, a draw 1, a loss 0. Whoever does not answer in time loses the match.

The referee asks with CHOOSE_PARITY_CALL; the answer is CHOOSE_PARITY_RESPONSE with `parity_choice` `\"even\"` or `\"odd\"`,
in exactly these letters. A match has one choice, and it cannot be taken back.
";

#[derive(Debug, Clone, Default)]
pub struct EvenOdd {
    choices: [Option<Parity>; 2],
    number: Option<u8>,
}

impl EvenOdd {
    fn options() -> Vec<Value> {
        Parity::ALL.map(|parity| Value::from(parity.as_str())).to_vec()
    }
}

impl Game for EvenOdd {
    fn asks_by(&self) -> AskBy {
        AskBy::Parity
    }

    fn turn(&self) -> Turn {
        match (self.choices, self.number) {
            (_, Some(_)) => Turn::Over,
            ([Some(_), Some(_)], None) => Turn::Chance,
            _ => Turn::Both,
        }
    }

    fn request(&self, _seat: Seat) -> MoveRequest {
        MoveRequest {
            move_type: SmolStr::new_static("choose_parity"),
            valid_options: Self::options(),
            context: Map::new(),
        }
    }

    fn play(&mut self, seat: Seat, choice: &Value) -> Result<(), IllegalMove> {
        let slot = seat.of_mut(&mut self.choices);
        match (choice.as_str().and_then(Parity::parse), &slot) {
            (Some(parity), None) => {
                *slot = Some(parity);
                Ok(())
            }
            (_, chosen) => Err(IllegalMove {
                code: ErrorCode::InvalidParityChoice,
                came: choice.clone(),
                legal: if chosen.is_some() { Vec::new() } else { Self::options() },
            }),
        }
    }

    fn chance(&mut self, dice: &mut Dice) {
        if self.turn() == Turn::Chance {
            self.number = u8::try_from(dice.uniform(1..=10)).ok();
        }
    }

    fn outcome(&self) -> Option<Outcome> {
        let drawn = Parity::of(self.number?);
        let [a, b] = self.choices.map(|choice| choice == Some(drawn));
        Some(match (a, b) {
            (true, false) => Outcome::Win(Seat::A),
            (false, true) => Outcome::Win(Seat::B),
            _ => Outcome::Draw,
        })
    }

    fn details(&self, players: &[PlayerId; 2]) -> GameDetails {
        let ([a, b], [choice_a, choice_b]) = (players, self.choices);
        GameDetails::Parity(ParityDetails {
            drawn_number: self.number,
            number_parity: self.number.map(Parity::of),
            choices: ByPlayer::pair((a.clone(), choice_a), (b.clone(), choice_b)),
        })
    }

    fn reason(&self, players: &[PlayerId; 2]) -> String {
        let (Some(number), Some(outcome)) = (self.number, self.outcome()) else {
            return "The number was not drawn".into();
        };
        let drawn = Parity::of(number);
        let called = |seat: Seat| seat.of(&self.choices).unwrap_or(drawn);
        match outcome {
            Outcome::Win(seat) => {
                let winner = seat.of(players);
                format!("{winner} chose {}, number was {number} ({drawn})", called(seat))
            }
            Outcome::Draw => {
                let both = called(Seat::A);
                let verdict = if both == drawn { "correct" } else { "incorrect" };
                format!("Both chose {both}, number was {number} ({drawn}) - both {verdict}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn players() -> [PlayerId; 2] {
        [1, 2].map(PlayerId::numbered)
    }

    #[test]
    fn the_right_call_wins_alone() {
        let (win_a, win_b) = (Outcome::Win(Seat::A), Outcome::Win(Seat::B));
        for (a, b, number, outcome, reason) in [
            ("even", "odd", 8, win_a, "P01 chose even, number was 8 (even)"),
            ("even", "odd", 7, win_b, "P02 chose odd, number was 7 (odd)"),
            ("odd", "even", 1, win_a, "P01 chose odd, number was 1 (odd)"),
            ("odd", "odd", 4, Outcome::Draw, "Both chose odd, number was 4 (even) - both incorrect"),
            ("even", "even", 10, Outcome::Draw, "Both chose even, number was 10 (even) - both correct"),
        ] {
            let mut game = EvenOdd::default();
            assert_eq!(game.turn(), Turn::Both);
            game.play(Seat::B, &json!(b)).unwrap();
            assert_eq!(game.turn(), Turn::Both);
            game.play(Seat::A, &json!(a)).unwrap();
            assert_eq!((game.turn(), game.outcome()), (Turn::Chance, None));
            game.number = Some(number);
            assert_eq!(game.turn(), Turn::Over);
            assert_eq!(game.outcome(), Some(outcome));
            assert_eq!(game.reason(&players()), reason);
        }
    }

    #[test]
    fn nothing_but_even_and_odd_is_a_choice() {
        for bad in
            [json!("Even"), json!("ODD"), json!("e"), json!(0), json!(true), json!(null), json!(["even"])]
        {
            let illegal = EvenOdd::default().play(Seat::A, &bad).unwrap_err();
            assert_eq!(illegal.code, ErrorCode::InvalidParityChoice);
            assert_eq!(illegal.came, bad);
            assert_eq!(illegal.legal, [json!("even"), json!("odd")]);
        }
    }

    #[test]
    fn a_choice_cannot_be_changed() {
        let mut game = EvenOdd::default();
        game.play(Seat::A, &json!("even")).unwrap();
        assert!(game.play(Seat::A, &json!("odd")).is_err());
        assert_eq!(game.choices, [Some(Parity::Even), None]);
    }

    #[test]
    fn a_game_cut_short_shows_what_was_chosen_and_no_number() {
        let mut game = EvenOdd::default();
        game.play(Seat::A, &json!("even")).unwrap();
        assert_eq!(
            serde_json::to_value(game.details(&players())).unwrap(),
            json!({"drawn_number": null, "number_parity": null, "choices": {"P01": "even", "P02": null}})
        );
    }
}
