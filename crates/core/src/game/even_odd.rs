//! Even/odd: both players call a parity, then a number from 1 to 10 is drawn. The player who called it right wins, unless both
//! did or neither.

use super::past::Past;
use super::strategy;
use super::strategy::StrategyEntry;
use super::view::{Strip, StripRound, View};
use super::{AskBy, Game, GameEntry, IllegalMove, Outcome, Seat, Turn};
use crate::fair::Dice;
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::PlayerId;
use crate::protocol::messages::{ByPlayer, GameDetails, MoveRequest, Parity, ParityDetails};
use serde_json::{Map, Value};
use smol_str::{SmolStr, ToSmolStr};

pub(super) const GAME: GameEntry = GameEntry {
    name: "even_odd",
    about: "call the parity of a number that is then drawn: nearly pure luck",
    rules: RULES,
    turns_max: 1,
    sides_matter: false,
    payoff: None,
    new: || Box::new(EvenOdd::default()),
    strategies: &[
        StrategyEntry {
            name: "always_even",
            about: "even, whatever happens",
            choose: |_, _| called(Some(Parity::Even)),
        },
        StrategyEntry {
            name: "always_odd",
            about: "odd, whatever happens",
            choose: |_, _| called(Some(Parity::Odd)),
        },
        StrategyEntry {
            name: "alternating",
            about: "even in the first game, then each time the other",
            choose: |turn, _| called(alternating(turn)),
        },
        StrategyEntry {
            name: "frequency",
            about: "the parity that was drawn more often so far",
            choose: |turn, _| called(frequency(turn)),
        },
        StrategyEntry {
            name: "pattern",
            about: "what most often followed the last three draws, or as many of them as came before",
            choose: |turn, _| called(pattern(turn)),
        },
        StrategyEntry {
            name: "mirror",
            about: "what the opponent chose when the two last met",
            choose: |turn, _| called(mirror(turn)),
        },
        StrategyEntry {
            name: "win_stay_lose_shift",
            about: "the last choice again if it was right, the other one if it was wrong",
            choose: |turn, _| called(win_stay_lose_shift(turn)),
        },
    ],
    fast: None,
};

const RULES: &str = "\
# even_odd

Both players call `even` or `odd` at the same time, neither seeing the other's call. Then a number from 1 to 10 is drawn,
each as likely as the others.

- If exactly one of them called it right, that one wins.
- If both did, or neither did, it is a draw.

A win is worth 3 points, a draw 1, a loss 0. A player who does not answer in time loses the match.

The options are `\"even\"` and `\"odd\"`, in exactly these letters. A match has one choice, and it cannot be taken back.
";

#[derive(Debug, Clone, Default)]
struct EvenOdd {
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

    fn view(&self) -> Option<View> {
        let [Some(a), Some(b)] = self.choices else { return Some(View::Strip(Strip::default())) };
        let won = |seat| u32::from(self.outcome() == Some(Outcome::Win(seat)));
        let points = Seat::BOTH.map(won);
        let round = StripRound {
            choices: [a, b].map(|choice| SmolStr::new_static(choice.as_str())),
            points,
            drawn: self.number.map(|number| number.to_smolstr()),
        };
        Some(View::Strip(Strip { rounds: vec![round], totals: points }))
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

/// Before and after the choices of a match.
pub(super) fn views(players: [&PlayerId; 2], details: &ParityDetails) -> Vec<View> {
    let choices = players.map(|player| details.choices.get(player).copied().flatten());
    let played = EvenOdd { choices, number: details.drawn_number };
    [EvenOdd::default(), played].iter().filter_map(Game::view).collect()
}

fn called(favoured: Option<Parity>) -> Option<Value> {
    favoured.map(|parity| Value::from(parity.as_str()))
}

/// Even in the first game, and then each time the other.
fn alternating(turn: &strategy::Turn<'_>) -> Option<Parity> {
    Some(if turn.overall.played().is_multiple_of(2) { Parity::Even } else { Parity::Odd })
}

/// What was drawn more often so far.
fn frequency(turn: &strategy::Turn<'_>) -> Option<Parity> {
    majority(drawn(turn.overall))
}

/// How many of the last draws make up the longest pattern.
const PATTERN_LEN: usize = 3;

/// What most often followed the last three draws; if they never came before, the last two, or the last one.
fn pattern(turn: &strategy::Turn<'_>) -> Option<Parity> {
    let drawn: Vec<Parity> = drawn(turn.overall).collect();
    (1..=PATTERN_LEN.min(drawn.len())).rev().find_map(|length| {
        let recent = drawn.get(drawn.len() - length..)?;
        majority(drawn.windows(length + 1).filter_map(|window| {
            let (next, before) = window.split_last()?;
            (before == recent).then_some(*next)
        }))
    })
}

/// What the opponent chose when we last met.
fn mirror(turn: &strategy::Turn<'_>) -> Option<Parity> {
    turn.against.games().rev().find_map(|game| game.opponent_choice)
}

/// The last choice again if it was right, the other one if it was wrong: a win is always right and a defeat always
/// wrong, and a draw may be either.
fn win_stay_lose_shift(turn: &strategy::Turn<'_>) -> Option<Parity> {
    let (own, drawn) = turn.overall.games().rev().find_map(|game| game.own_choice.zip(game.drawn_parity))?;
    Some(if own == drawn { own } else { own.other() })
}

fn drawn(past: &Past) -> impl Iterator<Item = Parity> {
    past.games().filter_map(|game| game.drawn_parity)
}

/// `None` if neither is ahead.
fn majority(parities: impl Iterator<Item = Parity>) -> Option<Parity> {
    let lead = parities.fold(0_i64, |lead, parity| match parity {
        Parity::Even => lead + 1,
        Parity::Odd => lead - 1,
    });
    match lead {
        0 => None,
        1.. => Some(Parity::Even),
        _ => Some(Parity::Odd),
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
