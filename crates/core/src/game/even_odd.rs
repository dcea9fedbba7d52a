//! Even/odd: both players call a parity, then a number from 1 to 10 is drawn. The player who called it right wins, unless both
//! did or neither.

use super::json_game::JsonGame;
use super::rules::{Moves, Presentation, Rules, Situation, StrategyOf, moves_of};
use super::strategy;
use super::successors::{Successors, patterns_below};
use super::view::{Strip, StripRound, View};
use super::{BuiltIn, GameEntry, MoveMessage, Outcome, Seat, Turn};
use crate::protocol::ids::{GameType, PlayerId};
use crate::protocol::messages::{ByPlayer, GameDetails, Parity, ParityDetails};
use serde_json::{Map, Value};
use smol_str::{SmolStr, ToSmolStr};
use std::ops::RangeInclusive;

pub(super) const GAME: GameEntry = GameEntry {
    name: GameType::EVEN_ODD,
    about: "call the parity of a number that is then drawn: nearly pure luck",
    rules: RULES,
    turns_max: 1,
    sides_matter: false,
    payoff: None,
    new: JsonGame::<EvenOdd>::begin,
    built_in: Some(BuiltIn::of::<EvenOdd>()),
};

const RULES: &str = "\
# even_odd

Both players call `even` or `odd` at the same time, neither seeing the other's call. Then a number from 1 to 10 is drawn,
each as likely as the others.

- If exactly one of them called it right, that one wins.
- If both did, or neither did, it is a draw.

A win is worth 3 points, a draw 1, a loss 0.

The options are `\"even\"` and `\"odd\"`, in exactly these letters. A match has one choice, and it cannot be taken back.
";

#[derive(Debug, Clone, Default)]
struct EvenOdd {
    choices: [Option<Parity>; 2],
    number: Option<u8>,
}

impl Rules for EvenOdd {
    type Move = Parity;
    type Memory = Memory;

    const STRATEGIES: &'static [StrategyOf<Self>] = &[
        StrategyOf::new("always_even", "even, whatever happens", |_| {
            Some(Parity::Even)
        }),
        StrategyOf::new("always_odd", "odd, whatever happens", |_| Some(Parity::Odd)),
        StrategyOf::new(
            "alternating",
            "even in the first game, then each time the other",
            |situation| {
                Some(if situation.memory.played.is_multiple_of(2) {
                    Parity::Even
                } else {
                    Parity::Odd
                })
            },
        ),
        StrategyOf::new(
            "frequency",
            "the parity that was drawn more often so far",
            |situation| situation.expected(0..=0),
        ),
        StrategyOf::new(
            "pattern",
            "what most often followed the last three draws, or as many of them as came before",
            |situation| situation.expected(1..=3),
        ),
        StrategyOf::new(
            "mirror",
            "what the opponent chose when the two last met",
            |situation| {
                situation
                    .memory
                    .opponents
                    .get(situation.opponent)
                    .copied()
                    .flatten()
            },
        ),
        // Right was the parity that was drawn.
        StrategyOf::new(
            "win_stay_lose_shift",
            "the last choice again if it was right, the other one if it was wrong",
            |situation| situation.memory.draws.last().map(parity),
        ),
    ];

    fn turn(&self) -> Turn {
        match (self.choices, self.number) {
            (_, Some(_)) => Turn::Over,
            ([Some(_), Some(_)], None) => Turn::Chance,
            _ => Turn::Both,
        }
    }

    fn options(&self) -> usize {
        Parity::ALL.len()
    }

    fn option(&self, number: usize) -> Parity {
        parity(number)
    }

    fn play(&mut self, seat: Seat, choice: Parity) {
        *seat.of_mut(&mut self.choices) = Some(choice);
    }

    fn chance(&mut self, mut draw: impl FnMut(RangeInclusive<u32>) -> u32) {
        self.number = u8::try_from(draw(1..=10)).ok();
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

    fn remember(&self, memory: &mut Memory, seat: Seat, opponent: usize) {
        memory.played += 1;
        memory.draws.push(
            self.number
                .map_or(0, |number| number_of(Parity::of(number))),
        );
        if memory.opponents.len() <= opponent {
            memory.opponents.resize(opponent + 1, None);
        }
        memory
            .opponents
            .get_mut(opponent)
            .into_iter()
            .for_each(|last| *last = *seat.other().of(&self.choices));
    }
}

/// What a player knows of its earlier matches.
#[derive(Debug, Clone, Default)]
struct Memory {
    played: u32,
    draws: Successors<{ patterns_below(4) }>,
    /// The last choice of each opponent.
    opponents: Vec<Option<Parity>>,
}

impl Situation<'_, EvenOdd> {
    fn expected(&self, lengths: RangeInclusive<u32>) -> Option<Parity> {
        self.memory.draws.expected(lengths).map(parity)
    }
}

fn parity(number: usize) -> Parity {
    if number == 0 {
        Parity::Even
    } else {
        Parity::Odd
    }
}

fn number_of(parity: Parity) -> usize {
    usize::from(parity == Parity::Odd)
}

impl Presentation for EvenOdd {
    const MOVE_TYPE: &'static str = "choose_parity";
    const MOVE_MESSAGE: MoveMessage = MoveMessage::ChooseParity;

    fn write(choice: Parity) -> Value {
        choice.as_str().into()
    }

    fn context(&self, _: Seat, _: &Moves<Self>) -> Map<String, Value> {
        Map::new()
    }

    fn read(_: &strategy::Turn<'_>) -> Option<(Self, Seat)> {
        Some((Self::default(), Seat::A))
    }

    fn recall(turn: &strategy::Turn<'_>) -> Memory {
        let mut draws = Successors::default();
        let drawn = turn.overall.games().filter_map(|game| game.drawn_parity);
        drawn.for_each(|drawn| draws.push(number_of(drawn)));
        let last = turn
            .against
            .games()
            .rev()
            .find_map(|game| game.opponent_choice);
        Memory {
            played: turn.overall.played(),
            draws,
            opponents: vec![last],
        }
    }

    fn details(&self, moves: &Moves<Self>, players: &[PlayerId; 2]) -> GameDetails {
        let [a, b] = players;
        let [choice_a, choice_b] = Seat::BOTH.map(|seat| moves_of(moves, seat).next());
        GameDetails::Parity(ParityDetails {
            drawn_number: self.number,
            number_parity: self.number.map(Parity::of),
            choices: ByPlayer::pair((a.clone(), choice_a), (b.clone(), choice_b)),
        })
    }

    fn view(&self, _: &Moves<Self>) -> View {
        let [Some(a), Some(b)] = self.choices else {
            return View::Strip(Strip::default());
        };
        let won = |seat| u32::from(self.outcome() == Some(Outcome::Win(seat)));
        let points = Seat::BOTH.map(won);
        let round = StripRound {
            choices: [a, b].map(|choice| SmolStr::new_static(choice.as_str())),
            points,
            drawn: self.number.map(|number| number.to_smolstr()),
        };
        View::Strip(Strip {
            rounds: vec![round],
            totals: points,
        })
    }

    fn reason(&self, _: &Moves<Self>, players: &[PlayerId; 2]) -> String {
        let (Some(number), Some(outcome)) = (self.number, self.outcome()) else {
            return "The number was not drawn".into();
        };
        let drawn = Parity::of(number);
        let called = |seat: Seat| seat.of(&self.choices).unwrap_or(drawn);
        match outcome {
            Outcome::Win(seat) => {
                let winner = seat.of(players);
                format!(
                    "{winner} chose {}, number was {number} ({drawn})",
                    called(seat)
                )
            }
            Outcome::Draw => {
                let both = called(Seat::A);
                let verdict = if both == drawn {
                    "correct"
                } else {
                    "incorrect"
                };
                format!("Both chose {both}, number was {number} ({drawn}) - both {verdict}")
            }
        }
    }
}

/// Before and after the choices of a match.
pub(super) fn views(players: [&PlayerId; 2], details: &ParityDetails) -> Vec<View> {
    let choices = players.map(|player| details.choices.get(player).copied().flatten());
    let played = EvenOdd {
        choices,
        number: details.drawn_number,
    };
    [EvenOdd::default(), played]
        .iter()
        .map(|position| position.view(&[]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::context::Context;
    use super::super::past::{self, DrawCheck, Past, PastGame};
    use super::super::{Game, json_game};
    use super::*;
    use crate::entropy::Entropy;
    use crate::protocol::error::ErrorCode;
    use crate::protocol::messages::Record;
    use crate::protocol::{MatchId, RoundId};
    use serde_json::json;
    use std::sync::Arc;

    fn players() -> [PlayerId; 2] {
        [1, 2].map(PlayerId::numbered)
    }

    #[test]
    fn the_right_call_wins_alone() {
        let win_a = Outcome::Win(Seat::A);
        let win_b = Outcome::Win(Seat::B);
        for (a, b, number, outcome, reason) in [
            (
                "even",
                "odd",
                8,
                win_a,
                "P01 chose even, number was 8 (even)",
            ),
            ("even", "odd", 7, win_b, "P02 chose odd, number was 7 (odd)"),
            ("odd", "even", 1, win_a, "P01 chose odd, number was 1 (odd)"),
            (
                "odd",
                "odd",
                4,
                Outcome::Draw,
                "Both chose odd, number was 4 (even) - both incorrect",
            ),
            (
                "even",
                "even",
                10,
                Outcome::Draw,
                "Both chose even, number was 10 (even) - both correct",
            ),
        ] {
            let mut game = JsonGame::at(EvenOdd::default());
            assert_eq!(game.turn(), Turn::Both);
            game.play(Seat::B, &json!(b)).unwrap();
            assert_eq!(game.turn(), Turn::Both);
            game.play(Seat::A, &json!(a)).unwrap();
            assert_eq!((game.turn(), game.outcome()), (Turn::Chance, None));
            game.position.number = Some(number);
            assert_eq!(game.turn(), Turn::Over);
            assert_eq!(game.outcome(), Some(outcome));
            assert_eq!(game.reason(&players()), reason);
        }
    }

    #[test]
    fn nothing_but_even_and_odd_is_a_choice() {
        for bad in [
            json!("Even"),
            json!("ODD"),
            json!("e"),
            json!(0),
            json!(true),
            json!(null),
            json!(["even"]),
        ] {
            let illegal = JsonGame::at(EvenOdd::default())
                .play(Seat::A, &bad)
                .unwrap_err();
            assert_eq!(illegal.code, ErrorCode::InvalidParityChoice);
            assert_eq!(illegal.came, bad);
            assert_eq!(illegal.legal, [json!("even"), json!("odd")]);
        }
    }

    #[test]
    fn a_choice_cannot_be_changed() {
        let mut game = JsonGame::at(EvenOdd::default());
        game.play(Seat::A, &json!("even")).unwrap();
        assert!(game.play(Seat::A, &json!("odd")).is_err());
        game.play(Seat::B, &json!("odd")).unwrap();
        assert_eq!(
            game.position.choices,
            [Some(Parity::Even), Some(Parity::Odd)]
        );
    }

    #[test]
    fn a_game_cut_short_shows_what_was_chosen_and_no_number() {
        let mut game = JsonGame::at(EvenOdd::default());
        game.play(Seat::A, &json!("even")).unwrap();
        assert_eq!(
            serde_json::to_value(game.details(&players())).unwrap(),
            json!({"drawn_number": null, "number_parity": null, "choices": {"P01": "even", "P02": null}})
        );
    }

    #[test]
    fn a_player_knows_of_the_past_what_simulation_remembers() {
        let mut memory = Memory::default();
        let mut past = Past::default();
        let mut entropy = Entropy::numbered(1);
        for number in 1..=60 {
            for strategy in EvenOdd::STRATEGIES {
                let turn = strategy::Turn {
                    game_type: &GameType::even_odd(),
                    own_id: &PlayerId::numbered(1),
                    opponent_id: None,
                    options: &[json!("even"), json!("odd")],
                    context: &Context::OfParity(None),
                    against: &past,
                    overall: &past,
                    record: Record::default(),
                };
                let position = EvenOdd::default();
                let situation = Situation {
                    position: &position,
                    seat: Seat::A,
                    memory: &memory,
                    opponent: 0,
                };
                let chosen = (strategy.choose)(&situation).map(EvenOdd::write);
                let name = strategy.entry.name;
                assert_eq!(
                    json_game::choose::<EvenOdd>(name, &turn),
                    chosen,
                    "{name} in match {number}"
                );
            }
            let [own, theirs] = [(), ()].map(|()| parity(usize::from(entropy.chance(50))));
            let drawn = u8::try_from(entropy.below(10)).unwrap() + 1;
            let played = EvenOdd {
                choices: [Some(own), Some(theirs)],
                number: Some(drawn),
            };
            played.remember(&mut memory, Seat::A, 0);
            past.push(Arc::new(PastGame {
                match_id: MatchId::numbered(RoundId(number), 1),
                round_id: None,
                game_type: GameType::even_odd(),
                opponent_id: None,
                own_choice: Some(own),
                opponent_choice: Some(theirs),
                drawn_parity: Some(Parity::of(drawn)),
                outcome: past::Outcome::Draw,
                technical: false,
                draw: DrawCheck::NotPromised,
                summary: None,
            }));
        }
    }
}
